# SPDX-License-Identifier: Apache-2.0
"""Why a sandbox is not ready, made real: the real controller, scheduler, kubelet and container runtime say it, and sandmux says
what it means and what to do. (All causes, scripted: tests/tui/causes_test.py.)"""
import json
import time

from cluster_case import ClusterCase, wait_until
from harness import main




class Causes(ClusterCase):
    def pool(self, name: str, container: dict, replicas: int = 0, template: bool = True, **spec):
        """A pool without warm sandboxes, so that a claim starts a pod of its own, of this container."""
        container = {"name": "main", **self.sandboxd, **container}
        items = [{"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxWarmPool", "metadata": {"name": name, "namespace": self.ns},
                  "spec": {"replicas": replicas, "sandboxTemplateRef": {"name": name}}}]
        if template:
            items.append({"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxTemplate", "metadata": {"name": name, "namespace": self.ns},
                          "spec": {"podTemplate": {"spec": {"containers": [container], **spec.get("pod", {})}},
                                   **{k: v for k, v in spec.items() if k != "pod"}}})
        self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))

    def said(self) -> dict:
        return {i["claim"]: i for i in json.loads(self.sm("ls", "-o", "json", check=0).out)["items"]}

    def says(self, name: str, state: str, why: list, next_: str, timeout: float = 120):
        """Until it says so: the kubelet and the scheduler take their time."""
        last = {}

        def is_so():
            last.update(self.said().get(name, {}))
            return last.get("state") == state and all(w in (last["why"] or "") for w in why) and next_ in (last["next"] or "")
        try:
            wait_until(is_so, name, timeout)
        except AssertionError:
            raise AssertionError(f"{name}: wanted {state}, {why}, next {next_!r}; it says {last}") from None
        self.assertTrue(last["whySince"])
        out = self.sm("describe", name, check=0).out
        self.assertIn(f"Next          {last['next']}", out)

    def setUp(self):
        super().setUp()
        self.pools()
        ready = self.cluster.get("sandboxtemplate", "-n", self.ns)["items"][0]
        container = ready["spec"]["podTemplate"]["spec"]["containers"][0]
        self.sandboxd = {k: container[k] for k in ("image", "imagePullPolicy", "command", "args", "ports", "env") if k in container}

    def test_what_is_missing(self):
        self.claim("no-pool", "nowhere")
        self.pool("half", {}, template=False)
        self.claim("no-template", "half")
        self.says("no-pool", "Blocked", ["SandboxWarmPool nowhere does not exist"], "make SandboxWarmPool nowhere")
        self.says("no-template", "Blocked", ["SandboxTemplate half of SandboxWarmPool half does not exist"], "make SandboxTemplate half")

    def test_images(self):
        self.pool("pulled", {"image": "localhost:9/none:1", "imagePullPolicy": "Always"})
        self.pool("absent", {"image": "localhost/none:1", "imagePullPolicy": "Never"})
        self.pool("misnamed", {"image": "NOT/A:Name!", "imagePullPolicy": "Always"})
        for name in ("pulled", "absent", "misnamed"):
            self.claim(name, name)
        self.says("pulled", "Blocked", ["image localhost:9/none:1 cannot be pulled", "connection refused"], "look at the registry")
        self.says("absent", "Blocked", ["image localhost/none:1 cannot be pulled, it is not on the node", "ErrImageNeverPull"], "imagePullPolicy in SandboxTemplate absent")
        self.says("misnamed", "Blocked", ["image NOT/A:Name! cannot be pulled, it is no name of an image", "InvalidImageName"], "correct the image")

    def test_scheduling_and_volumes(self):
        self.pool("huge", {"resources": {"requests": {"memory": "900Ti"}}})
        self.pool("elsewhere", {}, pod={"nodeSelector": {"planet": "mars"}})
        claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "nowhere",
                                                        "resources": {"requests": {"storage": "1Gi"}}}}
        self.pool("disk", {"volumeMounts": [{"name": "data", "mountPath": "/data"}]}, volumeClaimTemplates=[claim])
        for name in ("huge", "elsewhere", "disk"):
            self.claim(name, name)
        self.says("huge", "Pending", ["no node takes it: 0/1 nodes are available: 1 Insufficient memory", "Unschedulable"], "ask for less in SandboxTemplate huge")
        self.says("elsewhere", "Pending", ["0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector"], "correct nodeSelector")
        self.says("disk", "Pending", ["PersistentVolumeClaim"], "torage class")

    def test_containers(self):
        self.pool("crash", {"command": ["/bin/sh", "-c", "exit 3"], "args": []})
        self.pool("oom", {"command": ["/bin/sh", "-c", "a=x; while :; do a=$a$a; done"], "args": [], "resources": {"limits": {"memory": "32Mi"}}})
        self.pool("nothing", {"command": ["/nope"], "args": []})
        self.pool("secret", {"env": [{"name": "T", "valueFrom": {"secretKeyRef": {"name": "token", "key": "t"}}}]})
        self.pool("probe", {"readinessProbe": {"exec": {"command": ["/bin/false"]}, "periodSeconds": 1}})
        self.pool("init", {}, pod={"initContainers": [{"name": "fetch", **{k: self.sandboxd[k] for k in ("image", "imagePullPolicy")},
                                                       "command": ["/bin/sh", "-c", "exit 7"]}]})
        for name in ("crash", "oom", "nothing", "secret", "probe", "init"):
            self.claim(name, name)
        self.says("crash", "Crashing", ["container main crashes: Error, exit code 3, restarted"], "read the logs of its last run")
        self.says("oom", "Crashing", ["container main crashes: out of memory (OOMKilled), exit code 137"], "raise the memory limit in SandboxTemplate oom")
        self.says("nothing", "Crashing", ["container main cannot start:", "/nope"], "correct command or image in SandboxTemplate nothing")
        self.says("secret", "Blocked", ['container main cannot be made: secret "token" not found'], f"make it in namespace {self.ns}")
        self.says("probe", "Creating", ["the readiness probe fails"], "the readiness probe in SandboxTemplate probe")
        self.says("init", "Crashing", ["init container fetch fails: Error, exit code 7"], "read the logs of its last run")
        # what is made heals
        self.kubectl("-n", self.ns, "create", "secret", "generic", "token", "--from-literal=t=1")
        wait_until(lambda: self.said()["secret"]["state"] == "Ready", "a container that waits for its secret")

    def test_refusals(self):
        self.kubectl("apply", "-f", "-", stdin=json.dumps({
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few", "namespace": self.ns}, "spec": {"hard": {"pods": "1"}}}))
        self.warm()
        self.pool("extra", {})
        self.claim("over-quota", "extra")
        self.says("over-quota", "Error", ["quota few is used up: requested: pods=1", "limited: pods=1"], "have ResourceQuota few raised")
        self.kubectl("-n", self.ns, "delete", "resourcequota", "few")
        wait_until(lambda: self.said()["over-quota"]["state"] == "Ready", "a sandbox whose quota was raised", 180)
        r = self.sm("create", "labelled", "--pool", "extra", "--pod-label", "example.com/a=b", "--no-wait")
        if r.code == 0:  # else it is refused before it is sent
            self.says("labelled", "Failed", ["InvalidMetadata"], "sandbox.users.io/")
        r = self.sm("create", "env", "--pool", "extra", "-e", "A=b", "--no-wait")
        if r.code == 0:
            self.says("env", "Failed", ["EnvVarsInjectionRejected"], "envVarsInjectionPolicy in SandboxTemplate extra")

    def test_a_life(self):
        """Ready, suspended, resumed, its pod killed: the story has all of it, and no step twice."""
        self.warm()
        self.claim("box")
        wait_until(lambda: self.said().get("box", {}).get("state") == "Ready", "ready")
        self.sm("suspend", "box", check=0, timeout=120)
        self.says("box", "Suspended", ["is suspended"], "resume it")
        time.sleep(6)  # apart from what comes next
        self.sm("resume", "box", check=0, timeout=120)
        out = self.sm("describe", "box", check=0).out
        story = out[out.index("Story\n"):].split("Labels\n")[0].split("Annotations\n")[0]
        self.assertEqual(1, story.count("adopted from warm pool ready"), story)
        self.assertEqual(1, story.count("● ready"), story)
        self.assertEqual(1, story.count("● resumed"), story)
        self.kubectl("-n", self.ns, "patch", "sandboxclaim", "box", "--type=merge", "-p", json.dumps({"metadata": {"finalizers": ["example.com/hold"]}}))
        self.kubectl("-n", self.ns, "delete", "sandboxclaim", "box", "--wait=false")
        self.says("box", "Terminating", ["it waits for example.com/hold"], "still runs")
        self.kubectl("-n", self.ns, "patch", "sandboxclaim", "box", "--type=merge", "-p", json.dumps({"metadata": {"finalizers": None}}))


if __name__ == "__main__":
    main()
