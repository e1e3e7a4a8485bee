# SPDX-License-Identifier: Apache-2.0
"""A hostile daemon: whatever answers in a sandbox gets neither the backend's memory nor its time, nor a token. Each way
to answer is a sandbox of one backend, all at the same time. The control is a client that reads what the daemon sends
until it holds 32 MiB: the backend held none of it."""
import json
import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from harness.case import Case, main

from jail import JailBackend, identity_of, local

import streams  # noqa: E402 (of tests/local: its folder is known once jail is)

MIB = 1 << 20
NAIVE = 32 * MIB


@dataclass(frozen=True)
class Row:
    mode: str              # of hostile_daemon.py
    ready: bool = False    # a status line that says 200 is all that counts
    endless: bool = False  # a naive client would hold it all
    slow: bool = False     # a client without a total deadline would still wait
    log: bool = False


ROWS = [
    Row("well", ready=True),
    Row("endless-line", endless=True),
    Row("endless-head", ready=True, endless=True),
    Row("endless-body", ready=True, endless=True),
    Row("endless-continue", endless=True),
    Row("drip", slow=True),
    Row("silent", slow=True),
    Row("half-open", slow=True),
    Row("says-nothing"),
    Row("closes"),
    Row("redirect"),
    Row("wrong"),
    Row("zeros"),
    Row("log-lines", ready=True, log=True),
    Row("log-without-end", ready=True, log=True),
]


def memory_of(pid):
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) << 10


