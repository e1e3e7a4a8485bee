# SPDX-License-Identifier: Apache-2.0
"""What creates sandboxes and ends them, against the embedded backend: every option read back, binding keys under many creators
and SIGKILL, run --rm, selections, wait, the end of life."""
import hashlib
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from backend import CLAIMS, TEMPLATES, Backend, wait_for
from harness import BIN, Case, main
from harness.creators import assert_one, race
from harness.sandmux import home_env, run

LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
FREE = {"envVarsInjectionPolicy": "Allowed", "volumeClaimTemplatesPolicy": "Allowed"}


def lease_of(key):
    return f"{LEASES}/pai-sandbox-binding-{hashlib.sha256(key.encode()).hexdigest()[:40]}"


class CreateCase(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.home = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.backend = Backend(Path(cls.home) / "state", warm=2)
        cls.addClassCleanup(cls.backend.stop)
        cls.backend.merge(f"{TEMPLATES}/local", {"spec": FREE})
        cls.env = {**os.environ, **home_env(cls.home), "KUBECONFIG": str(cls.backend.kubeconfig)}

    def do(self, *args, status=0, stdin=None):
        r = run(*args, env=self.env, timeout=120, **({"stdin": stdin} if stdin is not None else {}))
        self.assertEqual(r.code, status, f"{args}: {r.out}{r.err}")
        return r

    def folder(self):
        self.folders = getattr(self, "folders", 0) + 1
        path = self.tmp / str(self.folders)
        path.mkdir()
        return path

    def object(self, name):
        return self.backend.object(f"{CLAIMS}/{name}")

    def test_every_option_is_read_back(self):
        made = json.loads(self.do(
            "create", "whole", "--pool", "local", "--label", "team=blue", "--annotation", "note=hi there", "--pod-label",
            "sandbox.users.io/session=s1", "--pod-annotation", "example.com/note=demo", "-e", "A=1", "--volume", "data:1Gi",
            "--shutdown-after", "1h", "--shutdown-policy", "DeleteForeground", "--ttl", "90s", "-o", "json").out)
        claim = self.object("whole")
        self.assertEqual(made["id"], f"whole.{claim['metadata']['uid'][:8]}")
        self.assertEqual(claim["metadata"]["labels"]["team"], "blue")
        self.assertEqual(claim["metadata"]["annotations"]["note"], "hi there")
        spec = claim["spec"]
        self.assertEqual(spec["additionalPodMetadata"], {"labels": {"sandbox.users.io/session": "s1"}, "annotations": {"example.com/note": "demo"}})
        self.assertEqual(spec["env"], [{"name": "A", "value": "1"}])
        self.assertEqual(spec["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"], "1Gi")
        self.assertEqual((spec["lifecycle"]["shutdownPolicy"], spec["lifecycle"]["ttlSecondsAfterFinished"]), ("DeleteForeground", 90))
        self.assertFalse(made["warmStart"])
        # an id is a name, and another UID is another sandbox
        self.assertEqual(self.do("run", made["id"], "--", "sh", "-c", "echo $A").out, "1\n")
        self.do("run", "whole.00000000", "--", "true", status=125)

    def test_a_file_and_options_over_it(self):
        text = b"name: of-file\npool: local\nlabels: {team: red, n: 7}\nenv: {B: two}\nttlAfterFinished: 5s\n"
        self.assertEqual(self.do("create", "-f", "-", "--label", "team=blue", "other-name", stdin=text).out, "other-name\n")
        claim = self.object("other-name")
        self.assertEqual({k: claim["metadata"]["labels"][k] for k in ("team", "n")}, {"team": "blue", "n": "7"})
        self.assertEqual(claim["spec"]["lifecycle"], {"ttlSecondsAfterFinished": 5, "shutdownPolicy": "Delete"})
        # what was read from the server makes another one
        again = json.dumps({**claim, "metadata": {**claim["metadata"], "name": "copy"}}).encode()
        self.do("create", "-f", "-", stdin=again)
        self.assertEqual(self.object("copy")["spec"]["env"], [{"name": "B", "value": "two"}])
        self.do("create", "-f", "-", status=2, stdin=b"pool: local\nnothing: 1\n")

    def test_what_would_be_refused_is_said_before(self):
        before = len(self.backend.get(CLAIMS).json["items"])
        for args, words in ((["--pod-label", "a=b"], "only labels of sandbox.users.io"), (["--pod-annotation", "k8s.io/a=b"], "not for users"),
                            (["--volume", "x"], "NAME:SIZE"), (["--binding-key", "k", "named"], "not both")):
            self.assertIn(words, self.do("create", *args, status=2).err)
        self.assertEqual(len(self.backend.get(CLAIMS).json["items"]), before)

    def test_a_binding_key(self):
        first = self.do("create", "--binding-key", "thread-1", "-o", "json")
        again = self.do("create", "--binding-key", "thread-1", "--ttl", "1s", "-e", "X=1", "-o", "json")
        name, uid = (json.loads(first.out)[k] for k in ("claim", "uid"))
        self.assertEqual(json.loads(again.out)["uid"], uid)
        lease = self.backend.object(lease_of("thread-1"))
        self.assertEqual(lease["spec"]["holderIdentity"], name)
        self.assertEqual(lease["metadata"]["ownerReferences"][0]["uid"], uid)
        # another pool with the same template is the same sandbox, one with another template is not
        self.backend.create(CLAIMS.replace("sandboxclaims", "sandboxwarmpools"), {
            "apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxWarmPool", "metadata": {"name": "twin"},
            "spec": {"replicas": 0, "sandboxTemplateRef": {"name": "local"}}})
        self.assertEqual(json.loads(self.do("create", "--binding-key", "thread-1", "--pool", "twin", "-o", "json").out)["uid"], uid)
        self.assertIn("policy.mismatch", self.do("create", "--binding-key", "thread-1", "--pool", "elsewhere", status=7).err)
        # rm frees the Lease at once; then the key makes a new one
        self.do("rm", "--yes", name)
        self.assertIsNone(self.backend.object(lease_of("thread-1")))
        self.assertNotEqual(json.loads(self.do("create", "--binding-key", "thread-1", "-o", "json").out)["uid"], uid)

    def test_a_template_policy(self):
        text = ("defaultTemplate: local\nlabels: {domain: a}\ntemplates:\n- {name: local, network: {access: none}, containerName: %s, defaultCwd: sub}\n"
                "- {name: second, labels: {tier: batch}}\n")
        template = self.backend.object(f"{TEMPLATES}/local")
        container = template["spec"]["podTemplate"]["spec"]["containers"][0]["name"]
        file = self.tmp / "policy.yaml"
        file.write_text(text % container)
        with_ = ["--policy", str(file)]
        pools = CLAIMS.replace("sandboxclaims", "sandboxwarmpools")
        self.backend.create(TEMPLATES, {**{k: template[k] for k in ("apiVersion", "kind", "spec")}, "metadata": {"name": "undeclared"}})
        self.backend.create(pools, {"apiVersion": template["apiVersion"], "kind": "SandboxWarmPool", "metadata": {"name": "other"},
                                    "spec": {"replicas": 0, "sandboxTemplateRef": {"name": "undeclared"}}})
        before = len(self.backend.get(CLAIMS).json["items"])
        self.assertIn("template.undeclared", self.do(*with_, "create", "--template", "undeclared", status=7).err)
        self.assertIn("template.undeclared", self.do(*with_, "create", "--pool", "other", status=7).err)
        self.assertIn("policy.mismatch", self.do(*with_, "create", "--network", "full", status=7).err)
        self.assertIn("policy.mismatch", self.do(*with_, "create", "--template", "second", "--pool", "local", status=7).err)
        self.assertIn("pool.not_found", self.do(*with_, "create", "--template", "second", status=3).err)
        self.assertEqual(len(self.backend.get(CLAIMS).json["items"]), before)
        # the default template finds its pool; the claim has the labels, its environment goes to the container that is declared
        self.do(*with_, "create", "declared", "--network", "none", "-e", "A=1")
        claim = self.object("declared")
        self.assertEqual((claim["spec"]["warmPoolRef"]["name"], claim["metadata"]["labels"]["domain"]), ("local", "a"))
        self.assertEqual(claim["spec"]["env"], [{"name": "A", "value": "1", "containerName": container}])
        self.do("run", "declared", "--", "mkdir", "sub")
        self.assertRegex(self.do(*with_, "run", "declared", "--", "pwd").out, r"/sub\n\Z")
        self.assertNotRegex(self.do("run", "declared", "--", "pwd").out, r"/sub\n\Z")
        # what it did not declare, or what is not its own, is not operated on
        self.do("create", "foreign")
        self.do("create", "strange", "--pool", "other", "--label", "domain=a")
        env = {**self.env, "SANDMUX_POLICY": str(file)}
        for name in ("foreign", "strange"):
            for args in (["run", name, "--", "true"], ["rm", name, "--yes"], ["extend", name, "--timeout", "1h"], ["suspend", name],
                         ["files", "ls", f"{name}:."], ["create", name, "--pool", "local", "--adopt"], ["lifetime", name, "--never"]):
                r = run(*args, env=env, timeout=60)
                self.assertNotEqual(r.code, 0, args)
                self.assertIn("claim.adopt_mismatch" if args[0] == "create" and name == "strange" else "policy.mismatch", r.err, args)
        self.assertIn("foreign", run("ls", env=env).out)
        self.do(*with_, "create", "--binding-key", "policy-1")
        self.do("create", "--binding-key", "policy-2")
        self.assertIn("policy.mismatch", self.do(*with_, "create", "--binding-key", "policy-2", status=7).err)
        self.do(*with_, "rm", "declared", "--yes")
        file.write_text("templates: [{name: a}, {name: b}]\n")
        self.assertIn("defaultTemplate must say", self.do(*with_, "ls", status=2).err)
        self.do("rm", "--all", "--yes")

    def test_one_sandbox_per_key_whoever_dies(self):
        api, ca = f"https://127.0.0.1:{self.backend.port}", str(self.backend.state / "tls/ca.pem")
        for step in (1, 2, 3, 4):
            for after in (False, True):
                key = f"race-{step}-{after}"
                args = ["create", "--pool", "local", "--binding-key", key, "-o", "json", "--set", "binding-reservation=4s", "--set",
                        "binding-attempts=50"]
                all_ = race(api, ca, self.backend.token, self.folder(), args, n=12, killed=6, step=step, after=after)
                with self.subTest(step=step, after=after):
                    self.assertTrue(any(c.was_killed for c in all_))
                    assert_one(self, key, all_, self.backend.get(CLAIMS).json["items"], self.backend.object(lease_of(key)))
                self.do("rm", "--all", "--yes")

    def test_one_sandbox_per_adopted_name_whoever_dies(self):
        api, ca = f"https://127.0.0.1:{self.backend.port}", str(self.backend.state / "tls/ca.pem")
        for step in (1, 2, 3):
            for after in (False, True):
                name = f"adopted-{step}-{after}".lower()
                args = ["create", name, "--adopt", "--pool", "local", "-o", "json"]
                all_ = race(api, ca, self.backend.token, self.folder(), args, n=12, killed=6, step=step, after=after)
                uid = self.object(name)["metadata"]["uid"]
                with self.subTest(step=step, after=after):
                    self.assertEqual({json.loads(c.out)["uid"] for c in all_ if not c.was_killed}, {uid})
                    self.assertEqual(json.loads(self.do(*args).out)["uid"], uid)
                self.do("rm", "--yes", name)

    def test_run_rm_leaves_nothing(self):
        r = self.do("run", "--rm", "--label", "once=1", "-e", "A=b", "--", "sh", "-c", "echo $A; exit 7", status=7)
        self.assertEqual(r.out, "b\n")
        proc = subprocess.Popen([BIN, "run", "--rm", "--label", "once=2", "--", "sh", "-c", "echo up; sleep 100"], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=self.env)
        self.assertEqual(proc.stdout.readline(), b"up\n")
        proc.send_signal(signal.SIGTERM)
        self.assertEqual(proc.wait(30), 128 + 15)
        self.assertEqual([], [c for c in self.backend.get(CLAIMS).json["items"] if c["metadata"].get("labels", {}).get("once")])
        # killed, it leaves it to its shutdown time
        proc = subprocess.Popen([BIN, "run", "--rm", "--shutdown-after", "3s", "--label", "once=3", "--", "sh", "-c", "echo up; sleep 100"],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=self.env)
        self.assertEqual(proc.stdout.readline(), b"up\n")
        proc.kill()
        proc.wait()
        wait_for("it went by itself", lambda: not [c for c in self.backend.get(CLAIMS).json["items"] if c["metadata"].get("labels", {}).get("once")])
        self.do("run", "--pool", "local", "box", "--", "true", status=2)

    def test_what_has_no_name_goes_with_the_dashboard_if_asked_for(self):
        for on in (False, True):
            scr = self.sandmux_screen(*(["--set", "auto-cleanup=on"] if on else []), rows=24, cols=100, env=self.env)
            scr.wait_for("sandboxes")
            scr.type("n")
            scr.wait_for("New sandbox")
            scr.wait_for("pool local")
            scr.key("Tab", "Tab").type("cleanup=1").key("Enter")
            scr.wait_for("is ready")
            scr.type(":quit\r")
            if on:
                scr.wait_for("made here without a name (auto-cleanup)")
                scr.type("q")
            self.assertEqual(scr.wait_exit(), 0)
            left = [c["metadata"]["name"] for c in self.backend.get(CLAIMS).json["items"] if c["metadata"].get("labels", {}).get("cleanup")]
            self.assertEqual(len(left), 0 if on else 1)
            for name in left:
                self.do("rm", name, "--yes")

    def test_selections(self):
        for name, team in (("sel-a", "x"), ("sel-b", "x"), ("sel-c", "y")):
            self.do("create", name, "--label", f"team={team}")
        self.assertIn("needs --yes", self.do("rm", "-l", "team=x", status=2).err)
        self.assertEqual(self.do("rm", "-l", "team=x", "--yes").out, "sel-a deleted\nsel-b deleted\n")
        self.assertEqual(self.do("rm", "-l", "team=x", "--yes").out, "")
        self.assertEqual(self.do("rm", "--field-selector", "metadata.name=sel-c,state=Ready", "--yes").out, "sel-c deleted\n")
        self.do("create", "sel-mine")
        self.backend.ready_claim("sel-theirs")
        self.assertIn("sel-mine deleted", self.do("rm", "--mine", "--yes").out)
        self.assertIsNotNone(self.object("sel-theirs"))
        self.do("rm", "sel-theirs", "--mine", "--yes", status=2)
        self.do("rm", status=2)
        self.assertIn("sel-theirs deleted", self.do("rm", "--all", "--yes").out)

    def test_wait(self):
        self.do("create", "w1", "--no-wait")
        self.assertEqual(self.do("wait", "w1").out, "w1 condition met\n")
        self.assertEqual(self.do("wait", "w1", "--for", "condition=Ready").out, "w1 condition met\n")
        self.assertIn("Ready is True", self.do("wait", "w1", "--for", "condition=Ready=False", "--timeout", "300ms", status=5).err)
        self.assertIn("w1 is not suspended", self.do("wait", "w1", "--for", "suspended", "--timeout", "300ms", status=5).err)
        proc = subprocess.Popen([BIN, "wait", "w1", "--for", "suspended"], stdout=subprocess.PIPE, env=self.env)
        self.do("suspend", "w1")
        self.assertEqual(proc.communicate(timeout=60)[0], b"w1 condition met\n")
        proc = subprocess.Popen([BIN, "wait", "w1", "nobody", "--for=deleted"], stdout=subprocess.PIPE, env=self.env)
        time.sleep(0.2)
        self.do("rm", "w1", "--yes")
        self.assertEqual(proc.communicate(timeout=60)[0], b"w1 deleted\nnobody deleted\n")
        self.do("wait", "nobody", status=3)

    def test_the_end_of_life(self):
        self.do("create", "life", "--shutdown-after", "1h")
        was = self.object("life")["spec"]["lifecycle"]["shutdownTime"]
        self.assertIn("needs --yes", self.do("lifetime", "life", "--in", "5m", status=2).err)
        self.assertEqual(self.object("life")["spec"]["lifecycle"]["shutdownTime"], was)
        self.assertRegex(self.do("lifetime", "life", "--in", "2h", "--ttl", "5s").out, r"\Alife changed until 20")
        self.assertEqual(self.object("life")["spec"]["lifecycle"]["ttlSecondsAfterFinished"], 5)
        self.do("lifetime", "life", "--never", "--no-ttl", "--shutdown-policy", "Retain")
        self.assertEqual(self.object("life")["spec"]["lifecycle"], {"shutdownPolicy": "Retain"})
        self.do("lifetime", "life", "--at", "2099-01-01T00:00:00Z", "--yes")
        self.assertEqual(self.object("life")["spec"]["lifecycle"]["shutdownTime"], "2099-01-01T00:00:00Z")
        self.do("lifetime", "life", status=2)
        self.do("lifetime", "life", "--in", "1s", "--yes")
        wait_for("it has ended", lambda: "ClaimExpired" in json.dumps(self.object("life")["status"]))
        # one that was kept would come back empty
        self.assertIn("claim.expired", self.do("lifetime", "life", "--never", status=1).err)
        self.do("rm", "life", "--yes", "--cascade", "foreground", "--grace-period", "1")


if __name__ == "__main__":
    main()
