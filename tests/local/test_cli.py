# SPDX-License-Identifier: Apache-2.0
"""The command line as a contract: help pages, output forms, exit statuses, and one clear line for each bad input."""
import json
import os
import re
import resource
import signal
import socket
import subprocess
import time
from pathlib import Path

from cases.daemon import DaemonCases
from harness import BIN, Case, free_port, main
from harness.sandmux import home_env
from harness.scripted_api import ScriptedApi
from harness.screen import GOLDEN, terminal_env

VERBS = ["ls", "top", "get", "describe", "events", "tree", "pool", "template", "lease", "create", "rm", "suspend", "resume", "extend", "run", "sh", "cp", "files", "health",
         "metadata", "status", "local", "probe", "doctor", "settings", "completion", "help", "version"]


class Settings(Case):
    def values(self, *args, **kw):
        return json.loads(self.sandmux(*args, "settings", "-o", "json", check=0, **kw).out)

    def test_the_page_has_every_one(self):
        page = (GOLDEN.parents[1] / "docs/settings.md").read_text()
        rows = dict(re.findall(r"^\| `([a-z-]+)` \| ([^|]+) \|", page, re.M))
        lines = self.sandmux("settings", check=0).out.split("\n\n")[0].splitlines()[1:]
        told = {name: default for name, _, default in (re.match(r"(\S+) +(.+?)  +(.+?)  ", line).groups() for line in lines)}
        self.assertEqual(rows, told)

    def test_the_file_and_then_the_option(self):
        folder = self.tmp / "config/sandmux"
        folder.mkdir(parents=True)
        env = {"XDG_CONFIG_HOME": str(self.tmp / "config")}
        (folder / "settings.yaml").write_text("ready-timeout: 20s\nlist-page: 50\ndownload-limit: 1GiB\n")
        got = self.values("--set", "list-page=60", "--set", "upload-limit=none", env=env)
        self.assertEqual({k: v["value"] for k, v in got.items() if k in ("ready-timeout", "list-page", "download-limit", "upload-limit")},
                         {"ready-timeout": 20000, "list-page": 60, "download-limit": 1 << 30, "upload-limit": 0})
        for text, words in (("ready-timeout: soon", "ready-timeout: 'soon' is not a time"), ("nope: 1", "no setting 'nope'"), ("- 1", "map of settings"),
                            ("list-page: [1]", "list-page: a text or a number"), ("list-page: 0", "not within 1 and 100000")):
            (folder / "settings.yaml").write_text(text)
            r = self.sandmux("settings", env=env)
            self.assertRegex(r.err, f"^sandmux: config.file: .*settings.yaml: .*{words}")
            self.assertNotEqual(r.code, 0)
        for verb in (["--help"], ["rm", "--help"], ["help"], ["version"], ["completion", "bash"]):  # who asks for help gets it
            self.assertNotEqual(self.sandmux(*verb, env=env, check=0).out, "")
        for text in ("list-page", "=1", "list-page=", "list-page=1e3", "claim-limit=-1", "output-limit=1TiB"):
            r = self.sandmux("--set", text, "settings")
            self.assertEqual((r.code, r.out), (2, ""), text)

    def test_it_is_obeyed(self):
        server = self.sandboxd()
        where = ("--rest", server.rest_url, "--grpc", server.grpc)
        (self.tmp / "f").write_bytes(b"x" * 3000)
        self.sandmux(*where, "cp", self.tmp / "f", ":f", check=0)
        r = self.sandmux(*where, "--set", "upload-limit=2KiB", "cp", self.tmp / "f", ":g")
        self.assertRegex(r.err, "limit.upload")
        r = self.sandmux(*where, "--set", "download-limit=2KiB", "files", "cat", ":f")
        self.assertRegex(r.err, "limit.download")
        self.assertEqual(self.sandmux(*where, "--set", "download-limit=3000", "files", "cat", ":f", check=0).out, "x" * 3000)


