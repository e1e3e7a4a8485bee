# SPDX-License-Identifier: Apache-2.0
"""Many at once, against the real API server: a plan over a thousand, at a limited rate, given up half-way; what the report
says is what the cluster has."""
import json
import re
import time

from cluster_case import ClusterCase, wait_until
from harness import main

MANY = 1000
FEWER = 300  # to make them takes longer than what is tried
RATE = 150


class Bulk(ClusterCase):
    def many(self, many: int):
        """So many claims, in a namespace of their own."""
        self.ns = self.pools()
        claims = [{"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxClaim",
                   "metadata": {"name": f"many-{i:04}", "namespace": self.ns, "labels": {"many": "yes"}},
                   "spec": {"warmPoolRef": {"name": "there-is-none"}}} for i in range(many)]
        path = self.tmp / "claims.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": claims}))
        self.kubectl("create", "-f", str(path))

    def names(self):
        listed = json.loads(self.kubectl("get", "sandboxclaims", "-n", self.ns, "-l", "many=yes", "-o", "json"))
        return {item["metadata"]["name"]: item["metadata"]["uid"] for item in listed["items"]}

    def head(self, scr, word):
        found = re.search(rf"(\d+) {word}", scr.row(1))
        return int(found[1]) if found else 0

    def test_a_thousand_cancelled_half_way(self):
        self.many(MANY)
        before = self.names()
        self.assertEqual(len(before), MANY)
        scr = self.dash("--set", f"bulk-rate={RATE}", rows=35, cols=120)
        scr.wait_for(f"{MANY} sandboxes")
        scr.key("C-a")
        scr.wait_for(f"{MANY} marked")
        scr.key("C-d")
        scr.wait_for(f"Delete {MANY} sandboxes?")
        # the number of another plan is not enough
        scr.type("100\r")
        scr.wait_for(f"type {MANY} to go on")
        scr.type("0")
        began = time.monotonic()
        scr.type("\r")
        scr.wait_for("deleting")
        scr.type(":bulk\r")
        wait_until(lambda: scr.text() and self.head(scr, "done") >= MANY // 2, "half of them")
        scr.key("x")
        wait_until(lambda: scr.text() and self.head(scr, "cancelled") > 0 and not self.head(scr, "running"), "its end")
        took = time.monotonic() - began
        report = self.tmp / "report"
        scr.type(f":save {report}\r")
        scr.wait_for("saved")
        items = [json.loads(line) for line in report.read_text().splitlines()]
        self.assertEqual({i["name"]: i["uid"] for i in items}, before)
        done = {i["name"] for i in items if i["result"] == "done"}
        self.assertEqual({i["result"] for i in items}, {"done", "cancelled"})
        self.assertGreaterEqual(len(done), MANY // 2)
        self.assertLess(len(done), MANY)
        self.assertLess(len(done), RATE * (took + 1), "faster than its rate")
        self.assertEqual(set(self.names()), set(before) - done)
        # what is done is not done twice: only the rest goes
        scr.key("r")
        wait_until(lambda: scr.text() and self.head(scr, "done") + self.head(scr, "unchanged") == MANY, "the rest", timeout=120)
        self.assertEqual(self.names(), {})
        # nothing is written over
        scr.type(f":save {report}\r")
        scr.wait_for("exists")

    def test_a_selection_by_the_command_line(self):
        self.many(FEWER)
        out = self.sm("rm", "-l", "many=yes", "--field-selector", "metadata.name!=many-0000", "--yes", "--wait=false",
                      "--set", "bulk-rate=1000", "-o", "json", check=0, timeout=180).out
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(len({line["name"] for line in lines}), FEWER - 1)
        self.assertEqual(set(self.names()), {"many-0000"})


if __name__ == "__main__":
    main()
