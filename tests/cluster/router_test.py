# SPDX-License-Identifier: Apache-2.0
"""The real sandbox-router: in a pod behind its Service, reached by port-forward, and on this host at a URL, where it has
the API server review tokens."""
import json
import os
import subprocess
import urllib.request

from cluster_case import ClusterCase, NoListener, wait_until
from harness import bed_path, free_port, main
from harness.bed import need_bed

POD = """
apiVersion: v1
kind: Pod
metadata: {name: NAME, namespace: NS, labels: {app: sandbox-router}}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  terminationGracePeriodSeconds: 1
  containers:
  - name: router
    image: localhost/sandbox:bed
    imagePullPolicy: Never
    command: [/usr/local/bin/sandbox-router, --http-bind-address=:8080, --health-probe-bind-address=:8090, --metrics-bind-address=:8091]
    readinessProbe: {httpGet: {path: /healthz, port: 8080}, periodSeconds: 1}
"""
SERVICE = """
apiVersion: v1
kind: Service
metadata: {name: sandbox-router-svc, namespace: NS}
spec: {selector: {app: sandbox-router}, ports: [{name: http, port: 8080, targetPort: 8080}]}
"""


class RouterInAPod(ClusterCase):
    where = ("--router-service", "sandbox-router-svc")

    def setUp(self):
        super().setUp()
        self.need(bed_path("sandbox-router"), "sandbox-router is not built: tests/bed/build.sh node")
        self.pools()

    def start(self, ns, name="router"):
        self.kubectl("apply", "-f", "-", stdin=POD.replace("NAME", name).replace("NS", ns) + "---" + SERVICE.replace("NS", ns))
        self.kubectl("-n", ns, "wait", "--for=condition=Ready", f"pod/{name}", "--timeout=60s")

    def test_files_through_it(self):
        self.start(self.ns)
        self.created("box")
        quiet = NoListener()
        self.addCleanup(quiet.stop)
        data = os.urandom(300_000)
        (self.tmp / "up").write_bytes(data)
        self.sm(*self.where, "cp", self.tmp / "up", "box:data", check=0)
        self.sm(*self.where, "cp", "box:data", self.tmp / "down", check=0)
        self.assertEqual((self.tmp / "down").read_bytes(), data)
        self.assertIn("data", self.sm(*self.where, "files", "ls", "box:", check=0).out)
        # the same bytes by another way: it was this sandbox
        self.assertEqual(self.sm("run", "box", "--", "stat", "-c", "%s", "data", check=0).out, "300000\n")
        # no processes there, and no port-forward to the sandbox instead
        r = self.sm(*self.where, "run", "box", "--", "true")
        self.assertRegex(r.err, "^sandmux: op.unsupported: ")
        self.assertEqual(quiet.seen, [])

    def test_another_namespace_and_a_new_pod(self):
        other = self.cluster.namespace()
        self.addCleanup(other.__exit__)
        wait_until(lambda: self.kubectl("-n", other, "get", "serviceaccount", "default", "--ignore-not-found"), "service account")
        self.created("box")
        where = (*self.where, "--router-namespace", other)
        r = self.sm(*where, "files", "ls", "box:", timeout=60)
        self.assertRegex(r.err, rf"^sandmux: router.backend: .*the Service {other}/sandbox-router-svc has no ready pod")
        self.assertEqual(r.code, 6)
        self.start(other)
        self.sm(*where, "files", "ls", "box:", check=0)
        self.kubectl("-n", other, "delete", "pod", "router")
        self.start(other, "second")
        self.sm(*where, "files", "ls", "box:", check=0, timeout=60)

    def test_endpoints_may_not_be_read(self):
        self.start(self.ns)
        self.created("box")
        token = self.service_account("few", [{"apiGroups": ["extensions.agents.x-k8s.io", "agents.x-k8s.io"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
                                             {"apiGroups": [""], "resources": ["pods", "events"], "verbs": ["get", "list", "watch"]}])
        r = self.sm(*self.where, "files", "ls", "box:", config=self.config({"token": token}), timeout=60)
        self.assertRegex(r.err, r"^sandmux: kube.forbidden: .*endpointslices")
        self.assertNotIn(token, r.err)


class RouterOnTheHost(ClusterCase):
    def setUp(self):
        super().setUp()
        self.need(bed_path("sandbox-router"), "sandbox-router is not built: tests/bed/build.sh node")
        self.pools()
        http, probe, metrics = (f"127.0.0.1:{free_port()}" for _ in range(3))
        self.url = f"http://{http}"
        p = subprocess.Popen([need_bed("sandbox-router"), f"--http-bind-address={http}", f"--health-probe-bind-address={probe}",
                              f"--metrics-bind-address={metrics}", f"--kubeconfig={self.cluster.kubeconfig}", "--authz-mode=tokenreview",
                              "--authz-tokenreview-require-token", "--authz-tokenreview-ttl=1s"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (p.terminate(), p.wait(20)))

        def up():
            try:
                return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{self.url}/healthz", timeout=2).status == 200
            except OSError:
                return False
        wait_until(up, "the router")

    def test_its_token(self):
        self.created("box")
        token = self.tmp / "token"
        token.write_text(self.service_account("caller"))
        where = ("--router-url", self.url, "--router-token-file", token)
        self.sm("cp", "-", "box:f", stdin=b"by another way", check=0)
        self.assertEqual(self.sm(*where, "files", "cat", "box:f", check=0).out, "by another way")
        # without one, and with a wrong one: the router's own words, at once
        r = self.sm("--router-url", self.url, "files", "cat", "box:f")
        self.assertRegex(r.err, r"^sandmux: router.rejected: the router says: .*401")
        self.assertEqual((r.code, r.out), (4, ""))
        token.write_text("not-a-token")
        r = self.sm(*where, "files", "cat", "box:f")
        self.assertRegex(r.err, r"^sandmux: router.rejected: the router says: ")
        self.assertNotIn("not-a-token", r.err)
        # nobody's sandbox
        token.write_text(self.token(self.account))
        claim = json.loads(self.sm("get", "box", "-o", "json", check=0).out)
        self.kubectl("-n", self.ns, "delete", "pod", claim["pod"], "--wait=false")
        self.sm(*where, "files", "ls", "box:", timeout=90, check=0)  # the new pod


if __name__ == "__main__":
    main()