class Rows:
    @classmethod
    def setUpClass(cls):
        cls.identity = identity_of(cls.who)
        if not cls.identity:
            return
        cls.addClassCleanup(cls.identity.close)
        # memory that the address sanitizer holds back after it was freed is not the backend's
        cls.b = JailBackend(cls.identity, "--sandboxd", cls.identity.program(Path(__file__).parent / "hostile_daemon.py"), warm=0,
                            env={"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=4"})
        cls.addClassCleanup(cls.b.stop)
        cls.workspaces = {}
        cls.before = memory_of(cls.b.pid)
        for row in ROWS:
            assert cls.b.create(local.CLAIMS, local.claim(row.mode)).code == 201
        cls.answers = []
        for row in ROWS:  # each was asked again and again: so the first answers are over, one way or the other
            local.wait_for(f"{row.mode} was asked", lambda: cls.b.get("/readyz") and cls.asked(row.mode) >= (1 if row.ready else 3), timeout=60)
        cls.took = []
        for _ in range(20):
            start = time.monotonic()
            cls.b.get(local.CLAIMS)
            cls.took.append(time.monotonic() - start)

    def setUp(self):
        self.need(self.identity, "not root")

    @classmethod
    def seen(cls, mode):
        """What its daemon was sent."""
        try:
            if mode not in cls.workspaces:
                cls.workspaces[mode] = cls.b.workspace(mode)
            return (cls.workspaces[mode] / "seen").read_bytes()
        except (FileNotFoundError, KeyError, StopIteration):
            return b""

    @classmethod
    def asked(cls, mode):
        return cls.seen(mode).count(b"GET ")

    def check(self, row):
        seen = self.seen(row.mode)
        self.assertIn(b"GET /v1/health", seen)
        self.assertNotIn(b"uthorization", seen, "no token is sent to whoever sits there")
        if row.ready:
            local.wait_for("it is ready", lambda: local.is_ready(self.b.pod(row.mode)))
        else:
            self.assertFalse(local.is_ready(self.b.pod(row.mode)))
        if row.endless or row.slow:
            self.control(row)
        if row.log:
            folder = self.b.state / "pods" / self.b.pod(row.mode)["metadata"]["uid"]
            files = list(folder.glob("log*"))
            if row.mode == "log-lines":
                local.wait_for("lines were dropped", lambda: b"lines dropped" in (folder / "log").read_bytes())
            self.assertLess(sum(f.stat().st_size for f in files), 9 * MIB)

    def control(self, row):
        """A client without limits: it holds what comes; or it waits although something comes, or may come."""
        with socket.create_connection((self.b.pod(row.mode)["status"]["podIP"], 8080), 30) as s:
            s.sendall(b"GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
            if row.endless:
                held = bytearray()
                while len(held) < NAIVE:
                    part = s.recv(MIB)
                    self.assertTrue(part, "it is endless")
                    held += part
                return
            s.settimeout(3)  # longer than the deadline of a probe
            end, got = time.monotonic() + 3, b""
            try:
                while time.monotonic() < end:
                    part = s.recv(1)
                    self.assertTrue(part, "it is still open")
                    got += part
            except socket.timeout:
                pass
            self.assertNotIn(b"\r\n\r\n", got, "and has not said it all")

    def test_memory_of_the_backend_stays_flat(self):
        self.assertLess(memory_of(self.b.pid) - self.before, 24 * MIB)

    def test_what_is_asked_of_it_through_the_api(self):
        """An exec and a port-forward to each at the same time, by a client that does not read for a while."""
        before = memory_of(self.b.pid)
        opened = []
        for row in ROWS:
            path = f"{local.PODS}/{row.mode}"
            run = streams.WebSocket(self.b, f"{path}/exec?command=true&stdout=true", "v5.channel.k8s.io", timeout=40)
            forward = streams.WebSocket(self.b, f"{path}/portforward?ports=8080", streams.CHANNELS, timeout=40)
            self.addCleanup(run.close)
            self.addCleanup(forward.close)
            forward.send(b"\0GET / HTTP/1.1\r\n\r\n")
            opened.append((row, run, forward))
        time.sleep(3)
        start = time.monotonic()
        self.assertEqual(self.b.get(local.CLAIMS).code, 200)
        self.assertLess(time.monotonic() - start, 2)
        self.assertLess(memory_of(self.b.pid) - before, 24 * MIB)
        for row, run, forward in opened:
            if row.mode in ("endless-line", "endless-head", "closes", "wrong", "zeros", "well", "says-nothing"):
                got = run.channels()  # no HTTP/2: it fails, and says so
                status = json.loads(got[3])
                self.assertEqual((status["status"], status["reason"]), ("Failure", "InternalError"), row.mode)
        # a silent one is not waited for without end
        got = next(run for row, run, _ in opened if row.mode == "silent").channels()
        self.assertIn("does not answer", json.loads(got[3])["message"])

    def test_a_port_forward_leads_to_its_daemon_alone(self):
        """Whatever sits in the sandbox, and whatever a client wrote into the pod's status: not to a port of the host's."""
        pod = f"{local.PODS}/well"
        with socket.create_server(("0.0.0.0", 0)) as host:
            wanted = host.getsockname()[1]
            local.wait_for("the status is another", lambda: self.b.call(
                "PATCH", pod + "/status", {"status": {"podIP": "127.0.0.1"}}, "application/merge-patch+json").code == 200)
            for port in (wanted, 22):
                ws = streams.WebSocket(self.b, f"{pod}/portforward?ports={port}", streams.CHANNELS)
                self.addCleanup(ws.close)
                ws.send(b"\0hello")
                got = ws.channels()
                self.assertEqual((got[0][2:], b"connection refused" in got[1]), (b"", True))
            host.settimeout(0.2)
            with self.assertRaises(TimeoutError):
                host.accept()
            with socket.create_connection(("127.0.0.1", wanted)) as s:  # the control: it listens
                host.settimeout(5)
                host.accept()[0].close()
                s.recv(1)

    def test_the_backend_answers_meanwhile(self):
        self.assertLess(sorted(self.took)[len(self.took) // 2], 1)


for _row in ROWS:
    def _test(self, row=_row):
        self.check(row)
    setattr(Rows, "test_" + _row.mode.replace("-", "_"), _test)


class AsRoot(Rows, Case):
    who = "root"


class AsUser(Rows, Case):
    who = "user"


if __name__ == "__main__":
    main()