class Doctor(Case):
    def doctor(self, answers=None, **env):
        """doctor on a terminal that gives these answers (pairs of a question's end and bytes); what it printed, and what is left to read."""
        master, slave = os.openpty()
        p = subprocess.Popen([BIN, "--kubeconfig", "/dev/null", "--server", "http://127.0.0.1:1", "doctor"], stdin=slave, stdout=slave, stderr=slave,
                             env={**os.environ, **home_env(self.tmp), "TERM": "xterm-256color", "LANG": "C.UTF-8", **env}, start_new_session=True)
        os.close(slave)
        out, asked = b"", {}
        while True:
            try:
                data = os.read(master, 4096)
            except OSError:
                break
            out += data
            for question, answer in (answers or {}).items():
                if out.count(question) > asked.get(question, 0):
                    asked[question] = out.count(question)
                    os.write(master, answer() if callable(answer) else answer)
        os.close(master)
        p.wait(20)
        self.assertNotRegex(out, rb"[^\r]\n", "a line was written while the terminal was raw")
        return out.decode(errors="replace")

    @staticmethod
    def cursor(widths):
        """Answers where the cursor is, by the widths given for the texts in turn."""
        left = iter(widths)
        return lambda: b"\x1b[5;%dR" % (next(left) + 1)

    def test_a_terminal_that_answers(self):
        out = self.doctor({b"\x1b[c": b"\x1b[?1006;2$y\x1b[?2004;1$y\x1b[?64;22;52c", b"\x1b[6n": self.cursor([2, 1, 2, 1])}, TMUX="")
        for line in ("ok +mouse +yes", "ok +bracketed paste +yes", "ok +clipboard .* yes", "ok +widths +as the C library"):
            self.assertRegex(out, line)

    def test_one_that_counts_otherwise(self):
        out = self.doctor({b"\x1b[c": b"\x1b[?1006;0$y\x1b[?62c", b"\x1b[6n": self.cursor([2, 2, 1, 2])})
        self.assertRegex(out, "warning +mouse +the terminal does not know it")
        self.assertRegex(out, "skipped +bracketed paste +the terminal does not tell")
        self.assertRegex(out, "widths +combining accent: 2 columns instead of 1, emoji: 1 columns instead of 2, line drawing: 2 columns instead of 1")

    def test_one_that_answers_nothing_or_nonsense(self):
        for answers in (None, {b"\x1b[c": b"\x1b[?1006;" * 100}, {b"\x1b[c": b"\x1b[?64c", b"\x1b[6n": b"\x1b[9999999999999999999;-1R" + b"x" * 600}):
            start = time.monotonic()
            out = self.doctor(answers)
            self.assertLess(time.monotonic() - start, 15)
            self.assertRegex(out, "skipped +(mouse, clipboard, widths|widths) +the terminal|widths")
            self.assertIn("API server", out)


class Core(Case):
    """A core file would hold every token."""

    def dies(self, **env):
        p = subprocess.Popen([BIN, "--kubeconfig", self.scripted(), "ls", "-w"], cwd=self.tmp, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, env={**os.environ, **home_env(self.tmp), **env}, preexec_fn=lambda: resource.setrlimit(
                                 resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2))
        self.addCleanup(lambda: (p.kill(), p.wait()))
        limits = Path(f"/proc/{p.pid}/limits")
        end = time.monotonic() + 20
        while not self.api.watchers.get("sandboxes"):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        soft = re.search(r"^Max core file size +(\S+)", limits.read_text(), re.M)[1]
        p.send_signal(signal.SIGABRT)
        self.assertEqual(p.wait(20), -signal.SIGABRT)
        return soft, [f for f in os.listdir(self.tmp) if "core" in f]

    def scripted(self):
        self.api = ScriptedApi(1)
        self.addCleanup(self.api.stop)
        return self.api.kubeconfig(self.tmp / "kubeconfig")

    def test_there_is_none(self):
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        self.assertEqual(self.dies(), ("0" if hard == 0 else "1", []))

    def test_who_debugs_asks_for_it(self):
        soft, _ = self.dies(SANDMUX_CORE="1")
        self.assertNotEqual(soft, "1")


