# SPDX-License-Identifier: Apache-2.0
"""Cases against a real cluster (tests/bed/cluster): one cluster for a class, a namespace with pools of its own for
each test, an independent watch to measure against, and a look at every socket that sandmux has."""
import base64
import http.client
import json
import os
import re
import ssl
import subprocess
import threading
import time
from pathlib import Path

from harness import BIN, Case
from harness.bed import BED, bed_path
from harness.cluster import RealCluster, node_impossible
from harness.sandmux import home_env
from harness.screen import terminal_env

NEEDS = ("kubectl", "kube-apiserver", "etcd", "agent-sandbox-controller")
CLAIMS = "/apis/extensions.agents.x-k8s.io/v1beta1"
SANDBOXES = "/apis/agents.x-k8s.io/v1beta1"
POOLS = (BED / "cluster/sandbox.yaml").read_text()


def wait_until(check, what: str, timeout: float = 90):
    """Polls check() until it is true; that truth."""
    end = time.monotonic() + timeout
    while True:
        found = check()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"waited for {what}")
        time.sleep(0.02)


class ClusterCase(Case):
    NODE = True
    SHARED = True  # the one cluster of this machine; else the class brings its own

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.why_not = next((f"{n} is not built: tests/bed/build.sh control-plane node" for n in NEEDS if not bed_path(n)), "")
        if cls.NODE and not cls.why_not:
            cls.why_not = node_impossible()
        if not cls.why_not and cls.SHARED:
            cls.cluster = RealCluster(node=cls.NODE)
            cls.addClassCleanup(cls.cluster.stop)

    def setUp(self):
        self.need(not self.why_not, self.why_not)

    @classmethod
    def new_pools(cls, cleanup) -> str:
        ns = cls.cluster.namespace()
        cleanup(ns.__exit__)
        wait_until(lambda: cls.cluster.kubectl("-n", ns, "get", "serviceaccount", "default", "--ignore-not-found"), "service account")
        cls.cluster.kubectl("apply", "-f", "-", stdin=POOLS.replace("namespace: default", f"namespace: {ns}"))
        return ns

    def pools(self) -> str:
        """A namespace with the pools `ready` and `loopback`, the first with a warm sandbox."""
        self.ns = self.new_pools(self.addCleanup)
        return self.ns

    def shared_pools(self) -> str:
        """The same, for all tests of a class."""
        cls = type(self)
        if "ns" not in cls.__dict__:
            cls.ns = cls.new_pools(cls.addClassCleanup)
        return cls.ns

    def warm(self, pool: str = "ready"):
        """Waits until the pool has a warm sandbox."""
        wait_until(lambda: self.cluster.get("sandboxwarmpool", pool, "-n", self.ns).get("status", {}).get("readyReplicas"), "a warm sandbox", 60)

    def kubectl(self, *args, **kw) -> str:
        return self.cluster.kubectl(*args, **kw)

    def claim(self, name: str, pool: str = "ready"):
        """Creates a claim as somebody else does: with kubectl."""
        self.kubectl("create", "-f", "-", stdin=json.dumps({
            "apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxClaim",
            "metadata": {"name": name, "namespace": self.ns}, "spec": {"warmPoolRef": {"name": pool}}}))

    def sm(self, *args, config=None, **kw):
        """sandmux in this test's namespace."""
        return self.sandmux("--kubeconfig", config or self.cluster.kubeconfig, "-n", self.ns, *args, **kw)

    def dash(self, *args, config=None, **kw):
        kw = {"cols": 140, **kw}
        return self.sandmux_screen("--kubeconfig", config or self.cluster.kubeconfig, "-n", self.ns, *args, **kw)

    def created(self, name: str, pool: str = "ready", *args):
        return self.sm("create", name, "--pool", pool, *args, timeout=90, check=0)

    # --- kubeconfigs
    def config(self, user: dict, cluster: dict = None, name: str = "kubeconfig", context: dict = None) -> str:
        """A kubeconfig of this test: the cluster's own CA unless told otherwise; None takes a key away."""
        entry = {"server": self.cluster.api, "certificate-authority": str(self.cluster.ca), **(cluster or {})}
        path = self.tmp / name
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {k: v for k, v in entry.items() if v is not None}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u", **(context or {})}}]}))
        path.chmod(0o600)
        return str(path)

    def service_account(self, name: str, rules: list = None, cluster_wide: bool = False, duration: str = "600s") -> str:
        """A service account with these rights in the namespace; its token. Its whole name is in self.account."""
        name = self.account = f"{name}-{os.urandom(3).hex()}"
        self.kubectl("-n", self.ns, "create", "serviceaccount", name)
        if rules:
            kind = "ClusterRole" if cluster_wide else "Role"
            meta = {"name": f"{self.ns}-{name}"} if cluster_wide else {"name": name, "namespace": self.ns}
            self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": [
                {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": meta, "rules": rules},
                {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind + "Binding", "metadata": meta,
                 "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": meta["name"]},
                 "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": self.ns}]}]}))
            if cluster_wide:
                for thing in ("clusterrolebinding", "clusterrole"):
                    self.addCleanup(self.kubectl, "delete", thing, meta["name"], "--ignore-not-found")
        return self.token(name, duration)

    def token(self, name: str, duration: str = "600s") -> str:
        return self.kubectl("-n", self.ns, "create", "token", name, f"--duration={duration}").strip()

    def admin(self) -> dict:
        """The administrator's user entry: certificate and key as data."""
        return json.loads(Path(self.cluster.kubeconfig).read_text())["users"][0]["user"]


