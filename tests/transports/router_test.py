# SPDX-License-Identifier: Apache-2.0
"""Through a sandbox-router, at its URL and behind a Gateway: every header, each error in its own words, no other way."""
import copy
import json
import threading
import time

from harness import Case, main
from harness.scripted_api import ScriptedApi, uid
from scripted import Legacy, own_address

HEADERS = {"X-Sandbox-ID": "pool-00000", "X-Sandbox-Namespace": "default", "X-Sandbox-Port": "8888", "X-Sandbox-Pod-IP": "10.0.0.1",
           "X-Sandbox-UID": uid(2, 0)}


def ports(api, *numbers):
    api.objects["sandboxes"][0]["spec"]["podTemplate"]["spec"]["containers"][0]["ports"] = [{"containerPort": n} for n in numbers]


class RouterCase(Case):
    address = ("127.0.0.1", 0)

    def setUp(self):
        self.root = self.tmp.resolve() / "root"
        self.root.mkdir()
        self.api = ScriptedApi(1)
        self.addCleanup(self.api.stop)
        ports(self.api, 8888)
        self.config = self.api.kubeconfig(self.tmp / "kubeconfig")
        self.router = Legacy(self.root, dict(HEADERS), self.address)
        self.addCleanup(self.router.stop)
        self.addCleanup(lambda: self.assertEqual(self.router.wrong, []))

    def sm(self, *args, where=None, **kw):
        return self.sandmux("--kubeconfig", self.config, *(where or self.where), *args, timeout=60, **kw)

    def run_true(self, *args, **kw):
        return self.sm(*args, "run", "claim-00000", "--", "echo", "hi", **kw)