class Contract(Case):
    """What scripts depend on: a verb or a flag may be added, never changed. Regenerate with SANDMUX_GOLDEN=write."""

    def test_help_pages_only_grow(self):
        path = GOLDEN / "cli/help.txt"
        pages = [self.sandmux("--help", check=0).out] + [self.sandmux(verb, "--help", check=0).out for verb in [*VERBS, "options"]]
        text = "\n---\n".join(pages)
        if os.environ.get("SANDMUX_GOLDEN") == "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        words = lambda s: set(re.findall(r"(?<![\w-])(?:--[a-z-]+|-[a-zA-Z](?=[, ]))|^  sandmux [a-z]+", s, re.M))
        self.assertEqual(words(path.read_text()) - words(text), set(), "a verb or a flag is gone")

    def test_every_verb_has_a_page(self):
        for verb in VERBS:
            self.assertTrue(self.sandmux("help", verb, check=0).out.startswith(f"sandmux {verb}"), verb)

    def test_version(self):
        self.assertRegex(self.sandmux("version", check=0).out, r"^sandmux \d+\.\d+\.\d+\n$")
        self.assertIn("version", json.loads(self.sandmux("version", "-o", "json", check=0).out))

    def test_help_in_the_words_of_the_plugin(self):
        link = self.tmp / "kubectl-sandbox"
        link.symlink_to(BIN)
        page = subprocess.run([link, "help", "ls"], capture_output=True, text=True, check=True).stdout
        self.assertTrue(page.startswith("kubectl sandbox ls [KIND]"))
        self.assertIn("\n  kubectl sandbox ls -l team=blue -w\n", page)
        self.assertNotIn("sandmux", page)


