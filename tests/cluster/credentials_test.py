# SPDX-License-Identifier: Apache-2.0
"""Each way of proving who one is, against the real API server with TLS and RBAC: what works, and what each failure says
(code, exit status, words). No secret is ever in argv, on stderr or in the log, at its most talkative."""
import base64
import json
import os
import re
import subprocess
import time
from pathlib import Path

from cluster_case import ClusterCase, Lines, decoded, wait_until
from harness import BIN, main
from harness.sandmux import home_env

READ = [{"apiGroups": ["extensions.agents.x-k8s.io", "agents.x-k8s.io"], "resources": ["*"], "verbs": ["get", "list", "watch"]}]
PLUGIN = """#!/usr/bin/env python3
import datetime, json, os, pathlib, sys
here = pathlib.Path(sys.argv[0]).parent
with open(here / "runs", "a") as f:
    f.write(json.dumps({"info": json.loads(os.environ.get("KUBERNETES_EXEC_INFO", "null")), "args": sys.argv[1:],
                        "own": os.environ.get("PLUGIN_OWN")}) + "\\n")
how = json.loads((here / "how").read_text())
if how.get("stderr"):
    print(how["stderr"], file=sys.stderr)
if "raw" in how:
    print(how["raw"])
    sys.exit(how.get("exit", 0))
status = {k: v for k, v in how.items() if k in ("token", "clientCertificateData", "clientKeyData")}
if "seconds" in how:
    ends = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=how["seconds"])
    status["expirationTimestamp"] = ends.strftime("%Y-%m-%dT%H:%M:%SZ")
print(json.dumps({"apiVersion": how.get("version", "client.authentication.k8s.io/v1"), "kind": "ExecCredential", "status": status}))
"""