class Router(RouterCase):
    def setUp(self):
        super().setUp()
        self.where = ["--router-url", self.router.url]

    def test_legacy_by_its_port(self):
        r = self.run_true()
        self.assertEqual((r.code, r.out, r.err), (0, "hi\n", ""))
        here = self.tmp / "here"
        here.write_text("content")
        self.assertEqual(self.sm("cp", str(here), "claim-00000:a %41").code, 0)
        self.assertEqual((self.root / "a %41").read_text(), "content")
        self.assertEqual(self.sm("files", "ls", "claim-00000:", "-o", "name").out, "a %41\n")
        r = self.sm("sh", "claim-00000")
        self.assertRegex(r.err, "op.unsupported: .*not supported by this runtime")

    def test_without_the_pod_ip(self):
        del self.router.router["X-Sandbox-Pod-IP"]
        self.assertEqual(self.run_true("--no-pod-ip-header").code, 0)

    def test_an_id_for_each_call(self):
        self.run_true()
        self.run_true()
        ids = [r.headers["X-Request-ID"] for r in self.router.asked("POST", "/execute")]
        self.assertEqual(len(set(ids)), 2)

    def test_how_long_the_router_waits(self):
        self.run_true()
        self.sm("run", "--timeout", "7s", "claim-00000", "--", "true")
        long, short = (float(r.headers["X-Sandbox-Timeout"]) for r in self.router.asked("POST", "/execute"))
        self.assertTrue(170 < long <= 180, long)  # legacy-command-timeout
        self.assertTrue(1 < short <= 7, short)

    def test_its_own_token(self):
        token = self.tmp / "token"
        token.write_text("for-the-router\n")
        self.router.token = "for-the-router"
        r = self.run_true("--router-token-file", str(token))
        self.assertEqual((r.code, r.out, r.err), (0, "hi\n", ""))
        self.assertGreater(len(self.router.asked("GET", "/")), 0)  # the look at its health had it too
        token.write_text("")
        self.assertRegex(self.run_true("--router-token-file", str(token)).err, "arg.invalid: the router token in ")

    def test_its_own_token_in_the_clear(self):
        token = self.tmp / "token"
        token.write_text("for-the-router")
        for where in (["--router-url", "http://10.255.255.1:9"], ["--gateway", "gate"]):
            self.api.objects["gateways"] = [gateway("10.255.255.1")]
            r = self.run_true("--router-token-file", str(token), where=where)
            self.assertRegex(r.err, "^sandmux: conn.plaintext_token: .*10.255.255.1")
            self.assertNotIn("for-the-router", r.err)

    def test_sandboxd_has_no_processes_there(self):
        ports(self.api, 8080, 9090)
        self.router.router["X-Sandbox-Port"] = "8080"
        self.router.env = {}
        self.assertEqual(self.sm("files", "ls", "claim-00000:").code, 0)
        r = self.run_true()
        self.assertEqual(r.code, 125)
        self.assertIn("op.unsupported", r.err)

    def test_the_choice_beats_the_ports(self):
        ports(self.api, 8080, 9090)
        self.assertEqual(self.run_true("--runtime", "legacy").out, "hi\n")

    def test_version(self):
        ports(self.api)
        self.router.router["X-Sandbox-Port"] = "8080"
        for env, want in (({"SANDBOX_SANDBOXD_VERSION": "v0.5.6"}, 0), ({}, 0), ({"SANDBOX_SANDBOXD_VERSION": "v0.4.0"}, 7)):
            self.router.env = env
            r = self.sm("--runtime-version", "v0.5.6", "files", "ls", "claim-00000:")
            self.assertEqual(r.code, want, r.err)
        self.assertRegex(r.err, r"runtime\.version: .* runs sandboxd v0\.4\.0, not v0\.5\.6")

    def test_the_context_says_it(self):
        config = json.loads(open(self.config).read())
        config["contexts"][0]["context"]["extensions"] = [
            {"name": "sandmux", "extension": {"connectivity": "router", "router-url": self.router.url, "runtime": "legacy"}}]
        ports(self.api)
        with open(self.config, "w") as f:
            json.dump(config, f)
        self.assertEqual(self.run_true(where=["--quiet"]).out, "hi\n")
        del config["contexts"][0]["context"]["extensions"][0]["extension"]["router-url"]
        with open(self.config, "w") as f:
            json.dump(config, f)
        r = self.run_true(where=["--quiet"])
        self.assertRegex(r.err, "^sandmux: arg.invalid: context bench: --connectivity router needs --router-url")

    def test_the_routers_errors(self):
        for status, detail, code, exit_status in (
                (400, "Invalid port format.", "router.rejected", 4), (401, "Unauthorized", "router.rejected", 4),
                (403, "Forbidden", "router.rejected", 4), (502, "Could not connect to the backend sandbox: pool-00000", "router.backend", 6)):
            with self.subTest(status=status):
                self.router.refuse = (status, {"detail": detail})
                r = self.sm("files", "ls", "claim-00000:")
                self.assertEqual(r.code, exit_status, r.err)
                self.assertRegex(r.err, rf"^sandmux: {code}: .*{detail}")
                self.assertEqual(self.run_true().code, 125)

    def test_nobody_there(self):
        self.router.stop()
        r = self.sm("files", "ls", "claim-00000:")
        self.assertEqual(r.code, 6)
        self.assertRegex(r.err, r"^sandmux: conn\.refused: ")
        self.assertFalse([p for p in self.api.requests if "portforward" in p])

    def test_contradictions(self):
        token = self.tmp / "token"
        token.write_text("t")
        for where in (["--connectivity", "router"], ["--connectivity", "gateway"], ["--connectivity", "direct"],
                      ["--connectivity", "port-forward", *self.where], ["--gateway", "g", *self.where], ["--router-url", "ftp://x"],
                      ["--gateway", "g", "--runtime", "sandboxd"], ["--gateway-namespace", "x"], ["--gateway", "g", "--gateway-scheme", "ws"],
                      ["--daemon-token-file", str(token), *self.where],
                      ["--router-service", "r", *self.where], ["--router-service", "r", "--gateway", "g"], ["--router-service", "a/b"],
                      ["--router-namespace", "x"], ["--router-token-file", str(token)], ["--runtime", "python"]):
            with self.subTest(where=where):
                r = self.run_true(where=where)
                self.assertIn("arg.invalid", r.err)
                self.assertIn(r.code, (2, 125))
        self.assertEqual(self.router.requests, [])