class Completion(Case):
    """What shells offer. Without a cluster: names are tried with the backend."""

    def complete(self, *words):
        lines = self.sandmux("__complete", *words, check=0).out.splitlines()
        return [line.split("\t")[0] for line in lines[:-1]], lines[-1]

    def test_words_of_the_tables(self):
        for words, wanted, flags in (
                (["loc"], ["local"], ":4"),
                (["-n", "x", "local", "sta"], ["status"], ":4"),
                (["delete", "--wai"], ["--wait"], ":4"),
                (["ls", "-o", "js"], ["json", "jsonpath="], ":4"),
                (["ls", "--output=y"], ["--output=yaml"], ":4"),
                (["ls", "persis"], ["persistentvolumeclaims"], ":4"),
                (["completion", "f"], ["fish"], ":4"),
                (["run", "x", "--", "l"], [], ":4"),
                (["nonsense", "l"], [], ":4"),
                (["ls", "--kubeconfig", ""], [], ":0")):
            self.assertEqual(self.complete(*words), (wanted, flags), words)
        self.assertEqual(set(VERBS) - set(self.complete("")[0]), set())

    def test_for_the_plugin_of_kubectl(self):
        link = self.tmp / "kubectl_complete-sandbox"
        link.symlink_to(BIN)
        out = subprocess.run([link, "ls", "-o", "yam"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(out, "yaml\n:4\n")

    def test_in_bash(self):
        script = self.sandmux("completion", "bash", check=0).out
        tries = {"sandmux comp": ["completion"], "sandmux ls --output=js": ["json", "jsonpath="], "sandmux local st": ["status"],
                 "sandmux ls -o ": ["table", "wide", "json", "yaml", "name", "jsonpath=", "jq=", "custom-columns="]}
        run = "compopt() { :; }\n" + script + "".join(
            f"COMP_LINE={line!r}; COMP_POINT={len(line)}; _sandmux; echo \"${{COMPREPLY[*]}}\"\n" for line in tries)
        env = {**os.environ, **home_env(self.tmp), "PATH": f"{Path(BIN).parent}:{os.environ['PATH']}"}
        out = subprocess.run(["bash"], input=run, capture_output=True, text=True, check=True, env=env).stdout
        self.assertEqual(out.splitlines(), [" ".join(wanted) for wanted in tries.values()])

    def test_names_and_forms(self):
        """Those of the cluster; a name that is more than one word of a shell is none."""
        api = ScriptedApi(2)
        self.addCleanup(api.stop)
        config = ["--kubeconfig", str(api.kubeconfig(self.tmp / "kubeconfig"))]
        names = self.sandmux(*config, "ls", "-A", "-o", "jsonpath={.items[*].metadata.name}", check=0).out.split()
        self.assertEqual(len(names), 2)
        self.assertEqual(self.complete(*config, "-A", "get", names[0]), ([names[0]], ":4"))
        self.assertEqual(self.complete(*config, "-A", "cp", names[1]), ([names[1] + ":"], ":2"))
        columns = self.sandmux(*config, "ls", "-A", "--no-headers", "-o", "custom-columns=N:.claim,X:.nothing", "--sort-by", ".claim", check=0).out
        self.assertEqual(columns.split(), [word for name in sorted(names) for word in (name, "<none>")])
        one = self.sandmux(*config, "ls", "-A", "-o", "jq=.items[].claim", "--field-selector", f"metadata.name={names[1]}", check=0).out
        self.assertEqual(one, names[1] + "\n")
        self.assertIn("\x1b[", self.sandmux(*config, "ls", "-A", "--color", "always", check=0).out)
        self.assertNotIn("\x1b[", self.sandmux(*config, "ls", "-A", check=0).out)
        failed = self.sandmux(*config, "ls", "-A", "-o", "jq=.items | .x")
        self.assertEqual(failed.code, 2)
        self.assertIn("-o jq: Cannot index array", failed.err)


class BadInput(Case):
    """Each ends in one line: code, what, why, what next; and a documented status."""

    def fails(self, status, code, *args, **kw):
        r = self.sandmux(*args, **kw)
        self.assertEqual(r.code, status, r.err)
        lines = [line for line in r.err.splitlines() if line]
        self.assertRegex(lines[-1], rf"^sandmux: {re.escape(code)}: .+")
        self.assertEqual(r.out, "")
        self.assertNotIn("\x1b", r.err)
        return lines[-1]

    def config(self, **cluster):
        path = self.tmp / "config"
        user = cluster.pop("user", {"token": "very-secret-token"})
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "c",
                                    "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": user}],
                                    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))
        return ["--kubeconfig", path]

    def test_usage(self):
        self.assertIn("--bogus", self.fails(2, "arg.invalid", "ls", "--bogus"))
        self.assertIn("nosuchverb", self.fails(2, "arg.invalid", "nosuchverb"))
        self.assertIn("did you mean 'create'", self.fails(2, "arg.invalid", "crate"))
        self.fails(2, "arg.invalid", "ls", "-o", "xml")
        self.fails(2, "arg.invalid", "describe")
        self.fails(2, "arg.invalid", "cp", "a", "b")
        self.assertIn("has no NAME", self.fails(2, "arg.invalid", "cp", ":a", "b"))
        self.assertIn("has no NAME", self.fails(2, "arg.invalid", "cp", "-r", "a", ":b"))
        self.fails(2, "arg.invalid", "cp", "--timeout", "0s", "x:a", "b")
        self.fails(2, "arg.invalid", "cp", "--max-entries", "few", "x:a", "b")
        self.fails(2, "arg.invalid", "ls", "--namespace")
        self.fails(2, "arg.invalid", "--rest", "ftp://x", "health")
        self.fails(2, "arg.invalid", "--grpc", "nohost", "health")
        self.fails(2, "arg.invalid", "ls", "--request-timeout", "soon")

    def test_dashboard_without_a_terminal(self):
        self.fails(2, "tty.none")

    def test_kubeconfig(self):
        self.fails(2, "config.kubeconfig", "--kubeconfig", self.tmp / "nope", "ls")
        bad = self.tmp / "bad"
        bad.write_text("clusters: [unclosed")
        self.assertIn("bad", self.fails(2, "config.kubeconfig", "--kubeconfig", bad, "ls"))
        self.assertIn("nowhere", self.fails(2, "config.kubeconfig", *self.config(server="https://127.0.0.1:1"),
                                            "--context", "nowhere", "ls"))

    def test_unreachable_server(self):
        line = self.fails(6, "kube.transport", *self.config(server=f"http://127.0.0.1:{free_port()}"), "ls")
        self.assertNotIn("very-secret-token", line)

    def test_refused_tls(self):
        r = self.sandmux("local", "up", timeout=60, check=0)
        self.addCleanup(self.sandmux, "local", "reset", "--yes", timeout=60)
        status = json.loads(self.sandmux("local", "status", "-o", "json", check=0).out)
        where = f"https://127.0.0.1:{status['port']}"
        self.fails(6, "kube.tls", *self.config(server=where), "ls")
        ca = str(Path(status["stateDir"]) / "tls/ca.pem")
        line = self.fails(4, "kube.unauthorized", *self.config(server=where, **{"certificate-authority": ca}), "ls")
        self.assertNotIn("very-secret-token", line)
        self.fails(3, "claim.not_found", "--local", "get", "nobody")
        self.fails(3, "pool.not_found", "--local", "create", "--pool", "nowhere", "--timeout", "20s", timeout=40)
        self.assertEqual(json.loads(self.sandmux("--local", "ls", "-o", "json", check=0).out)["items"], [],
                         "a create that failed left its claim behind")
        self.fails(7, "op.read_only", "--local", "--read-only", "create", "x")
        self.fails(2, "arg.invalid", "--local", "rm", "x")
        self.fails(3, "claim.not_found", "--local", "get", "evil\x1b[31m")


