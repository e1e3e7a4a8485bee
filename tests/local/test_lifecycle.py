# SPDX-License-Identifier: Apache-2.0
"""What the controllers do with claims, sandboxes and pools."""
import contextlib
import datetime
import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from harness.case import Case, main

from backend import CLAIMS, PODS, POOLS, SANDBOXES, TEMPLATES, Backend, claim, condition, is_ready, wait_for


def soon(seconds):
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


class Lifecycle(Case):
    def setUp(self):
        self.b = Backend(self.tmp / "state")
        self.addCleanup(self.b.stop)

    def warm(self, n=1):
        wait_for("warm sandboxes", lambda: self.b.object(POOLS + "/local").get("status", {}).get("readyReplicas") == n)

    def reason(self, name):
        return condition(self.b.object(f"{CLAIMS}/{name}")).get("reason")

    def warm_start(self, name):
        """A claim on a warm sandbox: its states as they came, and the time until it was Ready."""
        self.warm()
        w = self.b.watch(CLAIMS, fieldSelector=f"metadata.name={name}", resourceVersion=self.b.get(CLAIMS).json["metadata"]["resourceVersion"])
        start = time.monotonic()
        self.b.create(CLAIMS, claim(name))
        wait_for("Ready", lambda: [e for e in w.events if is_ready(e["object"])])
        took = time.monotonic() - start
        w.close()
        self.assertEqual(w.events[0]["type"], "ADDED")
        return [e["object"] for e in w.events], took

    def test_warm_start_sequence(self):
        objects, took = self.warm_start("c1")
        self.assertNotIn("status", objects[0])
        first = next(i for i, o in enumerate(objects) if "agents.x-k8s.io/controller-first-observed-at" in o["metadata"].get("annotations", {}))
        named = next(i for i, o in enumerate(objects) if "agents.x-k8s.io/sandbox-name" in o["metadata"].get("annotations", {}))
        bound = next(i for i, o in enumerate(objects) if o.get("status", {}).get("sandbox", {}).get("name"))
        self.assertTrue(0 < first < named < bound, (first, named, bound))
        self.assertTrue(is_ready(objects[bound]), "name and Ready come in one write")
        self.assertTrue(objects[bound]["status"]["sandbox"]["podIPs"])
        sandbox = self.b.object(f"{SANDBOXES}/{objects[bound]['status']['sandbox']['name']}")
        labels = sandbox["metadata"]["labels"]
        self.assertEqual(labels["agents.x-k8s.io/claim-uid"], objects[0]["metadata"]["uid"])
        self.assertEqual(labels["agents.x-k8s.io/launch-type"], "warm")
        self.assertNotIn("agents.x-k8s.io/warm-pool-sandbox", labels)
        owner = sandbox["metadata"]["ownerReferences"]
        self.assertEqual([(o["kind"], o["name"], o["controller"]) for o in owner], [("SandboxClaim", "c1", True)])
        # what it takes here is what the fastest of some takes: the others are the machine's doing
        times = [took]
        while min(times) >= 0.3 and len(times) < 10:
            times.append(self.warm_start(f"again-{len(times)}")[1])
        print(f"warm create to ready: {min(times) * 1000:.0f} ms")
        self.assertLess(min(times), 0.3, times)
        self.warm()

    def test_cold_start_with_env(self):
        got = self.b.ready_claim("cold", env=[{"name": "COLOUR", "value": "red"}])
        self.assertEqual(got["status"]["sandbox"]["name"], "cold")
        sandbox = self.b.object(SANDBOXES + "/cold")
        self.assertEqual(sandbox["metadata"]["labels"]["agents.x-k8s.io/launch-type"], "cold")
        env = sandbox["spec"]["podTemplate"]["spec"]["containers"][0]["env"]
        self.assertIn({"name": "COLOUR", "value": "red"}, env)

    def test_env_policies(self):
        self.b.merge(TEMPLATES + "/local", {"spec": {"envVarsInjectionPolicy": "Disallowed"}})
        self.b.create(CLAIMS, claim("a", env=[{"name": "A", "value": "1"}]))
        wait_for("it is refused", lambda: self.reason("a") == "EnvVarsInjectionRejected")
        self.b.merge(TEMPLATES + "/local", {"spec": {"envVarsInjectionPolicy": "Allowed"}})
        self.b.create(CLAIMS, claim("b", env=[{"name": "SANDBOX_KIND", "value": "other"}]))
        wait_for("it may not change a value", lambda: self.reason("b") == "ReconcilerError")
        self.b.ready_claim("c", env=[{"name": "NEW", "value": "1"}])
        self.b.create(CLAIMS, claim("d", env=[{"name": "A", "value": "1", "containerName": "nope"}]))
        wait_for("unknown container", lambda: "nope" in condition(self.b.object(CLAIMS + "/d")).get("message", ""))

    def test_reasons_of_failure(self):
        self.b.create(CLAIMS, claim("nopool", pool="missing"))
        wait_for("no pool", lambda: self.reason("nopool") == "WarmPoolNotFound")
        self.assertEqual(condition(self.b.object(CLAIMS + "/nopool"))["message"], 'SandboxWarmPool "missing" not found')
        self.b.create(POOLS, {"metadata": {"name": "blank"}, "spec": {"replicas": 1, "sandboxTemplateRef": {"name": "none"}}})
        self.b.create(CLAIMS, claim("notemplate", pool="blank"))
        wait_for("no template", lambda: self.reason("notemplate") == "TemplateNotFound")
        # the pool is another controller's, which may come to it later
        wait_for("it is told", lambda: "WarmPoolNotProgressing" in {e["reason"] for e in self.b.get(
            "/api/v1/namespaces/default/events", fieldSelector="involvedObject.name=blank").json["items"]})
        self.assertNotIn("replicas", wait_for("its status", lambda: self.b.object(POOLS + "/blank").get("status")))
        for name, metadata in (("m1", {"labels": {"example.org/x": "1"}}), ("m2", {"annotations": {"sub.k8s.io/x": "1"}}),
                               ("m3", {"labels": {"sandbox.users.io/x": "not ok!"}})):
            self.b.create(CLAIMS, claim(name, additionalPodMetadata=metadata))
            wait_for(name, lambda: self.reason(name) == "InvalidMetadata")
        self.b.create(CLAIMS, claim("v", volumeClaimTemplates=[{"metadata": {"name": "x"}, "spec": {}}]))
        wait_for("volumes", lambda: self.reason("v") == "VolumeClaimTemplatesError")
        # the two that can heal do so when the object appears
        self.b.create(POOLS, {"metadata": {"name": "missing"}, "spec": {"replicas": 0, "sandboxTemplateRef": {"name": "local"}}})
        wait_for("healed", lambda: is_ready(self.b.object(CLAIMS + "/nopool")))

    def test_pod_metadata_reaches_the_running_pod(self):
        self.warm()
        got = self.b.ready_claim("c1", additionalPodMetadata={"labels": {"sandbox.users.io/team": "red"}, "annotations": {"example.org/a": "b"}})
        pod = wait_for("label on the pod", lambda: (lambda p: p if p and "sandbox.users.io/team" in p["metadata"]["labels"] else None)(
            self.b.object(f"{PODS}/{got['status']['sandbox']['name']}")))
        self.assertEqual(pod["metadata"]["annotations"]["example.org/a"], "b")
        self.assertEqual(pod["metadata"]["annotations"]["agents.x-k8s.io/propagated-labels"], "sandbox.users.io/team")

    def test_suspend_and_resume_keep_the_workspace(self):
        got = self.b.ready_claim("c1")
        name, ip = got["status"]["sandbox"]["name"], got["status"]["sandbox"]["podIPs"][0]
        self.assertEqual(self.b.daemon(ip, "PUT", "/v1/files/kept.txt", b"kept").code, 204)
        pod = self.b.object(f"{PODS}/{name}")
        r = self.b.merge(f"{SANDBOXES}/{name}", {"spec": {"operatingMode": "Suspended"}}).json
        self.assertEqual(r["metadata"]["generation"], 2)
        self.assertEqual(condition(r)["observedGeneration"], 1)
        s = wait_for("Suspended", lambda: (lambda o: o if condition(o, "Suspended").get("status") == "True" else None)(self.b.object(f"{SANDBOXES}/{name}")))
        self.assertEqual((condition(s, "Suspended")["reason"], condition(s)["reason"]), ("PodTerminated", "SandboxSuspended"))
        self.assertEqual(condition(s)["observedGeneration"], 2)
        self.assertNotIn("podIPs", s["status"])
        self.assertEqual(condition(s, "PodScheduled"), {})
        self.assertIsNone(self.b.object(f"{PODS}/{name}"))
        self.assertFalse(is_ready(wait_for("the claim knows", lambda: (lambda o: o if not is_ready(o) else None)(self.b.object(CLAIMS + "/c1")))))
        self.b.merge(f"{SANDBOXES}/{name}", {"spec": {"operatingMode": "Running"}})
        s = wait_for("Ready again", lambda: (lambda o: o if is_ready(o) and condition(o)["observedGeneration"] == 3 else None)(self.b.object(f"{SANDBOXES}/{name}")))
        again = self.b.object(f"{PODS}/{name}")
        self.assertNotEqual(again["metadata"]["uid"], pod["metadata"]["uid"])
        self.assertNotEqual(again["status"]["podIP"], ip)
        self.assertEqual(self.b.daemon(again["status"]["podIP"], "GET", "/v1/files/kept.txt").body, b"kept")

    def test_expiry(self):
        self.b.create(CLAIMS, claim("gone", lifecycle={"shutdownTime": soon(2), "shutdownPolicy": "Delete"}))
        self.b.create(CLAIMS, claim("front", lifecycle={"shutdownTime": soon(2), "shutdownPolicy": "DeleteForeground"}))
        kept = self.b.ready_claim("kept")
        self.b.merge(CLAIMS + "/kept", {"spec": {"lifecycle": {"shutdownTime": soon(1)}}})
        wait_for("gone goes", lambda: self.b.object(CLAIMS + "/gone") is None)
        wait_for("front goes", lambda: self.b.object(CLAIMS + "/front") is None)
        o = wait_for("kept has expired", lambda: (lambda o: o if condition(o)["reason"] == "ClaimExpired" else None)(self.b.object(CLAIMS + "/kept")))
        self.assertEqual((o["status"]["sandbox"], condition(o)["message"]), ({}, "Claim expired. Sandbox cleanup initiated."))
        wait_for("its sandbox is gone", lambda: self.b.object(f"{SANDBOXES}/{kept['status']['sandbox']['name']}") is None)

    def test_keep_alive_moves_the_end(self):
        for name in ("c1", "control"):
            self.b.ready_claim(name, lifecycle={"shutdownTime": soon(600), "shutdownPolicy": "Delete"})
        end = soon(3)
        for name in ("c1", "control"):
            self.assertEqual(self.b.merge(f"{CLAIMS}/{name}", {"spec": {"lifecycle": {"shutdownTime": end}}}).code, 200)
        self.assertEqual(self.b.merge(CLAIMS + "/c1", {"spec": {"lifecycle": {"shutdownTime": soon(600)}}}).code, 200)
        wait_for("the end of the other", lambda: self.b.object(CLAIMS + "/control") is None)
        self.assertTrue(is_ready(self.b.object(CLAIMS + "/c1")))

    def test_sandbox_deleted_underneath_is_replaced(self):
        got = self.b.ready_claim("c1")
        name = got["status"]["sandbox"]["name"]
        self.b.call("DELETE", f"{SANDBOXES}/{name}")
        o = wait_for("another one", lambda: (lambda o: o if is_ready(o) and o["status"]["sandbox"]["name"] != name else None)(self.b.object(CLAIMS + "/c1")))
        self.assertEqual(o["metadata"]["annotations"]["agents.x-k8s.io/sandbox-name"], o["status"]["sandbox"]["name"])

    def test_delete_cascades(self):
        got = self.b.ready_claim("c1")
        name = got["status"]["sandbox"]["name"]
        self.assertTrue(any((self.b.state / "volumes").iterdir()))
        self.b.call("DELETE", CLAIMS + "/c1")
        for path in (SANDBOXES, PODS):
            wait_for(f"{path} is gone", lambda: self.b.object(f"{path}/{name}") is None)
        wait_for("its volume is gone", lambda: self.b.object(f"/api/v1/namespaces/default/persistentvolumeclaims/workspace-{name}") is None)
        self.b.call("DELETE", POOLS + "/local")
        wait_for("no folder is left", lambda: not any(any((self.b.state / d).iterdir()) for d in ("volumes", "pods", "trash")))

    def test_standalone_sandbox_with_service(self):
        spec = {"podTemplate": {"spec": {"containers": [{"name": "c", "ports": [{"name": "rest", "containerPort": 8080}]}]}}, "service": True}
        self.b.create(SANDBOXES, {"metadata": {"name": "alone"}, "spec": spec})
        s = wait_for("Ready", lambda: (lambda o: o if is_ready(o) else None)(self.b.object(SANDBOXES + "/alone")))
        self.assertEqual(condition(s)["message"], "Pod is Ready; Service Exists")
        self.assertEqual(s["status"]["serviceFQDN"], "alone.default.svc.cluster.local")
        service = self.b.object("/api/v1/namespaces/default/services/alone")
        self.assertEqual((service["spec"]["clusterIP"], service["spec"]["ports"][0]["port"]), ("None", 8080))
        r = self.b.merge(SANDBOXES + "/alone", {"spec": {"volumeClaimTemplates": [{"metadata": {"name": "x"}, "spec": {}}]}})
        self.assertEqual(r.code, 422)
        self.b.merge(SANDBOXES + "/alone", {"spec": {"shutdownTime": soon(-5)}})
        s = wait_for("expired", lambda: (lambda o: o if condition(o)["reason"] == "SandboxExpired" else None)(self.b.object(SANDBOXES + "/alone")))
        wait_for("without its pod", lambda: self.b.object(PODS + "/alone") is None)

    def test_recreate_strategy_follows_the_template(self):
        self.warm()
        self.b.merge(POOLS + "/local", {"spec": {"updateStrategy": {"type": "Recreate"}}})
        old = self.b.get(SANDBOXES).json["items"][0]["metadata"]["name"]
        self.b.merge(TEMPLATES + "/local", {"spec": {"podTemplate": {"metadata": {"labels": {"v": "2"}}}}})
        wait_for("the old one goes", lambda: self.b.object(f"{SANDBOXES}/{old}") is None)
        wait_for("a new one comes", lambda: [p for p in self.b.get(PODS).json["items"] if p["metadata"]["labels"].get("v") == "2"])

    def test_finished_and_its_time_to_live(self):
        """A daemon that ends for good: PodFailed is forwarded, and the claim goes when its time is over."""
        self.b.merge(TEMPLATES + "/local", {"spec": {"podTemplate": {"spec": {"restartPolicy": "Never"}}}})
        self.b.merge(POOLS + "/local", {"spec": {"replicas": 0}})
        wait_for("no sandbox", lambda: not self.b.get(SANDBOXES).json["items"])
        w = self.b.watch(CLAIMS, resourceVersion=self.b.get(CLAIMS).json["metadata"]["resourceVersion"])
        self.addCleanup(w.close)
        self.b.ready_claim("once", lifecycle={"ttlSecondsAfterFinished": 1, "shutdownPolicy": "Delete"})
        for pid in subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.b.pid)], capture_output=True, text=True).stdout.split():
            with contextlib.suppress(ProcessLookupError):  # one of them may have been there for a moment only
                os.kill(int(pid), signal.SIGKILL)
        wait_for("the claim goes", lambda: self.b.object(CLAIMS + "/once") is None)
        finished = wait_for("Finished was seen", lambda: [condition(e["object"], "Finished") for e in w.events if condition(e["object"], "Finished")])
        self.assertEqual((finished[0]["status"], finished[0]["reason"]), ("True", "PodFailed"))

    def test_twenty_creators_at_once(self):
        self.warm()
        self.b.merge(POOLS + "/local", {"spec": {"replicas": 3}})
        self.warm(3)

        def one(i):
            return self.b.ready_claim(f"many-{i}")["status"]["sandbox"]["name"]

        with ThreadPoolExecutor(20) as pool:
            names = list(pool.map(one, range(20)))
        self.assertEqual(len(set(names)), 20)
        ips = [p["status"]["podIP"] for p in self.b.get(PODS).json["items"] if p["metadata"]["name"] in names]
        self.assertEqual(len(set(ips)), 20)
        with ThreadPoolExecutor(20) as pool:
            list(pool.map(lambda i: self.b.call("DELETE", f"{CLAIMS}/many-{i}"), range(20)))
        wait_for("all are gone", lambda: len(self.b.get(SANDBOXES).json["items"]) == 3, timeout=60)

    def test_a_network_policy_is_kept_and_said_not_to_hold(self):
        """On a write as a warning, as an event of the template, and by `local status`; and what is said is true."""
        template = self.b.get(TEMPLATES + "/local").json
        body = {"metadata": {"name": "walled"}, "spec": {"podTemplate": template["spec"]["podTemplate"],
                                                         "networkPolicy": {"egress": [{"to": [{"ipBlock": {"cidr": "0.0.0.0/0"}}]}]}}}
        r = self.b.create(TEMPLATES, body)
        self.assertEqual(r.code, 201)
        self.assertRegex(r.headers["Warning"], r'^299 - "spec.networkPolicy: kept, not enforced by the local backend: a local sandbox has no network at all')
        self.assertEqual(r.json["spec"]["networkPolicy"], body["spec"]["networkPolicy"])
        r = self.b.merge(TEMPLATES + "/walled", {"metadata": {"labels": {"a": "b"}}})
        self.assertIn("spec.networkPolicy", r.headers["Warning"])
        self.assertIsNone(self.b.get(TEMPLATES + "/walled").headers["Warning"])
        self.assertIsNone(self.b.merge(TEMPLATES + "/local", {"metadata": {"labels": {"a": "b"}}}).headers["Warning"])

        def events():
            return [e for e in self.b.get("/api/v1/events").json["items"] if e["reason"] == "NetworkPolicyNotEnforced"]
        event = wait_for("an event", events)[0]
        self.assertEqual((event["involvedObject"]["name"], event["type"]), ("walled", "Warning"))
        self.assertIn("no network at all", event["message"])
        # and so it is: the policy allows everything, and nothing is reached
        self.b.create(POOLS, {"metadata": {"name": "walled"}, "spec": {"replicas": 0, "sandboxTemplateRef": {"name": "walled"}}})
        self.b.create(CLAIMS, claim("inside", pool="walled"))
        wait_for("Ready", lambda: is_ready(self.b.object(CLAIMS + "/inside")))
        r = self.sandmux("--kubeconfig", self.b.kubeconfig, "run", "inside", "--", "sh", "-c", "cut -d: -f1 /proc/net/dev | tail -n +3")
        self.assertEqual(r.out.split(), ["lo"])
        status = self.sandmux("--state-dir", self.b.state, "local", "status")
        self.assertRegex(status.out, r"network +- +the kernel, by a namespace +network policies are not enforced: a local sandbox has no network at all")
        # it is said once, also after a restart
        self.b.stop()
        self.b.start()
        wait_for("it serves", lambda: self.b.object(TEMPLATES + "/walled"))
        self.assertEqual([e.get("count", 1) for e in events()], [1])


main()
