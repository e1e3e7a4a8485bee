# SPDX-License-Identifier: Apache-2.0
"""Each code of an error that a person can meet on the command line, provoked once: its exit status, its words and its hint, for
people and as JSON. Servers are scripted: the rarest answers are the ones that no real server gives when asked to. Codes that need a
real daemon, cluster or backend are provoked where that is (tests/lint: lint_codes finds the one that is provoked nowhere)."""
import http.server
import json
import socket
import ssl
import subprocess
import threading
from dataclasses import dataclass, field

from harness import Case, main

EXT = "extensions.agents.x-k8s.io"


def status(code, reason, message, **details):
    return code, json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message,
                             **({"details": details} if details else {})}).encode()


def cause(reason, message="m", field="f"):
    return {"causes": [{"reason": reason, "message": message, "field": field}]}


def claim(name="x", **more):
    return {"apiVersion": EXT + "/v1beta1", "kind": "SandboxClaim", "spec": {"warmPoolRef": {"name": "p"}},
            "metadata": {"name": name, "namespace": "default", "uid": "00000001-0000-4000-8000-000000000001", "resourceVersion": "1",
                         "creationTimestamp": "2026-01-02T03:04:05Z", **more}}


OWN = 200, json.dumps(claim()).encode()
GONE = status(404, "NotFound", f'sandboxclaims.{EXT} "x" not found', name="x")


@dataclass(frozen=True)
class Row:
    code: str
    exit: int
    args: tuple
    says: str                                    # in the message
    hint: str                                    # the beginning of it; "" if there is none
    answers: dict = field(default_factory=dict)  # by method: (status, body); None: the connection is closed
    retryable: bool = False


