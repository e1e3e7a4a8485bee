# SPDX-License-Identifier: Apache-2.0
"""A local backend for a test: sandmux-locald in a directory of its own, and ways to talk to it."""
import http.client
import json
import os
import ssl
import subprocess
import threading
import time
from pathlib import Path
from urllib.parse import urlencode

from harness.bed import need_bed
from harness.procs import Process
from harness.sandmux import BIN

LOCALD = str(Path(BIN).parent / "sandmux-locald")
EXT = "/apis/extensions.agents.x-k8s.io/v1beta1"
AGENTS = "/apis/agents.x-k8s.io/v1beta1"
CLAIMS = EXT + "/namespaces/default/sandboxclaims"
TEMPLATES = EXT + "/namespaces/default/sandboxtemplates"
POOLS = EXT + "/namespaces/default/sandboxwarmpools"
SANDBOXES = AGENTS + "/namespaces/default/sandboxes"
PODS = "/api/v1/namespaces/default/pods"


def wait_for(what, condition, timeout=60):
    """The first true result of condition()."""
    end = time.monotonic() + timeout
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError(f"never happened: {what}")
        time.sleep(0.03)


def condition(obj, kind="Ready"):
    for c in (obj or {}).get("status", {}).get("conditions", []):
        if c["type"] == kind:
            return c
    return {}


def is_ready(obj):
    return condition(obj).get("status") == "True"


def claim(name, pool="local", **spec):
    return {"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxClaim",
            "metadata": {"name": name}, "spec": {"warmPoolRef": {"name": pool}, **spec}}


class Reply:
    def __init__(self, response):
        self.code = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)


class Watch:
    """Events of one watch as they come, in a thread; `events` grows, `ended` is set at its end."""

    def __init__(self, backend, path, **query):
        self.events, self.ended = [], threading.Event()
        self.connection = backend.connect()
        self.connection.request("GET", f"{path}?{urlencode({'watch': 'true', **query})}", headers=backend.headers)
        self.response = self.connection.getresponse()
        self.code = self.response.status
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        try:
            for line in self.response:
                self.events.append(json.loads(line))
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass
        self.ended.set()

    def types(self):
        return [e["type"] for e in self.events]

    def close(self):
        try:
            self.connection.sock and self.connection.sock.shutdown(2)
        except OSError:
            pass
        self.connection.close()


class Backend:
    def __init__(self, state, *flags, isolation=None, daemon_auth="token", warm=1, wrap=(), env=None):
        self.state = Path(state)
        self.wrap = wrap  # a program and its arguments that starts it
        self.flags = [*flags, "--isolation", isolation or os.environ.get("SANDMUX_TEST_ISOLATION", "bwrap"),
                      "--daemon-auth", daemon_auth, "--warm", str(warm)]
        self.kubeconfig = self.state / "kubeconfig"
        self.proc, self.env = None, env
        self.start()

    def start(self):
        self.state.mkdir(exist_ok=True)
        (self.state / "pid").unlink(missing_ok=True)
        self.proc = Process([*self.wrap, LOCALD, "--state-dir", self.state, "--stderr", *self.flags], ready=self._serves, timeout=30, env=self.env)
        self.token = (self.state / "token").read_text()
        self.headers = {"Authorization": f"Bearer {self.token}"}
        self.context = ssl.create_default_context(cafile=str(self.state / "tls/ca.pem"))
        return self

    def _serves(self):
        try:
            words = (self.state / "pid").read_text().split()
        except FileNotFoundError:
            return False
        if len(words) < 2:
            return False
        self.port = int(words[1])
        return True

    @property
    def pid(self):
        return int((self.state / "pid").read_text().split()[0])

    def stop(self):
        log = "" if self.proc._log.closed else self.log()
        status = self.proc.stop(15)
        if "Sanitizer" in log or "runtime error:" in log:
            raise AssertionError(f"the backend broke:\n{log[-6000:]}")
        return status

    def kill(self):
        os.kill(self.pid, 9)
        self.proc.proc.wait(10)

    def log(self):
        return self.proc.log()

    # ---- HTTP ----

    def connect(self):
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=60)

    def call(self, method, path, body=None, type="application/json", headers=None, **query):
        connection = self.connect()
        try:
            data = body if isinstance(body, (bytes, type_none)) else json.dumps(body).encode()
            all_headers = {**self.headers, **({"Content-Type": type} if data is not None else {}), **(headers or {})}
            connection.request(method, path + ("?" + urlencode(query) if query else ""), data, all_headers)
            return Reply(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **query):
        return self.call("GET", path, **query)

    def create(self, path, body, **query):
        return self.call("POST", path, body, **query)

    def merge(self, path, body, **query):
        return self.call("PATCH", path, body, "application/merge-patch+json", **query)

    def object(self, path):
        """The object, or None."""
        r = self.get(path)
        return r.json if r.code == 200 else None

    def watch(self, path, **query):
        return Watch(self, path, **query)

    def ready_claim(self, name, **spec):
        r = self.create(CLAIMS, claim(name, **spec))
        assert r.code == 201, r.body
        return wait_for(f"{name} is Ready", lambda: (lambda o: o if is_ready(o) else None)(self.object(f"{CLAIMS}/{name}")))

    # ---- other people's programs ----

    def kubectl(self, *args, stdin=None, check=True, timeout=60):
        """Output of the real kubectl."""
        r = subprocess.run([need_bed("kubectl"), *args], input=stdin, capture_output=True, text=True, timeout=timeout,
                           env={**os.environ, "KUBECONFIG": str(self.kubeconfig), "HOME": str(self.state)})
        if check and r.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(args)}: {r.returncode}\n{r.stdout}\n{r.stderr}")
        return r.stdout if check else r

    # ---- the daemon of a sandbox ----

    def daemon_token(self, address):
        """That of the pod with this address; "" where daemons want none."""
        for pod in self.get("/api/v1/pods").json["items"]:
            if pod.get("status", {}).get("podIP") == address:
                token = self.state / "pods" / pod["metadata"]["uid"] / "daemon-token"
                return token.read_text() if token.exists() else ""
        return ""

    def daemon(self, address, method, path, body=None):
        headers = {}
        token = self.daemon_token(address)
        if token:
            headers["Authorization"] = f"Bearer {token}"
        connection = http.client.HTTPConnection(address, 8080, timeout=20)
        try:
            connection.request(method, path, body, headers)
            return Reply(connection.getresponse())
        finally:
            connection.close()


type_none = type(None)