def decoded(text: str) -> bytes:
    return base64.b64decode(text)


class Observer:
    """An independent watch of claims and Sandboxes in a namespace: the newest object of each name, and when what came."""

    def __init__(self, cluster, ns: str):
        self.cluster, self.changed = cluster, threading.Condition()
        self.objects, self.history = {}, []  # history: (time, kind, type, name, object)
        self._stop = False
        self._connections = []
        for kind, base in (("sandboxclaims", CLAIMS), ("sandboxes", SANDBOXES)):
            threading.Thread(target=self._watch, args=(kind, f"{base}/namespaces/{ns}/{kind}"), daemon=True).start()

    def _watch(self, kind, path):
        context = ssl.create_default_context(cafile=self.cluster.ca)
        host, port = self.cluster.api.removeprefix("https://").split(":")
        c = http.client.HTTPSConnection(host, int(port), context=context)
        self._connections.append(c)
        c.request("GET", path + "?watch=1", headers={"Authorization": f"Bearer {self.cluster.token}"})
        answer = c.getresponse()
        try:
            for line in answer:
                event = json.loads(line)
                obj = event["object"]
                name = obj["metadata"]["name"]
                with self.changed:
                    self.history.append((time.monotonic(), kind, event["type"], name, obj))
                    self.objects[kind, name] = None if event["type"] == "DELETED" else obj
                    self.changed.notify_all()
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            if not self._stop:
                raise

    def when(self, kind: str, name: str, check, timeout: float = 60) -> float:
        """When check(type, object) of that object first was true."""
        end = time.monotonic() + timeout
        with self.changed:
            while True:
                for at, k, what, n, obj in self.history:
                    if k == kind and n == name and check(what, obj):
                        return at
                if not self.changed.wait(end - time.monotonic()):
                    raise AssertionError(f"{kind} {name} never was so; last: {self.objects.get((kind, name))}")

    def stop(self):
        self._stop = True
        for c in self._connections:
            if c.sock:
                try:
                    c.sock.shutdown(2)
                except OSError:
                    pass


def current(obj: dict, kind: str) -> str:
    """The status of a condition that speaks of the object's present generation; else ""."""
    return next((c["status"] for c in obj.get("status", {}).get("conditions", [])
                 if c["type"] == kind and c.get("observedGeneration") == obj["metadata"]["generation"]), "")


class Lines:
    """A sandmux that prints JSON lines for ever, each with the time it came."""

    def __init__(self, case, *args):
        self.lines, self.changed = [], threading.Condition()
        self.proc = subprocess.Popen([BIN, *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                     text=True, env={**terminal_env(), **home_env(case.tmp)}, start_new_session=True)
        self.pid = self.proc.pid
        threading.Thread(target=self._read, daemon=True).start()
        case.addCleanup(self.stop)

    def _read(self):
        for line in self.proc.stdout:
            with self.changed:
                self.lines.append((time.monotonic(), json.loads(line)))
                self.changed.notify_all()

    def when(self, check, timeout: float = 60, after: float = 0) -> float:
        """When the first line came (after that time) of which check(line) is true."""
        end = time.monotonic() + timeout
        with self.changed:
            while True:
                for at, line in self.lines:
                    if at >= after and check(line):
                        return at
                if not self.changed.wait(max(0, end - time.monotonic())) and time.monotonic() >= end:
                    raise AssertionError(f"no such line of {len(self.lines)}; the last: {self.lines[-3:]}")

    def stop(self):
        if self.proc.poll() is None:
            self.proc.terminate()
        self.proc.wait(10)
        self.proc.stdout.close()
        self.proc.stderr.close()


def listening_sockets(program: str = BIN):
    """How many processes of that program run, and (pid, line of /proc/net) of each TCP socket in LISTEN that a process of that program has."""
    listening = {}
    for table, state in (("tcp", "0A"), ("tcp6", "0A")):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == state:
                listening[f"socket:[{fields[9]}]"] = line.strip()
    program, found, runs = os.path.realpath(program), [], 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe") != program:
                continue
            runs += 1
            for fd in os.listdir(f"/proc/{pid}/fd"):
                line = listening.get(os.readlink(f"/proc/{pid}/fd/{fd}"))
                if line:
                    found.append((int(pid), line))
        except OSError:
            pass
    return runs, found


def listening_by_ss(program: str = BIN):
    """The same, told by another witness: ss."""
    program, found, runs = os.path.realpath(program), [], 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            runs += os.readlink(f"/proc/{pid}/exe") == program
        except OSError:
            pass
    for line in subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout.splitlines():
        for pid in re.findall(r"\bpid=(\d+)", line):
            try:
                if os.readlink(f"/proc/{pid}/exe") == program:
                    found.append((int(pid), line))
            except OSError:
                pass
    return runs, found


class NoListener:
    """Looks all the time whether a program listens; `seen` is what it found, `looks` how often it looked at one that ran."""

    def __init__(self, program: str = BIN, look=listening_sockets):
        self.program, self.look, self.seen, self.looks, self._stop = program, look, [], 0, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stop.wait(0.1):
            runs, found = self.look(self.program)
            self.looks += runs > 0
            self.seen += found

    def stop(self):
        self._stop.set()
        self._thread.join()
