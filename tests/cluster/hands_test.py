# SPDX-License-Identifier: Apache-2.0
"""What hands do to objects on a real API server: an edit that its validation refuses and one that it takes, dry runs that change
nothing, and logs as kubectl has them."""
import json
import os
from unittest import mock

from cluster_case import ClusterCase, wait_until
from harness import main


class Hands(ClusterCase):
    def setUp(self):
        super().setUp()
        self.shared_pools()
        self.name = self.id().rsplit("_", 1)[-1]
        self.created(self.name, "ready", "--timeout", "90s")
        self.addCleanup(self.kubectl, "-n", self.ns, "delete", "sandboxclaim", self.name, "--ignore-not-found", "--wait=false")

    def claim_of(self) -> dict:
        return self.cluster.get("-n", self.ns, "sandboxclaim", self.name)

    def edit(self, editor: str):
        with mock.patch.dict(os.environ, {"EDITOR": editor}):
            return self.sm("edit", self.name, env={"EDITOR": editor})

    def test_an_edit(self):
        before = self.claim_of()
        r = self.edit("sed -i 's/^spec:/spec:\\n  lifecycle: {shutdownPolicy: Never}/'")
        self.assertEqual(r.code, 2, r.err)
        self.assertRegex(r.err, r"kube\.invalid: .*shutdownPolicy.*your text is in /")
        self.assertEqual(self.claim_of()["metadata"]["generation"], before["metadata"]["generation"])
        r = self.edit("sed -i 's/^spec:/spec:\\n  lifecycle: {shutdownPolicy: Retain}/'")
        self.assertEqual((r.code, r.out), (0, f"claim/{self.name} changed\n"), r.err)
        self.assertEqual(self.claim_of()["spec"]["lifecycle"]["shutdownPolicy"], "Retain")
        self.assertEqual(self.edit("true").out, f"claim/{self.name} not changed\n")

    def test_a_dry(self):
        before = self.claim_of()
        r = self.sm("rm", self.name, "--dry-run=server", "-o", "json", check=0)
        said = json.loads(r.out)
        self.assertEqual((said["method"], said["query"]), ("DELETE", "dryRun=All"))
        self.assertEqual(said["body"]["preconditions"]["uid"], before["metadata"]["uid"])
        self.assertIn("answer", said)
        self.sm("suspend", self.name, "--dry-run=server", check=0)
        self.sm("extend", self.name, "--timeout", "1h", "--dry-run=client", check=0)
        self.assertEqual(self.claim_of()["metadata"]["resourceVersion"], before["metadata"]["resourceVersion"])

    def test_its_logs(self):
        pod = self.claim_of()["status"]["sandbox"]["name"]
        theirs = wait_until(lambda: self.kubectl("-n", self.ns, "logs", pod), "something in the log")
        self.assertEqual(self.sm("logs", self.name, check=0).out, theirs)
        timed = self.kubectl("-n", self.ns, "logs", pod, "--timestamps", "--tail", "1")
        ours = self.sm("logs", f"pod/{pod}", "--timestamps", "--tail", "1", check=0).out
        self.assertEqual(ours.split(" ", 1)[1], timed.split(" ", 1)[1])
        self.assertRegex(self.sm("logs", self.name, "-p").err, "kube.bad_request: previous terminated container")


if __name__ == "__main__":
    main()