class OnTheEmbeddedBackend(DaemonCases, Case):
    """The verbs of one sandbox, as on the real daemon (tests/real/direct_test.py)."""
    where = ["--local"]
    name = "box"

    def setUp(self):
        self.tmp  # made now: cleanups run backwards, and the backend must stop before its folder goes
        self.addCleanup(self.sandmux, "local", "reset", "--yes", timeout=60)
        self.sandmux("--local", "create", "box", timeout=60, check=0)

    def test_a_sandbox_that_vanishes_during_a_copy(self):
        (self.tmp / "big").write_bytes(os.urandom(1 << 20) * 64)
        p = subprocess.Popen([BIN, *self.where, "cp", "-", "box:big.bin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env={**terminal_env(), **home_env(self.tmp)})
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        p.stdin.write(b"x" * 1_000_000)
        p.stdin.flush()
        self.sandmux("--local", "rm", "--yes", "box", check=0)
        end = time.monotonic() + 40
        try:
            while p.poll() is None and time.monotonic() < end:
                p.stdin.write(b"x" * 65536)
                p.stdin.flush()
                time.sleep(0.01)
            p.stdin.close()
        except OSError:
            pass
        self.assertIn(p.wait(20), (1, 3, 6))
        self.assertRegex(p.stderr.read().decode(), r"sandmux: (sandbox|conn|runtime)\.\w+: ")

    def test_what_came_together_is_written_together(self):
        """The daemon's events are of 4 KiB. Each write to this kind of socket is one message."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(ours.close)
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        script = "echo up; sleep 0.2; echo on; until [ -e go ]; do sleep 0.02; done; head -c 600000 /dev/zero; touch done"
        p = subprocess.Popen([BIN, *self.where, "run", "box", "--no-stdin", "--", "sh", "-c", script], stdout=theirs, env={**terminal_env(), **home_env(self.tmp)})
        self.addCleanup(p.kill)
        theirs.close()
        ours.settimeout(30)
        self.assertEqual(ours.recv(1 << 20), b"up\n")
        self.assertEqual(ours.recv(1 << 20), b"on\n")  # so the turn of the first is over, and the daemon was given room for all
        p.send_signal(signal.SIGSTOP)
        self.verb("run", "--", "touch", "go", check=0)
        self.verb("run", "--", "sh", "-c", "until [ -e done ]; do sleep 0.02; done", timeout=30, check=0)
        p.send_signal(signal.SIGCONT)
        sizes = []
        while n := len(ours.recv(1 << 20)):
            sizes.append(n)
        self.assertEqual((p.wait(20), sum(sizes)), (0, 600000))
        self.assertGreaterEqual(max(sizes), 64 << 10)

    def test_create_is_cancelled_by_ctrl_c(self):
        self.sandmux("--local", "suspend", "box", check=0)
        p = subprocess.Popen([BIN, *self.where, "create", "--pool", "nowhere-yet", "-q"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**terminal_env(), **home_env(self.tmp)})
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        p.send_signal(signal.SIGINT)
        p.wait(20)
        names = [i["claim"] for i in json.loads(self.sandmux("--local", "ls", "-o", "json", check=0).out)["items"]]
        self.assertEqual(names, ["box"])

    def test_ls_forms(self):
        items = json.loads(self.sandmux("--local", "ls", "-o", "json", check=0).out)["items"]
        self.assertEqual(sorted(items[0]), sorted(
            ["uid", "namespace", "claim", "sandbox", "state", "why", "whySince", "next", "pod", "podIP", "node", "pool", "template",
             "createdBy", "createdAt", "expiresAt", "restarts", "warmStart", "metadata", "cpuMillis", "cpuLimitMillis", "cpuRequestMillis", "memoryBytes",
             "memoryLimitBytes", "memoryRequestBytes", "diskBytes", "diskLimitBytes"]))
        self.assertEqual(self.sandmux("--local", "ls", "-o", "name", check=0).out, "sandboxclaim/box\n")
        self.assertIn("kind: SandboxList", self.sandmux("--local", "ls", "-o", "yaml", check=0).out)
        self.assertRegex(self.sandmux("--local", "ls", check=0).out, r"^NAME +STATE +SANDBOX")
        uid = items[0]["uid"]
        self.assertIn("box", self.sandmux("--local", "get", f"box.{uid[:8]}", check=0).out)
        self.assertEqual(self.sandmux("--local", "get", "box.00000000").code, 3)
        self.assertIn("box", self.sandmux("--local", "get", f"sandbox/{items[0]['sandbox']}", check=0).out)
        self.assertIn("Ready", self.sandmux("--local", "describe", "box", check=0).out)
        self.assertEqual(self.sandmux("--local", "status", "box", check=0).out, "SandboxReady\n")

    def test_other_kinds(self):
        sandbox = json.loads(self.sandmux("--local", "ls", "-o", "json", check=0).out)["items"][0]["sandbox"]
        volumes = json.loads(self.sandmux("--local", "ls", "pvc", "-o", "json", check=0).out)
        self.assertEqual(volumes["kind"], "PersistentVolumeClaimList")
        name = f"workspace-{sandbox}"
        self.assertEqual([v["sandbox"] for v in volumes["items"] if v["name"] == name], [sandbox])
        self.assertIn(f"persistentvolumeclaim/{name}\n", self.sandmux("--local", "ls", "persistentvolumeclaims", "-o", "name", check=0).out)
        self.assertRegex(self.sandmux("--local", "get", "pvc", name, check=0).out, rf"^NAME +STATUS .*\n{name} +\S")
        self.assertIn(f"Sandbox: {sandbox}", self.sandmux("--local", "describe", f"pvc/{name}", check=0).out)
        self.assertEqual(self.sandmux("--local", "get", "pvc/none").code, 3)


main()
