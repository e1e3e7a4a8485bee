# SPDX-License-Identifier: Apache-2.0
"""Creating on a real API server with the real controller: every option read back from claim, Sandbox and pod; twenty creators of one
binding key, and of one name, half of them killed at every step: one sandbox, and nothing that the next create does not go on from."""
import hashlib
import json
import re
import time

from cluster_case import ClusterCase, wait_until
from harness import main
from harness.creators import Creator, assert_one, race

N, KILLED = 20, 10


class Creating(ClusterCase):
    def setUp(self):
        super().setUp()
        self.ns = self.shared_pools()

    def claims(self):
        return self.cluster.get("-n", self.ns, "sandboxclaims")["items"]

    def lease(self, key):
        name = "pai-sandbox-binding-" + hashlib.sha256(key.encode()).hexdigest()[:40]
        return self.cluster.get("-n", self.ns, "lease", name)

    def new(self, name, *args):
        r = self.sm("create", name, "--pool", "ready", "-o", "json", *args, timeout=120, check=0)
        self.addCleanup(self.sm, "rm", name, "--yes", timeout=60)
        return json.loads(r.out)

    def test_options_are_read_back(self):
        row = self.new("plain", "--label", "team=blue", "--annotation", "note=hi there", "--pod-label", "sandbox.users.io/session=s1",
                       "--pod-annotation", "example.com/note=demo", "--shutdown-after", "1h", "--shutdown-policy", "DeleteForeground", "--ttl", "90s")
        claim = self.cluster.get("-n", self.ns, "sandboxclaim", "plain")
        self.assertEqual(row["id"], f"plain.{claim['metadata']['uid'][:8]}")
        self.assertEqual((claim["metadata"]["labels"]["team"], claim["metadata"]["annotations"]["note"]), ("blue", "hi there"))
        self.assertEqual({k: claim["spec"]["lifecycle"][k] for k in ("shutdownPolicy", "ttlSecondsAfterFinished")},
                         {"shutdownPolicy": "DeleteForeground", "ttlSecondsAfterFinished": 90})
        pod = wait_until(lambda: next((p for p in self.cluster.get("-n", self.ns, "pods")["items"]
                                       if p["metadata"].get("labels", {}).get("sandbox.users.io/session") == "s1"), None), "its pod")
        self.assertEqual(pod["metadata"]["annotations"]["example.com/note"], "demo")
        self.assertEqual(self.sm("run", row["id"], "--", "true", timeout=60).code, 0)
        # the end of life, moved and cleared
        self.sm("lifetime", "plain", "--in", "3h", "--no-ttl", timeout=60, check=0)
        claim = self.cluster.get("-n", self.ns, "sandboxclaim", "plain")
        self.assertNotIn("ttlSecondsAfterFinished", claim["spec"]["lifecycle"])
        self.sm("lifetime", "plain", "--never", timeout=60, check=0)
        self.assertNotIn("shutdownTime", self.cluster.get("-n", self.ns, "sandboxclaim", "plain")["spec"]["lifecycle"])

    def test_environment_is_a_cold_start(self):
        row = self.new("cold", "-e", "GREETING=hi", "-e", "sandboxd:OTHER=there")
        self.assertFalse(row["warmStart"])
        self.assertEqual(self.sm("run", "cold", "--", "sh", "-c", "echo $GREETING $OTHER", timeout=60).out, "hi there\n")

    def test_what_the_controller_refuses_is_named_and_taken_back(self):
        before = {c["metadata"]["name"] for c in self.claims()}
        r = self.sm("create", "--pool", "ready", "--volume", "data:16Mi", timeout=120)
        self.assertIn("claim.rejected", r.err)
        self.assertIn("VolumeClaimTemplatesError", r.err)
        r = self.sm("create", "--pool", "ready", "--pod-label", "evil.example/a=b", "--set", "pod-label-domains=evil.example", timeout=120)
        self.assertIn("claim.rejected", r.err)
        wait_until(lambda: {c["metadata"]["name"] for c in self.claims()} == before, "it was taken back")
        self.assertIn("only labels of sandbox.users.io", self.sm("create", "--pool", "ready", "--pod-label", "evil.example/a=b").err)

    def test_deleted_in_the_foreground(self):
        self.new("front", "--ttl", "1s")
        self.assertEqual(self.sm("rm", "front", "--yes", "--cascade", "foreground", "--grace-period", "1", timeout=90).out, "front deleted\n")
        self.assertEqual("", self.kubectl("-n", self.ns, "get", "sandboxclaim", "front", "--ignore-not-found"))

    def test_run_rm(self):
        r = self.sm("run", "--rm", "--pool", "ready", "--label", "once=1", "--", "sh", "-c", "echo hi; exit 7", timeout=120)
        self.assertEqual((r.code, r.out), (7, "hi\n"))
        self.assertEqual([], [c for c in self.claims() if c["metadata"].get("labels", {}).get("once")])

    def test_wait_and_selections(self):
        for name in ("sel-a", "sel-b"):
            self.sm("create", name, "--pool", "ready", "--label", "sel=1", "--no-wait", timeout=60, check=0)
        self.assertEqual(self.sm("wait", "sel-a", "sel-b", "--for", "ready", timeout=200).out, "sel-a condition met\nsel-b condition met\n")
        self.assertEqual(self.sm("suspend", "sel-a", timeout=120).code, 0)
        self.assertEqual(self.sm("wait", "sel-a", "--for", "condition=Suspended", timeout=60).code, 0)
        self.assertEqual(self.sm("rm", "-l", "sel=1", "--yes", timeout=120).out, "sel-a deleted\nsel-b deleted\n")

    # ---- many creators

    def race(self, folder, args, step, after):
        home = self.tmp / folder
        home.mkdir()
        return race(self.cluster.api, self.cluster.ca, self.cluster.token, home, ["-n", self.ns, *args], n=N, killed=KILLED, step=step, after=after)

    def test_one_sandbox_per_key_whoever_dies(self):
        for step in (1, 2, 3, 4):
            for after in (False, True):
                key = f"race {step} {after}"
                args = ["create", "--pool", "ready", "--binding-key", key, "-o", "json", "--set", "binding-reservation=10s", "--set", "binding-attempts=50"]
                begun = time.monotonic()
                all_ = self.race(f"k{step}{after}", args, step, after)
                with self.subTest(step=step, after=after):
                    self.assertTrue(any(c.was_killed for c in all_))
                    assert_one(self, key, all_, self.claims(), self.lease(key))
                print(f"step {step}{' after' if after else ''}: {sum(c.was_killed for c in all_)} killed, {time.monotonic() - begun:.1f} s", flush=True)
                self.sm("rm", "--all", "--yes", timeout=200, check=0)

    def test_all_of_them_may_die(self):
        """Whatever one creator leaves behind at a step, the next one gets its sandbox, and there is one."""
        for step in (1, 2, 3, 4):
            for after in (False, True):
                key = f"lone {step} {after}"
                args = ["-n", self.ns, "create", "--pool", "ready", "--binding-key", key, "-o", "json", "--set", "binding-reservation=3s"]
                one = Creator(self.cluster.api, self.cluster.ca, self.cluster.token, self.tmp / f"l{step}{after}", args, step, after).finish()
                with self.subTest(step=step, after=after):
                    self.assertTrue(one.was_killed)
                    r = self.sm(*args[2:], timeout=120)
                    self.assertEqual(r.code, 0, r.err)
                    live, = [c for c in self.claims() if c["metadata"]["annotations"].get("pai.dev/sandbox-binding-key") == key]
                    self.assertEqual(json.loads(r.out)["uid"], live["metadata"]["uid"])
                    self.assertEqual(self.lease(key)["metadata"]["ownerReferences"][0]["uid"], live["metadata"]["uid"])
                    self.sm("rm", live["metadata"]["name"], "--yes", timeout=90, check=0)
                    self.assertEqual("", self.kubectl("-n", self.ns, "get", "lease", self.lease_name(key), "--ignore-not-found"))

    def lease_name(self, key):
        return "pai-sandbox-binding-" + hashlib.sha256(key.encode()).hexdigest()[:40]

    def test_one_sandbox_per_adopted_name_whoever_dies(self):
        for step in (1, 2, 3):
            for after in (False, True):
                name = f"adopted-{step}-{str(after).lower()}"
                args = ["create", name, "--adopt", "--pool", "ready", "-o", "json"]
                all_ = self.race(f"a{step}{after}", args, step, after)
                uid = self.cluster.get("-n", self.ns, "sandboxclaim", name)["metadata"]["uid"]
                with self.subTest(step=step, after=after):
                    self.assertEqual({json.loads(c.out)["uid"] for c in all_ if not c.was_killed}, {uid})
                    self.assertEqual(json.loads(self.sm(*args, timeout=120, check=0).out)["uid"], uid)
                self.sm("rm", name, "--yes", timeout=90, check=0)

    def test_no_right_on_leases_is_told(self):
        self.kubectl("-n", self.ns, "create", "serviceaccount", "keyless")
        self.kubectl("-n", self.ns, "create", "role", "keyless", "--verb=get,list,watch,create,delete",
                     "--resource=sandboxclaims.extensions.agents.x-k8s.io,sandboxes.agents.x-k8s.io")
        self.kubectl("-n", self.ns, "create", "rolebinding", "keyless", "--role=keyless", f"--serviceaccount={self.ns}:keyless")
        token = self.kubectl("-n", self.ns, "create", "token", "keyless").strip()
        r = self.sm("create", "--pool", "ready", "--binding-key", "k", config=self.config({"token": token}), timeout=60)
        self.assertEqual(r.code, 4)
        self.assertTrue(re.search(r"kube\.forbidden: binding key k: .*cannot create resource \"leases\"", r.err), r.err)


if __name__ == "__main__":
    main()
