# SPDX-License-Identifier: Apache-2.0
"""The other kinds on a real API server with the real controller and kubelet: pods as kubectl prints them, trees as the owners
are, a pool that is scaled, events of all that belongs to a sandbox, a template's policy, what may not be read."""
import json
import re

from cluster_case import ClusterCase, wait_until
from harness import main


def rows(text: str) -> list:
    """A table as dicts, by its titles."""
    head, *lines = text.splitlines()
    titles = head.split()
    return [dict(zip(titles, line.split())) for line in lines]


class Kinds(ClusterCase):
    def setUp(self):
        super().setUp()
        self.shared_pools()

    def box(self, name: str):
        self.created(name, "ready", "--timeout", "90s")
        self.addCleanup(self.kubectl, "-n", self.ns, "delete", "sandboxclaim", name, "--ignore-not-found", "--wait=false")

    def tree(self, what: str) -> list:
        return json.loads(self.sm("tree", what, "-o", "json", check=0).out)["items"]

    def pool(self, name: str = "ready") -> dict:
        return json.loads(self.sm("get", f"pool/{name}", "-o", "json", check=0).out)

    def test_pods_are_as_kubectl_prints_them(self):
        self.box("pods")
        self.kubectl("-n", self.ns, "run", "no-image", "--image=localhost/none:bed", "--image-pull-policy=Never", "--restart=Never")
        self.kubectl("-n", self.ns, "run", "crash", "--image=localhost/sandbox:bed", "--image-pull-policy=Never", "--command", "--", "/bin/busybox", "false")
        for name in ("no-image", "crash"):
            self.addCleanup(self.kubectl, "-n", self.ns, "delete", "pod", name, "--grace-period=0", "--force")
        def both():
            theirs = {r["NAME"]: (r["READY"], r["STATUS"]) for r in rows(self.kubectl("-n", self.ns, "get", "pods"))}
            ours = {r["name"]: (r["ready"], r["status"]) for r in json.loads(self.sm("ls", "pods", "-o", "json", check=0).out)["items"]}
            done = theirs["no-image"][1] == "ErrImageNeverPull" and theirs["crash"][1] == "CrashLoopBackOff"
            return done and ours == theirs and ours
        self.assertGreaterEqual(len(wait_until(both, "the same words for every pod")), 3)
        why = {r["name"]: r["why"] or "" for r in json.loads(self.sm("ls", "po", "-o", "json", check=0).out)["items"]}
        self.assertRegex(why["no-image"], "is not present with pull policy of Never")
        self.assertRegex(why["crash"], "ended last: Error, exit 1; back-off")

    def test_a_tree_is_as_the_owners_are(self):
        self.box("tree")
        claim = self.cluster.get("-n", self.ns, "sandboxclaim", "tree")
        sandbox = claim["status"]["sandbox"]["name"]
        items = self.tree("tree")
        kinds = [(i["depth"], i["kind"], i["name"]) for i in items if i["depth"] < 3 and i["kind"] != "Service"]
        self.assertEqual(kinds, [(0, "SandboxClaim", "tree"), (1, "Sandbox", sandbox), (2, "Pod", sandbox),
                                 (1, "SandboxWarmPool", "ready"), (2, "SandboxTemplate", "ready")])
        self.assertTrue(all(i["problem"] is None for i in items), items)
        self.assertTrue(items[2]["status"].startswith("Running  1/1"), items[2])
        for i in items:
            kind = {"Sandbox": "sandboxes.agents.x-k8s.io"}.get(i["kind"], i["kind"].lower())
            self.assertEqual(i["uid"], self.cluster.get("-n", self.ns, kind, i["name"])["metadata"]["uid"])
        # from below it is the same one
        asked = [(i["kind"], i["isAsked"]) for i in self.tree(f"pod/{sandbox}") if i["isAsked"] or i["depth"] == 0]
        self.assertEqual(asked, [("SandboxClaim", False), ("Pod", True)])
        self.claim("lost", "nowhere")
        self.addCleanup(self.kubectl, "-n", self.ns, "delete", "sandboxclaim", "lost", "--ignore-not-found")
        lost = wait_until(lambda: (t := self.tree("lost")) and "WarmPoolNotFound" in (t[0]["status"] or "") and t, "the controller's word")
        self.assertEqual([(i["kind"], i["problem"]) for i in lost[1:]], [("SandboxWarmPool", "does not exist")])

    def test_a_pool_is_scaled(self):
        self.warm()
        before = self.pool()["desired"]
        self.addCleanup(self.kubectl, "-n", self.ns, "scale", "sandboxwarmpool", "ready", f"--replicas={before}")
        refused = self.sm("--read-only", "pool", "scale", "ready", "3")
        self.assertRegex(refused.err, "op.read_only")
        self.assertEqual(self.cluster.get("-n", self.ns, "sandboxwarmpool", "ready")["spec"]["replicas"], before)
        out = self.sm("pool", "scale", "ready", "2", check=0).out
        self.assertRegex(out, rf"^sandboxwarmpool/ready scaled: {before} -> 2 \(\d ready now\)$")
        wait_until(lambda: self.pool()["ready"] == 2, "two warm ones")
        self.assertEqual(self.pool()["status"], "Full")
        warm = [i for i in self.tree("pool/ready") if i["kind"] == "Sandbox"]
        self.assertEqual(len(warm), 2)
        self.sm("pool", "scale", "ready", "0", check=0)
        wait_until(lambda: not [i for i in self.tree("pool/ready") if i["kind"] == "Sandbox"], "none left")
        self.assertEqual(self.pool()["status"], "Off")

    def test_events_of_all_that_belongs_to_it(self):
        self.box("told")
        sandbox = self.cluster.get("-n", self.ns, "sandboxclaim", "told")["status"]["sandbox"]["name"]
        def told():
            items = json.loads(self.sm("events", "told", "-o", "json", check=0).out)["items"]
            return {(i["object"], i["reason"]) for i in items}
        found = wait_until(lambda: (t := told()) and (f"Pod/{sandbox}", "Started") in t and t, "the kubelet's word")
        self.assertEqual({o for o, _ in found} - {f"Pod/{sandbox}", "SandboxClaim/told", f"Sandbox/{sandbox}", "SandboxWarmPool/ready"}, set())
        theirs = {e["metadata"]["uid"] for e in self.cluster.get("-n", self.ns, "events")["items"]}
        everything = json.loads(self.sm("events", "-o", "json", check=0).out)["items"]
        self.assertEqual(theirs - {e["uid"] for e in everything}, set())
        seen = [i["lastSeenAt"] for i in everything if i["lastSeenAt"]]
        self.assertEqual(seen, sorted(seen, reverse=True))

    def test_a_templates_policy(self):
        template = self.cluster.get("-n", self.ns, "sandboxtemplate", "ready")
        del template["spec"]["networkPolicyManagement"]
        template["metadata"] = {"name": "managed", "namespace": self.ns}
        self.kubectl("apply", "-f", "-", stdin=json.dumps(template))
        self.addCleanup(self.kubectl, "-n", self.ns, "delete", "sandboxtemplate", "managed", "--ignore-not-found")
        self.kubectl("apply", "-f", "-", stdin=json.dumps({
            "apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxWarmPool", "metadata": {"name": "managed", "namespace": self.ns},
            "spec": {"replicas": 0, "sandboxTemplateRef": {"name": "managed"}}}))
        self.addCleanup(self.kubectl, "-n", self.ns, "delete", "sandboxwarmpool", "managed", "--ignore-not-found")
        below = wait_until(lambda: len(t := self.tree("template/managed")) == 3 and t, "its policy and its pool")
        self.assertEqual({(i["kind"], i["name"]) for i in below[1:]}, {("NetworkPolicy", "managed-network-policy"), ("SandboxWarmPool", "managed")})
        row = next(r for r in json.loads(self.sm("template", "ls", "-o", "json", check=0).out)["items"] if r["name"] == "managed")
        self.assertEqual((row["networkPolicy"], row["pools"], row["ports"]), ("default", "managed", "8080,9090"))

    def test_what_may_not_be_read_says_the_rule(self):
        rule = {"apiGroups": ["extensions.agents.x-k8s.io"], "resources": ["sandboxclaims"], "verbs": ["get", "list", "watch"]}
        config = self.config({"token": self.service_account("blind", [rule])}, name="kubeconfig-blind")
        for kind, words in (("pods", "list pods"), ("pool", "list sandboxwarmpools"), ("events", "list events")):
            r = self.sm("ls", kind, config=config)
            self.assertRegex(r.err, rf"kube.forbidden: not allowed: {words} in namespace {self.ns}; a Role needs: get, list, watch on ")
            self.assertEqual((r.code, r.out), (4, ""))
        self.claim("seen", "nowhere")
        self.addCleanup(self.kubectl, "-n", self.ns, "delete", "sandboxclaim", "seen", "--ignore-not-found")
        items = json.loads(self.sm("tree", "claims/seen", "-o", "json", config=config, check=0).out)["items"]
        self.assertEqual([i["kind"] for i in items], ["SandboxClaim", "SandboxWarmPool"])
        self.assertRegex(items[1]["problem"], "forbidden|not allowed|cannot get")

    def test_from_a_claim_to_its_pod_and_back(self):
        self.box("walked")
        sandbox = self.cluster.get("-n", self.ns, "sandboxclaim", "walked")["status"]["sandbox"]["name"]
        scr = self.dash(rows=40)
        scr.wait_for(re.compile(r"walked +\S Ready"))
        scr.type("/walked\r")
        scr.type("t")
        scr.wait_for(re.compile(rf"SandboxClaim/walked.*\n.*├─ Sandbox/{sandbox}.*\n.*Pod/{sandbox} +Running"))
        scr.key("Down")
        scr.key("Down")
        scr.key("Enter")
        scr.wait_for(re.compile(rf"owner +Sandbox/{sandbox}"))
        scr.wait_for("Belongs together")
        scr.type("q")
        scr.wait_for(lambda s: "Belongs together" not in s.text() and "SandboxClaim/walked" in s.text())
        scr.type("q")
        scr.wait_for(re.compile(r"walked +\S Ready"))


if __name__ == "__main__":
    main()