class PodIp(RouterCase):
    """The legacy runtime on the pod's own address: its port, and no header of a router."""
    address = (own_address(), 8888)

    def setUp(self):
        super().setUp()
        self.router.router = None
        self.where = ["--connectivity", "in-cluster-pod-ip"]
        for objects, path in (("sandboxes", []), ("sandboxclaims", ["sandbox"])):
            status = self.api.objects[objects][0]["status"]
            for key in path:
                status = status[key]
            status["podIPs"] = [self.address[0]]

    def test_run_and_files(self):
        (self.root / "f").write_text("x")
        self.assertEqual(self.run_true().out, "hi\n")
        self.assertEqual(self.sm("files", "cat", "claim-00000:f").out, "x")
        r = self.run_true("--runtime", "sandboxd")
        self.assertRegex(r.err, "^sandmux: conn.refused: ")

    def test_doctor(self):
        r = self.sm("doctor")
        self.assertRegex(r.out + r.err, "route to a sandbox by in-cluster-pod-ip.*the legacy runtime answers")


GATEWAY = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
           "metadata": {"name": "gate", "namespace": "default", "uid": uid(9, 1), "resourceVersion": "1"}, "status": {}}


def gateway(address=None):
    obj = copy.deepcopy(GATEWAY)
    if address:
        obj["status"]["addresses"] = [{"type": "IPAddress", "value": address}]
    return obj


class Gateway(RouterCase):
    address = (own_address(), 80)

    def setUp(self):
        try:
            super().setUp()
        except PermissionError:
            self.skipTest("port 80 cannot be opened here")
        self.where = ["--gateway", "gate"]

    def later(self, seconds, *args):
        """An event, that long after somebody watches the Gateway."""
        def emit():
            end = time.monotonic() + 30
            while not self.api.watchers.get("gateways") and time.monotonic() < end:
                time.sleep(0.05)
            time.sleep(seconds)
            self.api.emit("gateways", *args)
        thread = threading.Thread(target=emit, daemon=True)
        thread.start()
        self.addCleanup(thread.join)

    def test_its_address(self):
        self.api.objects["gateways"] = [gateway(self.address[0])]
        r = self.run_true()
        self.assertEqual((r.code, r.out, r.err), (0, "hi\n", ""))
        asked = [p for p in self.api.requests if "gateways" in p]
        self.assertTrue(all(p.startswith("/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways?") for p in asked), asked)

    def test_the_address_comes_later(self):
        self.api.objects["gateways"] = [gateway()]
        self.later(1, "MODIFIED", gateway(self.address[0]))
        start = time.monotonic()
        r = self.run_true()
        self.assertEqual((r.code, r.out), (0, "hi\n"), r.err)
        self.assertGreater(time.monotonic() - start, 1)

    def test_no_address(self):
        for objects, words in (([gateway()], "has no address"), ([], "is not there"), ([gateway("evil/path")], "has no address")):
            self.api.objects["gateways"] = objects
            self.api.pages.clear()
            r = self.sm("run", "--timeout", "2s", "claim-00000", "--", "true")
            self.assertRegex(r.err, rf"^sandmux: gateway\.no_address: .*{words}")
            self.assertEqual(r.code, 124)
        self.assertEqual(self.router.requests, [])

    def test_deleted_while_waiting(self):
        self.api.objects["gateways"] = [gateway()]
        self.later(0.5, "DELETED", gateway())
        r = self.run_true()
        self.assertRegex(r.err, r"^sandmux: gateway\.deleted: gateway default/gate was deleted")

    def test_deleted_during_a_call(self):
        self.api.objects["gateways"] = [gateway(self.address[0])]
        self.later(1, "DELETED", gateway())
        r = self.sm("run", "claim-00000", "--", "sleep", "6")
        self.assertEqual(r.code, 125)
        self.assertRegex(r.err, r"gateway\.deleted: ")


main()
