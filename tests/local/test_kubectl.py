# SPDX-License-Identifier: Apache-2.0
"""The verbs of the real kubectl."""
import json
import os
import subprocess

from harness.bed import need_bed
from harness.case import Case, main

from backend import CLAIMS, Backend, claim, wait_for

POOL = {"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxWarmPool", "metadata": {"name": "second"},
        "spec": {"replicas": 0, "sandboxTemplateRef": {"name": "local"}}}


class Kubectl(Case):
    def setUp(self):
        self.need_bed("kubectl")
        self.backend = Backend(self.tmp / "state")
        self.addCleanup(self.backend.stop)
        self.k = self.backend.kubectl

    def read(self, *args):
        return json.loads(self.k("get", *args, "-o", "json"))

    def test_get_and_api_resources(self):
        table = self.k("api-resources", "--no-headers")
        for word in ("sandboxclaims", "swp", "sandboxes", "pods", "leases"):
            self.assertIn(word, table)
        wait_for("a warm sandbox", lambda: "True" in self.k("get", "sandboxes"))
        self.assertRegex(self.k("get", "swp"), r"NAME +READY +DESIRED +AGE\nlocal +1 +1 +\d+s")
        self.assertRegex(self.k("get", "pods", "-o", "wide"), r"1/1 +Running +0 +\S+ +127\.\d+\.\d+\.\d+ +sandmux-local")
        self.assertIn("namespace/default", self.k("get", "ns", "-o", "name"))
        self.assertIn("v1.36", self.k("version"))

    def test_create_wait_describe_delete(self):
        self.k("create", "-f", "-", stdin=json.dumps(claim("c1")))
        self.k("wait", "--for=condition=Ready", "sandboxclaim/c1", "--timeout=20s")
        got = self.read("sandboxclaim", "c1")
        sandbox = got["status"]["sandbox"]["name"]
        self.assertRegex(self.k("get", "sandboxclaims"), rf"c1 +True +{sandbox} +DependenciesReady")
        text = self.k("describe", "sandboxclaim", "c1")
        self.assertIn("Adopted warm pool Sandbox", text)
        self.assertIn("SandboxAdopted", text)
        self.assertIn("Restart Count", self.k("describe", "pod", sandbox))
        r = self.k("create", "-f", "-", stdin=json.dumps(claim("c1")), check=False)
        self.assertIn("AlreadyExists", r.stderr)
        self.k("delete", "sandboxclaim", "c1", "--timeout=20s")
        r = self.k("get", "sandboxclaim", "c1", check=False)
        self.assertIn("(NotFound)", r.stderr)
        wait_for("its sandbox goes", lambda: self.k("get", "sandbox", sandbox, check=False).returncode != 0)
        wait_for("and its pod", lambda: self.k("get", "pod", sandbox, check=False).returncode != 0)

    def test_create_refuses_unknown_and_wrong_fields(self):
        r = self.k("create", "-f", "-", stdin=json.dumps(claim("bad", bogus=1)), check=False)
        self.assertNotEqual(r.returncode, 0)
        self.assertIn('unknown field "spec.bogus"', r.stderr)
        body = claim("bad", lifecycle={"shutdownPolicy": "Maybe"})
        r = self.k("create", "-f", "-", stdin=json.dumps(body), check=False)
        self.assertIn("spec.lifecycle.shutdownPolicy", r.stderr)

    def test_apply_client_and_server_side(self):
        self.assertIn("created", self.k("apply", "-f", "-", stdin=json.dumps(POOL)))
        self.assertIn("unchanged", self.k("apply", "-f", "-", stdin=json.dumps(POOL)))
        changed = {**POOL, "metadata": {"name": "second", "labels": {"a": "b"}}}
        self.assertIn("configured", self.k("apply", "-f", "-", stdin=json.dumps(changed)))
        self.k("apply", "-f", "-", stdin=json.dumps(POOL))
        self.assertNotIn("labels", self.read("swp", "second")["metadata"])
        self.k("apply", "--server-side", "-f", "-", stdin=json.dumps(changed))
        self.assertEqual(self.read("swp", "second")["metadata"]["labels"], {"a": "b"})
        self.k("apply", "--server-side", "-f", "-", stdin=json.dumps(POOL))
        self.assertNotIn("labels", self.read("swp", "second")["metadata"])

    def test_scale(self):
        self.k("scale", "swp", "local", "--replicas=2")
        wait_for("two are ready", lambda: self.read("swp", "local")["status"].get("readyReplicas") == 2)
        self.k("scale", "swp", "local", "--replicas=0")
        wait_for("none is left", lambda: not self.read("sandboxes")["items"] and not self.read("pods")["items"])

    def test_get_watch(self):
        p = subprocess.Popen([need_bed("kubectl"), "get", "sandboxclaims", "-w", "--no-headers"], stdout=subprocess.PIPE, text=True,
                             env={**os.environ, "KUBECONFIG": str(self.backend.kubeconfig)})
        try:
            self.backend.create(CLAIMS, claim("first", pool="missing"))
            self.assertRegex(p.stdout.readline(), r"^first ")  # it looks
            self.backend.ready_claim("seen")
            self.k("delete", "sandboxclaim", "seen")
            lines = []
            while not lines or "True" not in lines[-1]:
                line = p.stdout.readline()
                self.assertTrue(line, "kubectl ended")
                lines += [line] if not line.startswith("first ") else []
            self.assertRegex(lines[0], r"^seen +\S+")
            self.assertRegex(lines[-1], r"^seen +True +\S+ +DependenciesReady")
        finally:
            p.kill()
            p.communicate()

    def test_label_annotate_edit_suspend(self):
        got = self.backend.ready_claim("c1")
        sandbox = got["status"]["sandbox"]["name"]
        self.k("label", "sandboxclaim", "c1", "team=red")
        self.assertIn("c1", self.k("get", "sandboxclaims", "-l", "team in (red,blue),!other", "-o", "name"))
        self.assertEqual(self.k("get", "sandboxclaims", "-l", "team!=red", "-o", "name"), "")
        self.k("annotate", "sandboxclaim", "c1", "note=hello")
        self.k("patch", "sandbox", sandbox, "--type=merge", "-p", '{"spec":{"operatingMode":"Suspended"}}')
        self.k("wait", "--for=condition=Suspended", f"sandbox/{sandbox}", "--timeout=20s")
        self.assertEqual(self.k("get", "pods", sandbox, "--ignore-not-found"), "")
        self.k("patch", "sandbox", sandbox, "--type=json", "-p", '[{"op":"replace","path":"/spec/operatingMode","value":"Running"}]')
        self.k("wait", "--for=condition=Ready", f"sandbox/{sandbox}", "--timeout=20s")

    def test_explain_and_access(self):
        self.assertIn("warmPoolRef", self.k("explain", "sandboxclaim.spec"))
        self.assertIn("shutdownPolicy", self.k("explain", "sandbox.spec"))
        self.assertEqual(self.k("auth", "can-i", "create", "pods").strip(), "yes")
        self.assertIn("sandmux-local", self.k("auth", "whoami"))

    def test_namespaces(self):
        self.k("create", "namespace", "red")
        self.k("create", "-n", "red", "-f", "-", stdin=json.dumps({**POOL, "metadata": {"name": "p"}}))
        self.assertRegex(self.k("get", "swp", "-A"), r"red +p ")
        self.k("delete", "namespace", "red", "--timeout=20s")
        self.assertNotIn("red", self.k("get", "ns"))
        self.assertNotIn("red", self.k("get", "swp", "-A"))
        r = self.k("create", "-n", "red", "-f", "-", stdin=json.dumps({**POOL, "metadata": {"name": "p"}}), check=False)
        self.assertIn('namespaces "red" not found', r.stderr)

    def test_logs(self):
        self.backend.ready_claim("c1")
        pod = self.read("sandboxclaim", "c1")["status"]["sandbox"]["name"]
        self.k("logs", pod, "--timestamps", "--tail=5")
        r = self.k("logs", pod, "-p", check=False)
        self.assertIn("previous terminated container", r.stderr)
        self.assertIn("not valid", self.k("logs", pod, "-c", "nope", check=False).stderr)


main()
