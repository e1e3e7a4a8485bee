# SPDX-License-Identifier: Apache-2.0
"""A sandbox ends or stops under an open shell, on the real controller: the pane closes at once, says why, keeps what was on it, and
offers to run again, which works where the sandbox comes back."""
import json
import re
import time

from cluster_case import POOLS, ClusterCase, wait_until
from harness import main

AT_ONCE = 5.0  # after the API server has said so
PROMPT = re.compile(r"[$#] *$", re.M)


class Endings(ClusterCase):
    def setUp(self):
        super().setUp()
        self.pools()

    def shell(self, *options, pool="ready"):
        """A dashboard with a shell in `box`, and something written in it."""
        self.sm("create", "box", "--pool", pool, *options, timeout=120, check=0)
        scr = self.dash()
        scr.wait_for(re.compile(r"box +\S Ready"))
        scr.type("s")
        scr.wait_for(PROMPT)
        scr.type("echo before-the-$((40+2))\r")
        scr.wait_for("before-the-42")
        return scr

    def ended(self, scr, reason):
        """It says so, and what was there can be read."""
        scr.wait_for(re.compile(reason))
        scr.wait_for("r runs it again")
        self.assertIn("before-the-42", scr.text())

    def test_suspended_and_resumed(self):
        scr = self.shell()
        begun = time.monotonic()
        self.sm("suspend", "box", timeout=120, check=0)
        self.ended(scr, r"suspended")
        self.assertLess(time.monotonic() - begun, 30 + AT_ONCE)
        self.sm("resume", "box", timeout=120, check=0)

        def runs():  # the dashboard learns of it a moment later
            scr.type("r")
            scr.wait_idle(quiet=1)
            return "runs it again" not in scr.text()

        wait_until(runs, "it runs again", 30)
        scr.wait_for(PROMPT)
        scr.type("echo after-the-$((40+3))\r")
        scr.wait_for("after-the-43")

    def test_expired(self):
        scr = self.shell("--shutdown-after", "30s")
        self.sm("lifetime", "box", "--in", "2s", "--yes", timeout=60, check=0)
        self.ended(scr, r"expired|deleted|gone")
        wait_until(lambda: not self.kubectl("-n", self.ns, "get", "sandboxclaim", "box", "--ignore-not-found"), "the claim went")

    def test_expired_and_retained(self):
        scr = self.shell("--shutdown-after", "1h", "--shutdown-policy", "Retain")
        self.sm("lifetime", "box", "--in", "2s", "--yes", timeout=60, check=0)
        self.ended(scr, r"expired|deleted|gone")
        row = json.loads(self.sm("get", "box", "-o", "json", check=0).out)
        self.assertEqual(row["state"], "Expired")
        self.assertIn("claim.expired", self.sm("extend", "box", "--timeout", "1h", timeout=60).err)

    def test_deleted_in_the_foreground(self):
        scr = self.shell()
        self.sm("rm", "box", "--yes", "--cascade", "foreground", timeout=120, check=0)
        self.ended(scr, r"deleted|gone")

    def test_its_time_after_the_end(self):
        once = POOLS.split("---")[0].replace("namespace: default", f"namespace: {self.ns}").replace("name: ready", "name: once", 1)
        once = once.replace("    spec:\n", "    spec:\n      restartPolicy: Never\n", 1)
        self.kubectl("apply", "-f", "-", stdin=once)
        self.kubectl("apply", "-f", "-", stdin=json.dumps({
            "apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxWarmPool", "metadata": {"name": "once", "namespace": self.ns},
            "spec": {"replicas": 0, "sandboxTemplateRef": {"name": "once"}}}))
        scr = self.shell("--ttl", "3s", pool="once")
        scr.type("kill 1\r")
        self.ended(scr, r"ended|finished|deleted|gone|lost|connection")
        wait_until(lambda: not self.kubectl("-n", self.ns, "get", "sandboxclaim", "box", "--ignore-not-found"), "the controller deleted it after its time")


if __name__ == "__main__":
    main()
