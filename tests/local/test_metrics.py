# SPDX-License-Identifier: Apache-2.0
"""metrics.k8s.io and the node: what sandboxes use, as the API says it and as the real kubectl shows it."""
import json
import re
import time

from harness.case import Case, main
from harness.sandmux import BIN, home_env, run

from backend import Backend, wait_for

METRICS = "/apis/metrics.k8s.io/v1beta1"
BUSY = "import time\nend=time.process_time()+600\nb=bytearray(64<<20)\nwhile time.process_time()<end: pass\n"


def cpu_milli(usage):
    n = re.fullmatch(r"(\d+)n", usage["cpu"])
    return int(n[1]) / 1e6


class Metrics(Case):
    def setUp(self):
        self.backend = Backend(self.tmp / "state", warm=0)
        self.addCleanup(self.backend.stop)

    def usage(self, pod):
        r = self.backend.get(f"{METRICS}/namespaces/default/pods/{pod}")
        return r.json["containers"][0]["usage"] if r.code == 200 else None

    def ready(self, name, **metadata):
        sandbox = self.backend.ready_claim(name, **metadata)["status"]["sandbox"]["name"]
        wait_for("its metrics", lambda: self.usage(sandbox))
        return sandbox

    def test_discovery(self):
        groups = [g["name"] for g in self.backend.get("/apis").json["groups"]]
        self.assertIn("metrics.k8s.io", groups)
        self.assertEqual(self.backend.get("/apis/metrics.k8s.io").json["preferredVersion"]["groupVersion"], "metrics.k8s.io/v1beta1")
        listed = {r["name"]: r for r in self.backend.get(METRICS).json["resources"]}
        self.assertEqual({n: (r["kind"], r["namespaced"], r["verbs"]) for n, r in listed.items()},
                         {"pods": ("PodMetrics", True, ["get", "list"]), "nodes": ("NodeMetrics", False, ["get", "list"])})
        for path, code in (("/widgets", 404), ("/pods/x", 404), ("/namespaces/default/nodes", 404), ("/nodes/x", 404), ("/pods/x/y", 404)):
            self.assertEqual(self.backend.get(METRICS + path).code, code, path)
        self.assertEqual(self.backend.call("DELETE", METRICS + "/pods").code, 405)
        self.assertEqual(self.backend.get(METRICS + "/pods", watch="true").code, 405)
        r = self.backend.call("GET", METRICS + "/pods", headers={"Accept": "application/vnd.kubernetes.protobuf"})
        self.assertEqual(r.code, 406)

    def test_pods(self):
        first, second = self.ready("c1"), self.ready("c2")
        listed = self.backend.get(METRICS + "/pods").json
        self.assertEqual(listed["kind"], "PodMetricsList")
        self.assertEqual({i["metadata"]["name"] for i in listed["items"]}, {first, second})
        item = next(i for i in listed["items"] if i["metadata"]["name"] == first)
        pod = self.backend.get(f"/api/v1/namespaces/default/pods/{first}").json
        self.assertEqual(item["metadata"]["labels"], pod["metadata"]["labels"])
        self.assertEqual(item["containers"][0]["name"], pod["spec"]["containers"][0]["name"])
        self.assertRegex(item["timestamp"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertRegex(item["window"], r"^\d+\.\d{3}s$")
        key, value = next(iter(pod["metadata"]["labels"].items()))
        same = {p["metadata"]["name"] for p in self.backend.get("/api/v1/pods", labelSelector=f"{key}={value}").json["items"]}
        chosen = self.backend.get(METRICS + "/namespaces/default/pods", labelSelector=f"{key}={value}").json["items"]
        self.assertEqual({i["metadata"]["name"] for i in chosen}, same)
        chosen = self.backend.get(METRICS + "/pods", fieldSelector=f"metadata.name={second}").json["items"]
        self.assertEqual([i["metadata"]["name"] for i in chosen], [second])
        self.assertEqual(self.backend.get(METRICS + "/namespaces/other/pods").json["items"], [])
        self.assertEqual(self.backend.get(METRICS + "/pods", labelSelector="a in").code, 400)
        r = self.backend.get(METRICS + "/namespaces/default/pods/nope")
        self.assertEqual((r.code, r.json["message"]), (404, 'podmetrics.metrics.k8s.io "default/nope" not found'))
        # protobuf first, as client-go asks, falls back
        r = self.backend.call("GET", METRICS + "/pods", headers={"Accept": "application/vnd.kubernetes.protobuf,application/json"})
        self.assertEqual((r.code, r.headers["Content-Type"]), (200, "application/json"))

    def test_what_is_used_is_seen(self):
        pod = self.ready("busy")
        address = self.backend.get(f"/api/v1/namespaces/default/pods/{pod}").json["status"]["podIP"]
        self.assertLess(cpu_milli(self.usage(pod)), 100)
        r = self.backend.daemon(address, "PUT", "/v1/files/busy.py", BUSY.encode())
        self.assertLess(r.code, 300, r.body)
        self.backend.daemon(address, "PUT", "/v1/files/data.bin", bytes(3 << 20))
        from harness.sandmux import BIN
        import os
        import subprocess
        job = subprocess.Popen([BIN, "run", "busy", "--", "python3", "busy.py"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env={**os.environ, "KUBECONFIG": str(self.backend.kubeconfig), "HOME": str(self.tmp)})
        try:
            # two cores and others beside it: far from idle is what can be told
            wait_for("it is busy", lambda: cpu_milli(self.usage(pod)) > 150)
            wait_for("and large", lambda: int(self.usage(pod)["memory"].removesuffix("Ki")) > 60 << 10)
        finally:
            job.kill()
            job.wait()
        wait_for("the workspace is counted", lambda: int(self.usage(pod).get("ephemeral-storage", 0)) >= 3 << 20, timeout=90)
        self.backend.call("DELETE", "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/default/sandboxclaims/busy")
        wait_for("its metrics go with it", lambda: self.usage(pod) is None)

    def test_top_and_the_list_show_it(self):
        env = {**home_env(self.tmp), "KUBECONFIG": str(self.backend.kubeconfig)}
        pod = self.ready("c1")
        address = self.backend.get(f"/api/v1/namespaces/default/pods/{pod}").json["status"]["podIP"]
        self.assertLess(self.backend.daemon(address, "PUT", "/v1/files/data.bin", bytes(3 << 20)).code, 300)

        def top():
            r = run("top", "c1", "-o", "json", env=env)
            self.assertEqual(r.code, 0, r.err)
            return json.loads(r.out)["items"][0]

        wait_for("the workspace is counted", lambda: (top()["diskBytes"] or 0) >= 3 << 20, timeout=90)
        item = top()
        self.assertEqual((item["cpuLimitMillis"], item["memoryLimitBytes"], item["diskLimitBytes"]), (2000, 2 << 30, 10 << 30))
        self.assertGreater(item["memoryBytes"], 1 << 20)
        self.assertIsNotNone(item["cpuMillis"])
        scr = self.screen([BIN, "--set", "usage-interval=1s"], rows=24, cols=140, env=env)
        scr.wait_for(re.compile(r"c1 .*Ready .*\d+% .*\d+% "))
        self.assertIn("CPU", next(line for line in scr.lines() if "STATE" in line))
        # without a pod nothing is used
        run("suspend", "c1", env=env, check=0)
        self.assertEqual([top()[key] for key in ("cpuMillis", "memoryBytes", "diskBytes")], [None] * 3)

    def test_requests_and_limits_of_the_pod(self):
        pod = self.backend.get(f"/api/v1/namespaces/default/pods/{self.ready('c1')}").json
        resources = pod["spec"]["containers"][0]["resources"]
        self.assertEqual(resources["requests"], resources["limits"])
        self.assertEqual(pod["status"]["qosClass"], "Guaranteed")

    def test_kubectl_top(self):
        self.need_bed("kubectl")
        k = self.backend.kubectl
        pod = self.ready("c1")
        self.assertRegex(k("top", "pod"), rf"^NAME +CPU\(cores\) +MEMORY\(bytes\) *\n{pod} +\d+m +\d+Mi")
        self.assertRegex(k("top", "pod", pod, "--containers"), rf"{pod} +sandbox +\d+m +\d+Mi")
        self.assertRegex(k("top", "pod", "-A", "--sort-by=cpu", "--no-headers"), rf"^default +{pod} ")
        self.assertIn("not found", k("top", "pod", "nope", check=False).stderr)
        wait_for("the node's", lambda: k("top", "node", check=False).returncode == 0)
        self.assertRegex(k("top", "node"), r"sandmux-local +\d+m +\d+% +\d+Mi +\d+%")

    def test_node(self):
        self.need_bed("kubectl")
        k = self.backend.kubectl
        self.assertRegex(k("get", "nodes", "-o", "wide"), r"sandmux-local +Ready +<none> .* sandmux://")
        pod = self.ready("c1")
        text = k("describe", "node", "sandmux-local")
        self.assertIn(pod, text)
        self.assertIn("KubeletReady", text)
        since = self.backend.get("/api/v1/nodes/sandmux-local").json["metadata"]["uid"]
        self.backend.stop()
        time.sleep(0.1)
        self.backend.start()
        self.assertEqual(self.backend.get("/api/v1/nodes/sandmux-local").json["metadata"]["uid"], since)


main()
