# SPDX-License-Identifier: Apache-2.0
"""Pods, pools, templates, events, binding keys, namespaces and volumes of the embedded backend as sandmux lists them, trees of
them."""
import json
import os
import tempfile
from pathlib import Path

from backend import CLAIMS, Backend, wait_for
from harness import Case, main
from harness.sandmux import home_env, run


class Kinds(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.home = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.backend = Backend(Path(cls.home) / "state", warm=3)
        cls.addClassCleanup(cls.backend.stop)
        cls.env = {**os.environ, **home_env(cls.home), "KUBECONFIG": str(cls.backend.kubeconfig)}

    def do(self, *args, status=0):
        r = run(*args, env=self.env, timeout=120)
        self.assertEqual(r.code, status, f"{args}: {r.out}{r.err}")
        return r

    def items(self, *args):
        return json.loads(self.do(*args, "-o", "json").out)["items"]

    def test_every_kind_that_is_served_is_listed(self):
        self.backend.ready_claim("listed")
        listed = {kind: self.items("ls", kind) for kind in ("po", "swp", "sbt", "ev", "lease", "ns", "pvc", "svc", "claims", "rawsandboxes")}
        self.assertEqual([n["name"] for n in listed["ns"]], ["default"])
        self.assertIn("listed", [c["name"] for c in listed["claims"]])
        pods = {p["name"]: (p["ready"], p["status"]) for p in listed["po"] if p["status"] == "Running"}
        theirs = {line.split()[0]: tuple(line.split()[1:3]) for line in self.backend.kubectl("get", "pods").splitlines()[1:]}
        self.assertEqual({n: theirs[n] for n in pods if n in theirs}, {n: p for n, p in pods.items() if n in theirs})
        self.assertEqual([(t["name"], t["pools"], t["networkPolicy"]) for t in listed["sbt"]], [("local", "local", "unmanaged")])
        self.assertIn("SandboxAdopted", [e["reason"] for e in listed["ev"]])

    def test_a_tree_and_its_events(self):
        claim = self.backend.ready_claim("tree")
        sandbox = claim["status"]["sandbox"]["name"]
        items = self.items("tree", "tree")
        self.assertEqual([(i["depth"], i["kind"], i["name"]) for i in items],
                         [(0, "SandboxClaim", "tree"), (1, "Sandbox", sandbox), (2, "Pod", sandbox),
                          (2, "PersistentVolumeClaim", f"workspace-{sandbox}"), (1, "SandboxWarmPool", "local"), (2, "SandboxTemplate", "local")])
        self.assertEqual([i["problem"] for i in items], [None] * 6)
        reasons = {(e["object"], e["reason"]) for e in self.items("events", "tree")}
        self.assertLessEqual({(f"Pod/{sandbox}", "Started"), ("SandboxClaim/tree", "SandboxAdopted")}, reasons)
        self.assertEqual({o.split("/")[0] for o, _ in reasons} - {"Pod", "SandboxClaim", "Sandbox", "SandboxWarmPool", "PersistentVolumeClaim"}, set())

    def test_a_binding_key_lives_with_its_claim(self):
        self.do("create", "--pool", "local", "--binding-key", "thread-1", "-o", "json")
        lease, = [x for x in self.items("lease", "ls") if x["bindingKey"] == "thread-1"]
        self.assertEqual(lease["status"], "Held")
        self.assertEqual(lease["claimUid"], self.backend.object(f"{CLAIMS}/{lease['claim']}")["metadata"]["uid"])
        self.assertEqual(self.items("tree", f"lease/{lease['name']}")[0]["name"], lease["claim"])
        self.do("rm", lease["claim"], "--yes")
        wait_for("its key to be free or gone", lambda: {x["status"] for x in self.items("lease", "ls") if x["name"] == lease["name"]} <= {"Free", "Ending"})

    def test_a_pool_is_scaled(self):
        self.assertRegex(self.do("pool", "scale", "local", "4").out, r"^sandboxwarmpool/local scaled: 3 -> 4 \(\d ready now\)$")
        pool = wait_for("four warm ones", lambda: (p := self.items("pool", "ls")[0])["ready"] == 4 and p)
        self.assertEqual((pool["status"], pool["desired"]), ("Full", 4))
        self.do("pool", "scale", "local", "3")
        self.do("--read-only", "pool", "scale", "local", "0", status=7)
        wait_for("three", lambda: self.items("pool", "ls")[0]["ready"] == 3)


if __name__ == "__main__":
    main()