class Credentials(ClusterCase):
    NODE = False

    def setUp(self):
        super().setUp()
        self.shared_pools()
        self.claim("seen", "loopback")
        self.addCleanup(self.kubectl, "-n", self.ns, "delete", "sandboxclaims", "--all", "--wait=false")
        self.secrets = [self.cluster.token]

    def secret(self, text: str) -> str:
        self.secrets.append(text)
        return text

    def plugin(self, **how):
        """A credential plugin that answers so; its entry in a kubeconfig."""
        path = self.tmp / "login-plugin"
        path.write_text(PLUGIN)
        path.chmod(0o755)
        (self.tmp / "how").write_text(json.dumps(how))
        return {"apiVersion": how.get("version", "client.authentication.k8s.io/v1"), "command": str(path), "interactiveMode": "Never"}

    def plugin_runs(self) -> list:
        runs = self.tmp / "runs"
        return [json.loads(line) for line in runs.read_text().splitlines()] if runs.exists() else []

    def clean(self, *texts):
        """No secret, nor what a header would make of it, is in any of these."""
        for secret in self.secrets:
            for text in texts:
                self.assertNotIn(secret, text)

    def ask(self, config, *args, env=None, verb=("ls", "-o", "name")):
        """sandmux ls with that kubeconfig, with the log at its loudest; secrets are looked for everywhere."""
        log = self.tmp / "log"
        log.unlink(missing_ok=True)
        more = ["--kubeconfig", config] if config else []
        r = self.sandmux(*more, "-n", self.ns, *args, *verb, env={"SANDMUX_LOG": "trace", "SANDMUX_LOG_FILE": str(log), **(env or {})}, timeout=60)
        said = log.read_text(errors="replace") if log.exists() else ""
        self.clean(r.err, r.out, said)
        self.log_bytes = len(said)
        return r

    def works(self, config, *args, **kw):
        r = self.ask(config, *args, **kw)
        self.assertEqual((r.code, r.out), (0, "sandboxclaim/seen\n"), r.err)
        self.assertGreater(self.log_bytes, 0, "the log is empty: looking for secrets in it proves nothing")
        return r

    def fails(self, code: str, status: int, words: str, config, *args, said=(), **kw):
        """said: lines of the plugin's own, before ours."""
        r = self.ask(config, *args, **kw)
        self.assertEqual(r.out, "")
        *before, line = r.err.strip().split("\n")
        self.assertEqual(before, list(said))
        self.assertRegex(line, rf"^sandmux: {re.escape(code)}: .*{words}", "the message")
        self.assertEqual(r.code, status, line)
        return r

    # --- what works
    def test_client_certificate_as_data(self):
        user = self.admin()
        self.secret(user["client-key-data"])
        self.secret(decoded(user["client-key-data"]).decode().split("\n")[1])
        self.works(self.config(user))

    def test_client_certificate_in_files(self):
        user = self.admin()
        for kind in ("certificate", "key"):
            (self.tmp / f"{kind}.pem").write_bytes(decoded(user[f"client-{kind}-data"]))
        self.works(self.config({"client-certificate": "certificate.pem", "client-key": "key.pem"}))  # relative to the kubeconfig

    def test_authority_as_data_and_in_a_relative_file(self):
        ca = Path(self.cluster.ca).read_bytes()
        user = {"token": self.cluster.token}
        self.works(self.config(user, {"certificate-authority": None, "certificate-authority-data": base64.b64encode(ca).decode()}))
        (self.tmp / "authority.pem").write_bytes(ca)
        self.works(self.config(user, {"certificate-authority": "authority.pem"}))

    def test_token(self):
        self.works(self.config({"token": self.cluster.token}))

    def test_token_of_small_rights(self):
        token = self.secret(self.service_account("reader", READ))
        config = self.config({"token": token})
        self.works(config)
        r = self.fails("kube.forbidden", 4, "create.*sandboxclaims", config, verb=("create", "x", "--pool", "loopback", "--no-wait"))
        self.assertIn(f"system:serviceaccount:{self.ns}:{self.account}", r.err)
        # no right to look at pools, pods, events: greyed out there, and nothing else
        scr = self.dash(config=config)
        scr.wait_for(re.compile(r"seen "))
        self.clean(scr.text())

    def test_token_without_any_right(self):
        token = self.secret(self.service_account("nobody"))
        self.fails("kube.forbidden", 4, "cannot list.*sandboxclaims", self.config({"token": token}))

    def test_wrong_token(self):
        self.fails("kube.unauthorized", 4, "", self.config({"token": self.secret("not-a-token-at-all")}))

    def test_token_on_the_command_line_and_over_the_kubeconfig(self):
        config = self.config({"token": "a-wrong-one-in-the-file"})
        self.works(config, "--token", self.cluster.token)

    def test_no_credentials(self):
        self.fails("kube.forbidden", 4, "anonymous", self.config({}))

    def test_server_and_authority_on_the_command_line(self):
        self.works(None, "--server", self.cluster.api, "--certificate-authority", self.cluster.ca, "--token", self.cluster.token)

    # --- a token file that changes
    def test_token_file(self):
        (self.tmp / "token").write_text(self.cluster.token + "\n")
        self.works(self.config({"tokenFile": "token"}))
        (self.tmp / "token").write_text(self.secret("no-longer-a-token"))
        self.fails("kube.unauthorized", 4, "", self.config({"tokenFile": "token"}))
        (self.tmp / "token").unlink()
        r = self.ask(self.config({"tokenFile": "token"}))
        self.assertNotEqual(r.code, 0)

    def test_token_file_rotated_while_watching(self):
        """The first token's account vanishes, and with it the token; the second one in the file takes over by itself."""
        first = self.secret(self.service_account("first", READ))
        first_account = self.account
        (self.tmp / "token").write_text(first)
        config = self.config({"tokenFile": str(self.tmp / "token")})
        lines = Lines(self, "--kubeconfig", config, "-n", self.ns, "ls", "-w", "-o", "json")
        lines.when(lambda line: line.get("object", {}).get("claim") == "seen")
        second = self.secret(self.service_account("second", READ))
        (self.tmp / "token").write_text(second)
        self.kubectl("-n", self.ns, "delete", "serviceaccount", first_account)
        scr = self.dash(config=config)
        scr.wait_for("seen")
        self.claim("later", "loopback")
        lines.when(lambda line: line.get("object", {}).get("claim") == "later", timeout=90)

    # --- plugins
    def test_plugin_of_both_versions(self):
        for version in ("v1", "v1beta1"):
            with self.subTest(version):
                entry = self.plugin(token=self.cluster.token, version=f"client.authentication.k8s.io/{version}")
                entry.update(args=["--one", "two"], env=[{"name": "PLUGIN_OWN", "value": self.secret("value-of-the-variable")}], provideClusterInfo=True)
                if version == "v1beta1":
                    del entry["interactiveMode"]
                self.works(self.config({"exec": entry}))
                run = self.plugin_runs()[-1]
                self.assertEqual(run["args"], ["--one", "two"])
                self.assertEqual(run["own"], "value-of-the-variable")
                self.assertEqual(run["info"]["apiVersion"], f"client.authentication.k8s.io/{version}")
                self.assertEqual(run["info"]["spec"]["cluster"]["server"], self.cluster.api)
                self.assertFalse(run["info"]["spec"]["interactive"])

    def test_plugin_gives_a_certificate(self):
        user = self.admin()
        self.secret(decoded(user["client-key-data"]).decode().split("\n")[1])
        self.works(self.config({"exec": self.plugin(clientCertificateData=decoded(user["client-certificate-data"]).decode(),
                                                    clientKeyData=decoded(user["client-key-data"]).decode())}))

    def test_plugin_is_asked_once_while_its_token_lives(self):
        config = self.config({"exec": self.plugin(token=self.cluster.token, seconds=3600)})
        scr = self.dash(config=config)
        scr.wait_for("seen")
        self.claim("another-one", "loopback")
        scr.wait_for("another-one")
        self.assertEqual(len(self.plugin_runs()), 1)

    def test_plugin_whose_token_expires_is_asked_again(self):
        config = self.config({"exec": self.plugin(token=self.secret(self.service_account("first", READ)), seconds=5)})
        scr = self.dash(config=config)
        scr.wait_for("seen")
        runs = len(self.plugin_runs())  # one, where the first five seconds were enough for all lists
        self.plugin(token=self.secret(self.service_account("second", READ)), seconds=3600)
        time.sleep(5)
        scr.type("d")  # reads the object: the first call since
        wait_until(lambda: len(self.plugin_runs()) > runs, "another run of the plugin")

    def test_plugin_is_asked_again_after_a_401(self):
        """The token has no date, and stops working while the dashboard is open."""
        first = self.secret(self.service_account("first", READ + [{"apiGroups": ["extensions.agents.x-k8s.io"], "resources": ["sandboxclaims"], "verbs": ["delete"]}]))
        first_account = self.account
        config = self.config({"exec": self.plugin(token=first)})
        scr = self.dash(config=config)
        scr.wait_for("seen")
        second = self.secret(self.service_account("second", READ + [{"apiGroups": ["extensions.agents.x-k8s.io"], "resources": ["sandboxclaims"], "verbs": ["delete"]}]))
        self.plugin(token=second)
        self.kubectl("-n", self.ns, "delete", "serviceaccount", first_account)
        time.sleep(11)  # the API server believes a token that it has seen for ten seconds
        scr.key("C-d")
        scr.wait_for("Delete 1 sandbox?")
        scr.type("d")
        wait_until(lambda: len(self.plugin_runs()) >= 2, "a second run of the plugin")
        wait_until(lambda: not self.kubectl("-n", self.ns, "get", "sandboxclaim", "seen", "--ignore-not-found"), "the deletion")

    def test_plugin_failures(self):
        secret = self.secret("token-in-a-bad-answer")
        table = [
            ("it fails", {"raw": "", "exit": 7, "stderr": "please run: login-plugin login"}, "login-plugin.*status 7", {}),
            ("no JSON", {"raw": secret}, "login-plugin.*not JSON", {}),
            ("another kind", {"raw": json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "Config", "status": {"token": secret}})},
             "not an ExecCredential", {}),
            ("another version", {"token": secret, "version": "client.authentication.k8s.io/v1beta1"}, "another apiVersion",
             {"apiVersion": "client.authentication.k8s.io/v1"}),
            ("a version nobody knows", {"token": secret}, "exec.apiVersion: must be", {"apiVersion": "client.authentication.k8s.io/v1alpha1"}),
            ("nothing in it", {"version": "client.authentication.k8s.io/v1"}, "neither a token nor a certificate", {}),
            ("a certificate without a key", {"clientCertificateData": "x"}, "without a key", {}),
            ("expired when it came", {"token": secret, "seconds": -60}, "expired", {}),
            ("no such program", {"token": secret}, "no such program.*get it from there", {"command": "no-such-login-plugin", "installHint": "get it from there"}),
            ("it wants a terminal", {"token": secret}, "terminal", {"interactiveMode": "Always"}),
        ]
        for name, how, words, entry in table:
            with self.subTest(name):
                config = self.config({"exec": {**self.plugin(**how), **entry}})
                bad_entry = "must be" in words
                self.fails("config.kubeconfig" if bad_entry else "config.exec_plugin", 2 if bad_entry else 4, words, config,
                           said=[how["stderr"]] if "stderr" in how else [])

    def test_plugin_that_tells_its_token(self):
        """What it writes to stderr is in the log, but for what looks like a secret."""
        token = self.secret(self.service_account("chatty", READ))
        for word in ("debug: got ", "Authorization: Bearer ", '{"token":"', ""):
            self.works(self.config({"exec": self.plugin(token=token, stderr=f"{word}{token}")}))
            self.assertIn("exec plugin login-plugin: ", (self.tmp / "log").read_text())
        self.secret("hunter2")
        self.works(self.config({"exec": self.plugin(token=token, stderr="using password=hunter2")}))

    def test_plugin_token_that_the_server_refuses(self):
        self.fails("kube.unauthorized", 4, "", self.config({"exec": self.plugin(token=self.secret("refused-by-the-server"))}))
        self.assertEqual(len(self.plugin_runs()), 2)  # once more after the 401, and then no more

    # --- TLS
    def test_wrong_authority(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=other",
                        "-keyout", self.tmp / "other.key", "-out", self.tmp / "other.pem"], check=True, capture_output=True)
        user = {"token": self.cluster.token}
        self.fails("kube.tls", 6, "certificate", self.config(user, {"certificate-authority": "other.pem"}))
        # and none given: the machine's authorities do not know it either
        self.fails("kube.tls", 6, "certificate", self.config(user, {"certificate-authority": None}))

    def test_wrong_name(self):
        user = {"token": self.cluster.token}
        self.fails("kube.tls", 6, "no-such-name.example", self.config(user, {"tls-server-name": "no-such-name.example"}))
        self.works(self.config(user, {"tls-server-name": "kubernetes.default.svc"}))

    def test_insecure(self):
        user = {"token": self.cluster.token}
        self.works(self.config(user, {"certificate-authority": None, "insecure-skip-tls-verify": True}))
        config = self.config(user, {"certificate-authority": None})
        self.works(config, "--insecure-skip-tls-verify")
        scr = self.dash("--insecure-skip-tls-verify", config=config)
        scr.wait_for("seen")
        scr.wait_for(re.compile(r"insecure|not verified|TLS off", re.I))
        self.fails("config.kubeconfig", 2, "insecure", self.config(user, {"insecure-skip-tls-verify": True}))  # with an authority too

    def test_no_server_there(self):
        self.fails("kube.transport", 6, "127.0.0.1:1", self.config({"token": self.cluster.token}, {"server": "https://127.0.0.1:1"}))
        self.fails("kube.transport", 6, "no-such-host.invalid", self.config({"token": self.cluster.token}, {"server": "https://no-such-host.invalid"}))

    # --- somebody else's name
    def test_impersonation(self):
        self.service_account("reader", READ)
        reader = f"system:serviceaccount:{self.ns}:{self.account}"
        token = {"token": self.cluster.token}
        self.works(self.config(token), "--as", reader)
        self.works(self.config({**token, "as": reader}))
        self.fails("kube.forbidden", 4, 'User "jane" cannot list', self.config(token), "--as", "jane")
        self.works(self.config(token), "--as", "jane", "--as-group", "system:masters")
        self.works(self.config({**token, "as": "jane", "as-groups": ["a", "system:masters"]}))

    def test_impersonation_denied(self):
        token = self.secret(self.service_account("reader", READ))
        self.fails("kube.forbidden", 4, "cannot impersonate", self.config({"token": token}), "--as", "jane")

    # --- files
    def test_files(self):
        missing = self.tmp / "missing"
        self.fails("config.kubeconfig", 2, "missing.*[Nn]o such file", missing)
        bad = self.tmp / "bad"
        bad.write_text("apiVersion: v1\nkind: Config\nclusters: [\n  {name: x\n")
        self.fails("config.kubeconfig", 2, "bad.*line", bad)
        bad.write_text("just words")
        self.fails("config.kubeconfig", 2, "bad", bad)
        good = self.config({"token": self.cluster.token})
        self.fails("config.kubeconfig", 2, "no-such-context", good, "--context", "no-such-context")
        self.fails("config.kubeconfig", 2, "no-such-user", good, "--user", "no-such-user")
        self.fails("config.kubeconfig", 2, "no-such-cluster", good, "--cluster", "no-such-cluster")
        self.fails("config.kubeconfig", 2, "certificate-authority|nowhere", self.config({"token": self.cluster.token}, {"certificate-authority": "nowhere.pem"}))
        self.fails("config.kubeconfig", 2, "server", self.config({"token": self.cluster.token}, {"server": "not a url"}))
        if os.geteuid() != 0:
            Path(good).chmod(0)
            self.fails("config.kubeconfig", 2, "[Pp]ermission", good)

    def test_list_of_files_is_merged(self):
        """As kubectl: the first to set a value wins, what the others add is added, files that are missing are skipped."""
        whole = json.loads(Path(self.config({"token": self.cluster.token})).read_text())
        parts = {}
        for n, keys in enumerate((["contexts", "current-context"], ["clusters"], ["users"])):
            parts[n] = self.tmp / f"part{n}"
            parts[n].write_text(json.dumps({"apiVersion": "v1", "kind": "Config", **{k: whole[k] for k in keys}}))
        wrong = self.tmp / "wrong"
        wrong.write_text(json.dumps({**whole, "users": [{"name": "u", "user": {"token": self.secret("loses-to-the-first")}}], "current-context": "other"}))
        paths = [str(self.tmp / "missing"), *map(str, parts.values()), str(wrong)]
        self.works(None, env={"KUBECONFIG": ":".join(paths)})
        r = self.ask(None, env={"KUBECONFIG": ":".join([str(wrong), *paths])})
        self.assertEqual((r.code, r.out), (2, ""), r.err)  # now the wrong one is first: its current-context names nothing
        # one of them broken is said by its name
        parts[2].write_text("[")
        self.fails("config.kubeconfig", 2, "part2", None, env={"KUBECONFIG": ":".join(paths)})

    def test_service_account_in_the_cluster(self):
        token = self.secret(self.service_account("reader", READ))
        folder = self.tmp / "account"
        folder.mkdir()
        for name, text in (("token", token), ("ca.crt", Path(self.cluster.ca).read_text()), ("namespace", self.ns)):
            (folder / name).write_text(text)
        host, port = self.cluster.api.removeprefix("https://").split(":")
        env = {"KUBECONFIG": None, "KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port, "SANDMUX_SERVICE_ACCOUNT_DIR": str(folder)}
        r = subprocess.run([BIN, "ls", "-o", "name"], capture_output=True, text=True, timeout=60,
                           env={k: v for k, v in {**os.environ, **home_env(self.tmp), **env}.items() if v is not None})
        self.assertEqual((r.returncode, r.stdout), (0, "sandboxclaim/seen\n"), r.stderr)
        self.clean(r.stderr)

    # --- argv
    def test_no_secret_in_argv_or_environment_of_what_runs(self):
        token = self.secret(self.service_account("reader", READ))
        config = self.config({"exec": self.plugin(token=token)})
        scr = self.dash(config=config)
        scr.wait_for("seen")
        for name in ("cmdline", "environ"):
            self.clean(Path(f"/proc/{scr.pid}/{name}").read_bytes().decode(errors="replace"))
        self.clean(scr.text(), scr.raw.decode(errors="replace"))


if __name__ == "__main__":
    main()
