# SPDX-License-Identifier: Apache-2.0
"""Each way to a sandbox fails in its own words, and none takes another way instead: after each refusal nothing had been
sent to the pod's address, and no port-forward had been asked for."""
import io
import json
import re
import subprocess
import tarfile
import time
from pathlib import Path

from cluster_case import ClusterCase, wait_until
from harness import BIN, bed_path, main
from harness.faults import HttpFaultProxy

READ = [{"apiGroups": ["extensions.agents.x-k8s.io", "agents.x-k8s.io"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": ["pods", "events"], "verbs": ["get", "list", "watch"]}]


def forward(*verbs):
    return {"apiGroups": [""], "resources": ["pods/portforward"], "verbs": list(verbs)}


def loader(libraries) -> str:
    return next(Path(p).name for p in libraries if Path(p).name.startswith("ld-"))


class Transports(ClusterCase):
    def setUp(self):
        super().setUp()
        self.shared_pools()

    def proxy(self):
        """What the API server is asked, seen in plain text; the rights are the administrator's."""
        proxy = HttpFaultProxy(self.cluster.api, self.cluster.ca, self.cluster.token)
        self.addCleanup(proxy.stop)
        return proxy, self.config({}, {"server": proxy.url, "certificate-authority": None})

    def box(self, name, pool="ready"):
        self.created(name, pool)
        self.addCleanup(self.sm, "rm", name, "--yes")
        return json.loads(self.sm("get", name, "-o", "json", check=0).out)

    def refused(self, code, status, words, mode, name, config=None, args=(), verb=None):
        start = time.monotonic()
        r = self.sm("--connectivity", mode, *args, *(verb or ("run", name, "--", "true")), config=config, timeout=90)
        self.assertRegex(r.err, rf"^sandmux: {re.escape(code)}: .*{words}")
        self.assertEqual(r.err.strip().count("\n"), 0, r.err)
        self.assertEqual(r.code, status, r.err)
        self.assertEqual(r.out, "")
        return time.monotonic() - start

    def forwards(self, proxy):
        return [r.path for r in proxy.requests if r.path.endswith("/portforward")]

    def test_no_service(self):
        self.box("no-service")
        proxy, config = self.proxy()
        self.refused("sandbox.no_service", 125, "has no Service; set spec.service: true", "in-cluster-service", "no-service", config)
        self.refused("sandbox.no_service", 1, "has no Service", "in-cluster-service", "no-service", config, verb=("files", "ls", "no-service:"))
        self.assertEqual(self.forwards(proxy), [])

    def test_a_service_whose_name_does_not_resolve(self):
        """There is no DNS here: the name of the Service is what is said, and the pod's IP is not used instead."""
        self.kubectl("apply", "-f", "-", stdin=self.template("served", service=True))
        self.box("served", "served")
        proxy, config = self.proxy()
        self.refused("conn.dns", 125, r"\.svc", "in-cluster-service", "served", config)
        self.assertEqual(self.forwards(proxy), [])

    def template(self, name, service=None, runtime_class=None, command=None):
        """A pool of that name, none warm, with a template of its own made from `ready`."""
        template = self.cluster.get("sandboxtemplate", "ready", "-n", self.ns)
        template["metadata"] = {"name": name, "namespace": self.ns}
        template.pop("status", None)
        if service is not None:
            template["spec"]["service"] = service
        pod = template["spec"]["podTemplate"]["spec"]
        if runtime_class:
            pod["runtimeClassName"] = runtime_class
        if command:
            pod["containers"][0]["command"] = command
            del pod["containers"][0]["readinessProbe"]
        pool = {"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxWarmPool", "metadata": {"name": name, "namespace": self.ns},
                "spec": {"replicas": 0, "sandboxTemplateRef": {"name": name}}}
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": [template, pool]})

    def test_no_pod_ip(self):
        """The IP is taken out of what the API server says; it is not looked for elsewhere."""
        self.box("no-ip")
        proxy, config = self.proxy()
        original = proxy.server.RequestHandlerClass

        class Without(original):
            def whole(self, code, body, headers):
                super().whole(code, re.sub(rb'"(podIPs?|hostIPs?|ip)":("[^"]*"|\[[^\]]*\])', rb'"was":0', body), headers)

            def chunk(self, data):
                super().chunk(re.sub(rb'"(podIPs?|hostIPs?|ip)":("[^"]*"|\[[^\]]*\])', rb'"was":0', data))

        proxy.server.RequestHandlerClass = Without
        self.refused("sandbox.no_address", 125, "has no pod IP", "in-cluster-pod-ip", "no-ip", config)
        self.assertEqual(self.forwards(proxy), [])

    def test_pod_is_replaced(self):
        """In the dashboard: what is open ends with the reason, and a new shell goes to the new pod."""
        before = self.box("moving")["pod"]
        for mode in ("in-cluster-pod-ip", "port-forward"):
            with self.subTest(mode):
                scr = self.dash("--connectivity", mode)
                scr.wait_for(re.compile(r"moving +\S Ready"))
                scr.type("/moving\rs")
                scr.wait_for(re.compile(r"[$#] *$", re.M))
                self.kubectl("-n", self.ns, "delete", "pod", before, "--wait=false")
                scr.wait_for(re.compile(r"the pod of sandbox \S+ was (replaced|deleted)"))
                self.sm("--connectivity", mode, "run", "moving", "--", "true", timeout=60, check=0)

    def test_port_forward_is_denied(self):
        self.box("denied")
        for name, rules, words in (("none", READ, "pods/portforward"), ("only-create", [*READ, forward("create")], "get"), ("only-get", [*READ, forward("get")], "create")):
            with self.subTest(name):
                config = self.config({"token": self.service_account(name, rules)})
                took = self.refused("portfwd.denied", 125, words, "port-forward", "denied", config)
                self.assertLess(took, 25)  # not waited out
        config = self.config({"token": self.service_account("both", [*READ, forward("get", "create")])})
        self.assertEqual(self.sm("run", "denied", "--", "echo", "in", config=config, check=0).out, "in\n")
        # the same rights do not matter to another way
        config = self.config({"token": self.service_account("none", READ)})
        self.assertEqual(self.sm("--connectivity", "in-cluster-pod-ip", "run", "denied", "--", "echo", "in", config=config, check=0).out, "in\n")

    def test_gvisor(self):
        for name, handler in (("gvisor", "runsc"), ("kata-qemu", "kata")):
            with self.subTest(name):
                self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": handler}))
                self.addCleanup(self.kubectl, "delete", "runtimeclass", name, "--ignore-not-found")
                self.kubectl("apply", "-f", "-", stdin=self.template(name, runtime_class=name))
                self.claim(f"on-{name}", name)  # there is no such runtime on the node: its pod never starts
                box = wait_until(lambda: self.cluster.get("-n", self.ns, "sandboxclaim", f"on-{name}").get("status", {}).get("sandbox", {}).get("name"), "a Sandbox")
                pod = wait_until(lambda: self.kubectl("-n", self.ns, "get", "pod", box, "--ignore-not-found", "-o", "name"), "a pod")
                self.assertTrue(pod)
                self.say_ready(f"on-{name}", box, name)

    def say_ready(self, claim, box, runtime_class):
        """The API server's answers with Ready in the place of what the controller says."""
        proxy, config = self.proxy()
        original = proxy.server.RequestHandlerClass

        def ready(text: bytes) -> bytes:
            def one(obj):
                if obj.get("kind") in ("SandboxClaim", "Sandbox") and "generation" in obj["metadata"]:  # not a bookmark
                    obj.setdefault("status", {})["conditions"] = [{"type": "Ready", "status": "True", "reason": "DependenciesReady", "message": "",
                                                                   "observedGeneration": obj["metadata"]["generation"], "lastTransitionTime": "2026-01-01T00:00:00Z"}]
                return obj
            try:
                value = json.loads(text)
            except ValueError:
                return text
            if value.get("kind", "").endswith("List"):
                kind = value["kind"][:-4]
                value["items"] = [one({"kind": kind, **i}) for i in value["items"]]
            elif "object" in value:
                one(value["object"])
            else:
                one(value)
            return json.dumps(value).encode()

        class Ready(original):
            def whole(self, code, body, headers):
                super().whole(code, ready(body), headers)

            rest = b""

            def chunk(self, data):
                *lines, self.rest = (self.rest + data).split(b"\n")  # an event may come in pieces
                if lines:
                    super().chunk(b"".join(ready(line) + b"\n" for line in lines))

        proxy.server.RequestHandlerClass = Ready
        took = self.refused("portfwd.runtime", 125, rf"{runtime_class}, where a port-forward cannot reach.*in-cluster-pod-ip", "port-forward", claim, config)
        self.assertLess(took, 25)
        self.assertEqual(self.forwards(proxy), [])

    def test_daemon_on_loopback_by_pod_ip(self):
        """The released daemon listens on the pod's loopback: refused, with the hint, and not by port-forward instead."""
        self.box("loop", "loopback")
        proxy, config = self.proxy()
        took = self.refused("conn.refused", 125, "does it listen on this address", "in-cluster-pod-ip", "loop", config)
        self.assertLess(took, 45)
        self.assertEqual(self.forwards(proxy), [])
        self.assertEqual(self.sm("run", "loop", "--", "echo", "in", check=0).out, "in\n")  # the default reaches it

    def test_plaintext_token(self):
        self.box("token")
        token = self.tmp / "daemon-token"
        token.write_text("very-secret-token\n")
        args = ("--daemon-token-file", str(token))
        self.refused("conn.plaintext_token", 125, "--allow-plaintext-token", "in-cluster-pod-ip", "token", args=args)
        allowed = self.sm("--connectivity", "in-cluster-pod-ip", *args, "--allow-plaintext-token", "run", "token", "--", "echo", "in", check=0)
        self.assertEqual(allowed.out, "in\n")
        # a port-forward is TLS as far as the node
        self.assertEqual(self.sm(*args, "run", "token", "--", "echo", "in", check=0).out, "in\n")

    def guarded(self, name):
        """A sandbox whose daemon asks for a token. The released one asks for none, so it is ours, put into a waiting pod."""
        program = Path(BIN).with_name("sandmux-sandboxd")
        libraries = re.findall(r"(/\S+)\s+\(0x", subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout)
        archive = self.tmp / "daemon.tar"
        with tarfile.open(archive, "w", dereference=True) as tar:
            for path in (program, *libraries):
                tar.add(path, f".daemon/{Path(path).name}")
            info = tarfile.TarInfo(".daemon/token")
            info.size, info.mode = len("right-token"), 0o600
            tar.addfile(info, io.BytesIO(b"right-token"))
        start = (f"while [ ! -e .daemon/go ]; do sleep 0.1; done; cd .daemon; exec ./{loader(libraries)} --library-path . ./sandmux-sandboxd "
                 "--root-dir /workspace --listen-host 0.0.0.0 --auth-token-file token")
        self.kubectl("apply", "-f", "-", stdin=self.template("guarded", command=["sh", "-c", start]))
        self.claim(name, "guarded")
        self.addCleanup(self.sm, "rm", name, "--yes")
        pod = wait_until(lambda: self.cluster.get("-n", self.ns, "sandboxclaim", name).get("status", {}).get("sandbox", {}).get("name"), "a Sandbox")
        wait_until(lambda: self.kubectl("-n", self.ns, "get", "pod", pod, "--ignore-not-found", "-o", "jsonpath={.status.phase}") == "Running", "its pod", 60)
        with open(archive, "rb") as tar:
            subprocess.run([bed_path("kubectl"), f"--kubeconfig={self.cluster.kubeconfig}", "-n", self.ns, "exec", "-i", pod, "--",
                            "sh", "-c", "tar xf - && touch .daemon/go"], stdin=tar, check=True, timeout=60)

    def test_wrong_token(self):
        self.guarded("guarded")
        token = self.tmp / "daemon-token"
        for mode in ("port-forward", "in-cluster-pod-ip"):
            args = ("--daemon-token-file", str(token), "--allow-plaintext-token")
            token.write_text("right-token")
            self.assertEqual(self.sm("--connectivity", mode, *args, "run", "guarded", "--", "echo", "in", check=0, timeout=60).out, "in\n")
            token.write_text("wrong-token")
            for verb, status in ((None, 125), (("files", "ls", "guarded:"), 4)):
                took = self.refused("runtime.auth", status, "token", mode, "guarded", args=args, verb=verb)
                self.assertLess(took, 25)
                took = self.refused("runtime.auth", status, "token", mode, "guarded", verb=verb)  # none at all
                self.assertLess(took, 25)

    def test_doctor_tries_each_way(self):
        self.box("patient", "loopback")  # its daemon listens on the pod's loopback
        found = {f["check"]: (f["level"], f["found"]) for f in json.loads(self.sm("doctor", "-o", "json", timeout=60, check=0).out)}
        self.assertEqual(found["route to a sandbox by port-forward"], ("ok", "ok"))
        self.assertEqual(found["also by in-cluster-service"][0], "skipped")
        self.assertRegex(found["also by in-cluster-service"][1], "not from here: sandbox .* has no Service")
        self.assertEqual(found["also by in-cluster-pod-ip"][0], "skipped")
        self.assertRegex(found["also by in-cluster-pod-ip"][1], "not from here: .*Failed to connect.*does it listen on this address")
        self.assertEqual(found["TLS"][0], "ok")

    def test_suspended_and_missing(self):
        self.box("asleep")
        self.sm("suspend", "asleep", check=0, timeout=60)
        for mode in ("port-forward", "in-cluster-pod-ip", "in-cluster-service"):
            self.refused("sandbox.suspended", 125, "is suspended; resume it first", mode, "asleep")
            r = self.sm("--connectivity", mode, "run", "no-such-one", "--", "true")
            self.assertRegex(r.err, r"^sandmux: claim.not_found: .*no-such-one")
            self.assertIn(r.code, (3, 125, 127))
        self.sm("resume", "asleep", check=0, timeout=90)
        self.assertEqual(self.sm("run", "asleep", "--", "echo", "up", check=0).out, "up\n")

    def test_a_mode_that_is_not_known(self):
        r = self.sm("--connectivity", "carrier-pigeon", "ls")
        self.assertEqual(r.code, 2)
        self.assertIn("carrier-pigeon", r.err)


if __name__ == "__main__":
    main()