GET, CREATE = ("get", "x"), ("create", "x", "--pool", "p", "--no-wait")
ROWS = [
    Row("kube.unauthorized", 4, GET, "wants credentials", "log in again", {"GET": status(401, "Unauthorized", "Unauthorized")}),
    Row("kube.forbidden", 4, GET, "cannot get", "ask for the missing right", {"GET": status(
        403, "Forbidden", f'sandboxclaims.{EXT} "x" is forbidden: User "u" cannot get resource "sandboxclaims" in API group "{EXT}" in the namespace "default"')}),
    Row("kube.quota", 4, CREATE, "exceeded quota", "delete something or wait", {"POST": status(
        403, "Forbidden", f'sandboxclaims.{EXT} "x" is forbidden: exceeded quota: q, requested: count=1, used: count=1, limited: count=1')}, True),
    Row("kube.namespace_terminating", 1, CREATE, "being terminated", "use another namespace", {"POST": status(
        403, "Forbidden", "unable to create new content in namespace default because it is being terminated", **cause("NamespaceTerminating"))}),
    Row("kube.not_served", 1, GET, "", "install the Agent Sandbox CRDs", {"GET": (404, b"404 page not found\n")}),
    Row("kube.not_found", 3, GET, '"x" not found', "check the name", {"GET": GONE}),
    Row("claim.exists", 1, CREATE, "claim x exists already", "adopt it", {"POST": status(409, "AlreadyExists", f'sandboxclaims.{EXT} "x" already exists', name="x"), "GET": OWN}),
    Row("kube.invalid", 2, CREATE, "spec.x: wrong", "", {"POST": status(
        422, "Invalid", "is invalid: spec.x: wrong", **cause("FieldValueInvalid", "wrong", "spec.x"))}),
    Row("kube.bad_request", 1, CREATE, "strict decoding", "", {"POST": status(400, "BadRequest", "strict decoding error: unknown field")}),
    Row("kube.too_large", 1, CREATE, "too large", "", {"POST": status(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728")}),
    Row("kube.throttled", 1, GET, "slow down", "wait a little", {"GET": status(429, "TooManyRequests", "slow down")}, True),
    Row("kube.server", 1, GET, "etcd", "try again", {"GET": status(500, "InternalError", "etcdserver: request timed out")}, True),
    Row("kube.protocol", 1, GET, "bad JSON", "is this a Kubernetes API server?", {"GET": (200, b"<html>hello</html>")}),
    Row("kube.transport", 6, GET, "", "check that the API server runs", {"GET": None}, True),
    Row("claim.orphaned", 1, ("create", "--pool", "p", "--timeout", "2s"), "could not be deleted",
        "delete the claim by hand", {"POST": (201, json.dumps(claim()).encode()), "GET": status(500, "InternalError", "away"),
                                     "DELETE": status(403, "Forbidden", 'sandboxclaims "x" is forbidden: User "u" cannot delete resource "sandboxclaims"')}, True),
]


class Server:
    def __init__(self, answers):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self):
                n = int(self.headers.get("Content-Length") or 0)
                self.rfile.read(n)
                what = outer.answers.get(self.command, GONE)
                outer.asked.append((self.command, self.path))
                if what is None:
                    self.close_connection = True
                    return
                code, body = what
                self.send_response(code)
                self.send_header("Content-Type", "application/json" if body[:1] == b"{" else "text/plain")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = answer

        self.answers, self.asked = answers, []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Codes(Case):
    def kubeconfig(self, url, user=None, name="kubeconfig", **cluster):
        path = self.tmp / name
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": url, **cluster}}], "users": [{"name": "u", "user": user or {}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))
        path.chmod(0o600)
        return str(path)

    def check(self, row, *args):
        """The same for people, in one line and perhaps a second, and as JSON."""
        r = self.sandmux(*args, timeout=60)
        self.assertEqual(r.code, row.exit, (r.out, r.err))
        first, *rest = r.err.strip().splitlines()
        self.assertTrue(first.startswith(f"sandmux: {row.code}: "), r.err)
        self.assertIn(row.says, first)
        self.assertEqual(r.out, "")
        r = self.sandmux(*args, "-o", "json", timeout=60)
        got = json.loads((r.err.strip() or r.out.strip()).splitlines()[-1])
        self.assertEqual((got["code"], got["retryable"], r.code), (row.code, row.retryable, row.exit), got)
        self.assertTrue(got["hint"].startswith(row.hint) if row.hint else "hint" in got, got)
        if got["hint"]:
            self.assertTrue(any(got["hint"] in line for line in rest + [first]), r.err)

    # ---- what is wrong before anything is asked

    def test_here(self):
        self.check(Row("config.none", 1, (), "no Kubernetes configuration", "set KUBECONFIG"), *GET)
        self.check(Row("config.kubeconfig", 2, (), "No such file", "check the kubeconfig"), "--kubeconfig", str(self.tmp / "none"), *GET)
        (self.tmp / "bad").write_text("{a: [")
        self.check(Row("config.kubeconfig", 2, (), "bad", "check the kubeconfig"), "--kubeconfig", str(self.tmp / "bad"), *GET)
        plugin = self.kubeconfig("https://127.0.0.1:1", {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "/nonexistent/plugin",
                                                                  "interactiveMode": "Never"}}, "plugin")
        self.check(Row("config.exec_plugin", 4, (), "plugin", "log in again"), "--kubeconfig", plugin, *GET)
        self.check(Row("arg.invalid", 2, (), "no-such-option", "see --help"), "get", "x", "--no-such-option")
        quiet = self.kubeconfig("http://127.0.0.1:1")
        self.check(Row("op.read_only", 7, (), "", "start without --read-only"), "--kubeconfig", quiet, "--read-only", *CREATE)

    def test_the_wrong_certificate(self):
        pem = self.tmp / "pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(pem), "-out", str(pem),
                        "-days", "2", "-subj", "/CN=other"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(str(pem))
        with socket.create_server(("127.0.0.1", 0)) as listener:
            def serve():
                while True:
                    try:
                        context.wrap_socket(listener.accept()[0], server_side=True)
                    except ssl.SSLError:
                        continue
                    except OSError:
                        return
            threading.Thread(target=serve, daemon=True).start()
            config = self.kubeconfig(f"https://127.0.0.1:{listener.getsockname()[1]}")
            self.check(Row("kube.tls", 6, (), "", "check the certificate authority"), "--kubeconfig", config, *GET)
            listener.shutdown(socket.SHUT_RDWR)

    def test_nobody_listens(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            port = s.getsockname()[1]
        self.check(Row("kube.transport", 6, (), "", "", {}, True), "--kubeconfig", self.kubeconfig(f"http://127.0.0.1:{port}"), *GET)


def _case(row):
    def test(self):
        server = Server(row.answers)
        self.addCleanup(server.stop)
        self.check(row, "--kubeconfig", self.kubeconfig(server.url), *row.args)
        self.assertTrue(server.asked)
    return test


for _row in ROWS:
    setattr(Codes, "test_" + _row.code.replace(".", "_"), _case(_row))

if __name__ == "__main__":
    main()
