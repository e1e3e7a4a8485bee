# SPDX-License-Identifier: Apache-2.0
"""The dashboard with a real service account that lacks rights: what depends on them is greyed with the missing rule, all
else is as ever; what is given becomes usable."""
import json
import re

from cluster_case import ClusterCase, wait_until
from harness import main

EXTENSIONS, AGENTS = "extensions.agents.x-k8s.io", "agents.x-k8s.io"
READ = ["get", "list", "watch"]


def rule(group: str, resources: str, verbs: list) -> dict:
    return {"apiGroups": [group], "resources": resources.split(), "verbs": verbs}


class Rights(ClusterCase):
    def setUp(self):
        super().setUp()
        self.shared_pools()

    def box(self, name: str):
        self.created(name, "ready", "--timeout", "60s")
        self.addCleanup(self.kubectl, "-n", self.ns, "delete", "sandboxclaim", name, "--ignore-not-found", "--wait=false")

    def config_of(self, name: str, *rules) -> str:
        return self.config({"token": self.service_account(name, list(rules))}, name=f"kubeconfig-{name}")

    def give(self, name: str, *rules):
        meta = {"name": f"{self.account}-{name}", "namespace": self.ns}
        kinds = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": meta}
        self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": [
            {**kinds, "kind": "Role", "rules": list(rules)},
            {**kinds, "kind": "RoleBinding", "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": meta["name"]},
             "subjects": [{"kind": "ServiceAccount", "name": self.account, "namespace": self.ns}]}]}))

    def may(self, verb: str, resource: str) -> bool:
        out = self.cluster.kubectl("-n", self.ns, "auth", "can-i", verb, resource, f"--as=system:serviceaccount:{self.ns}:{self.account}",
                                   check=False)
        return out.strip().endswith("yes")

    def is_greyed(self, scr, hint: str) -> bool:
        return f"({hint})" in scr.row(scr.rows - 1)

    def test_without_pods_events_and_delete(self):
        self.box("poor")
        config = self.config_of("poor", rule(EXTENSIONS, "sandboxclaims", [*READ, "create"]), rule(AGENTS, "sandboxes", READ),
                              rule(EXTENSIONS, "sandboxwarmpools sandboxtemplates", READ))
        
        scr = self.dash(config=config, rows=40)
        scr.wait_for(re.compile(r"poor +\S Ready"))
        scr.wait_for(re.compile(r"not allowed: (list|watch) pods, events in namespace " + self.ns))
        scr.wait_for("a Role needs: get, list, watch on pods, events")
        for hint in ("s shell", "f files", "ctrl-d delete"):
            scr.wait_for(lambda s: self.is_greyed(s, hint))
        self.assertFalse(self.is_greyed(scr, "n new"))
        for word in ("retrying", "does not exist", "Pending", "forbidden"):
            self.assertNotIn(word, scr.text())
        scr.key("C-d")
        scr.wait_for(f"you may not delete sandboxclaims in namespace {self.ns}")
        scr.wait_for("delete on sandboxclaims.extensions")
        scr.key("Enter")
        scr.key("s")
        scr.wait_for("portfwd.denied")
        scr.wait_for("you may not get pods/portforward")
        scr.key("Enter")
        scr.wait_gone("portfwd.denied")
        scr.type("d")
        scr.wait_for("events may not be read here: events is forbidden")
        scr.wait_for(re.compile(r"restarts +– pods may not be read here"))
        scr.wait_for(re.compile(r"✓ (\d) of \1 conditions fine"))
        scr.type(":unfold conditions\r")
        scr.wait_for(re.compile(r"Ready +True"))
        scr.type("q")
        scr.wait_for("not allowed")
        # a sandbox of its own, followed by what may be seen of it
        scr.type(":create ready\r")
        scr.wait_for(re.compile(r"✓ .* is ready"), timeout=60)
        # the rights come: on the key that asks again
        self.give("more", rule("", "pods events", READ), rule("", "pods/portforward", ["get", "create"]),
                  rule(EXTENSIONS, "sandboxclaims", ["delete"]))
        wait_until(lambda: self.may("list", "pods") and self.may("delete", f"sandboxclaims.{EXTENSIONS}"), "the rights")
        scr.key("C-r")
        scr.wait_gone("not allowed")
        scr.wait_for(lambda s: " ctrl-d delete" in s.row(s.rows - 1) and " s shell" in s.row(s.rows - 1))
        self.assertNotIn("–", next(line for line in scr.lines() if "poor" in line))
        scr.type("/poor\rs")
        scr.wait_for(re.compile(r"[$#] *$", re.M))
        scr.type("echo in $((40+2))\r")
        scr.wait_for("in 42")

    def test_without_claims(self):
        self.box("unseen")
        config = self.config_of("boxes", rule(AGENTS, "sandboxes", [*READ, "patch"]), rule("", "pods events", READ))
        scr = self.dash(config=config)
        scr.wait_for(re.compile(r"not allowed: (list|watch) sandboxclaims, sandboxwarmpools, sandboxtemplates"))
        box = self.cluster.get("-n", self.ns, "sandboxclaim", "unseen")["status"]["sandbox"]["name"]
        scr.wait_for(re.compile(re.escape(box) + r" +\S Ready"))
        scr.wait_for(lambda s: self.is_greyed(s, "n new"))
        scr.type(f"/{box}\r")
        scr.wait_for(lambda s: self.is_greyed(s, "ctrl-d delete"))
        scr.key("C-d")
        scr.wait_for("belongs to a SandboxClaim")
        scr.key("Enter")
        scr.wait_gone("belongs to a SandboxClaim")
        scr.key("p")
        scr.wait_for("Suspend 1 sandbox?")
        scr.key("Enter")
        scr.wait_for(re.compile(re.escape(box) + r" +\S Suspended"), timeout=60)

    def test_without_watches(self):
        """What may only be listed is listed again and again: all works, a little later."""
        look = ["get", "list"]
        config = self.config_of("lister", rule(EXTENSIONS, "sandboxclaims", [*look, "create", "delete"]), rule(AGENTS, "sandboxes", look),
                                rule(EXTENSIONS, "sandboxwarmpools sandboxtemplates", look), rule("", "pods events", look))
        scr = self.dash("--set", "poll-interval=1s", config=config, cols=200)
        scr.wait_for(f"not allowed: watch pods, events, sandboxes, sandboxclaims, sandboxwarmpools, sandboxtemplates in namespace {self.ns}")
        scr.wait_for("what may not be watched is listed every 1s")
        self.box("listed")
        scr.wait_for(re.compile(r"listed +\S Ready"))
        self.sm("create", "made", "--pool", "ready", "--timeout", "60s", config=config, timeout=70, check=0)
        scr.wait_for(re.compile(r"made +\S Ready"))
        self.sm("rm", "made", "--yes", config=config, timeout=60, check=0)
        scr.wait_for(re.compile(r"made +† Deleted"))
        self.assertIn("not allowed: watch", scr.text())

    def test_without_sandboxes(self):
        self.box("alone")
        config = self.config_of("claims", rule(EXTENSIONS, "sandboxclaims", READ))
        scr = self.dash(config=config)
        scr.wait_for(re.compile(r"alone +\S Ready"))
        scr.wait_for(re.compile(r"not allowed: (list|watch) pods, events, sandboxes, sandboxwarmpools, sandboxtemplates"))
        scr.key("p")
        scr.wait_for("sandboxes may not be listed here")


if __name__ == "__main__":
    main()
