# SPDX-License-Identifier: Apache-2.0
"""Many creators at once, some of them killed at a step: each speaks to the API server through a proxy of its own, which kills it
with SIGKILL when its request number `step` comes: before the server has it, or after the server has done it and before
the creator is told."""
import json
import os
import signal
import subprocess
import threading
from pathlib import Path

from .faults import HttpFaultProxy, _Handler
from .sandmux import BIN, home_env


class _Killer(_Handler):
    def forward(self):
        proxy = self.proxy
        if "watch=true" in self.path or "watch=1" in self.path:
            return super().forward()
        with proxy.lock:
            proxy.steps += 1
            is_last = proxy.steps == proxy.step
        if is_last and not proxy.after:
            proxy.kill()
            raise ConnectionResetError
        if is_last:
            self.whole = lambda *_: proxy.kill()
            self.begin = proxy.kill
        return super().forward()


class Creator(HttpFaultProxy):
    """`sandmux create …` behind its proxy. step 0: it is not killed."""

    def __init__(self, api, ca, token, home: Path, args, step=0, after=False):
        super().__init__(api, ca, token)
        self.server.RequestHandlerClass = type("Handler", (_Killer,), {"proxy": self})
        self.lock, self.steps, self.step, self.after, self.was_killed = threading.Lock(), 0, step, after, False
        self.ready = threading.Event()
        home.mkdir(exist_ok=True)
        self.proc = subprocess.Popen([BIN, "--kubeconfig", "/dev/null", "--server", self.url, *args], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **home_env(home)})
        self.ready.set()

    def kill(self, *_):
        self.ready.wait(10)
        self.was_killed = True
        self.proc.send_signal(signal.SIGKILL)
        self.proc.wait(20)
        raise ConnectionResetError  # nobody is there to answer

    def finish(self, timeout=120):
        out, err = self.proc.communicate(timeout=timeout)
        self.stop()
        self.status, self.out, self.err = self.proc.returncode, out.decode(), err.decode()
        return self


def race(api, ca, token, home: Path, args, n=20, killed=0, step=0, after=False):
    """n creators, of which `killed` die at that step. They all begin before any of them is waited for."""
    all_ = [Creator(api, ca, token, home / f"c{i}", args, step if i < killed else 0, after) for i in range(n)]
    return [c.finish() for c in all_]


def names(creators):
    """What those that lived have printed."""
    found = set()
    for c in creators:
        if c.was_killed:
            continue
        if c.status != 0:
            raise AssertionError(f"a creator failed: {c.status} {c.out}{c.err}")
        found.add(json.loads(c.out)["id"])
    return found


def assert_one(case, key, creators, claims, lease):
    """One live claim of that key, which is what everybody was told, and which its Lease records."""
    told = names(creators)
    live = [c for c in claims if c["metadata"].get("annotations", {}).get("pai.dev/sandbox-binding-key") == key
            and "deletionTimestamp" not in c["metadata"]]
    case.assertEqual(len(live), 1, [c["metadata"]["name"] for c in live])
    of = live[0]["metadata"]
    case.assertEqual(told or {f"{of['name']}.{of['uid'][:8]}"}, {f"{of['name']}.{of['uid'][:8]}"})
    case.assertEqual(lease["spec"]["holderIdentity"], of["name"])
    owner, = lease["metadata"]["ownerReferences"]
    case.assertEqual((owner["kind"], owner["name"], owner["uid"]), ("SandboxClaim", of["name"], of["uid"]))
