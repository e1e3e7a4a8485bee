# SPDX-License-Identifier: Apache-2.0
"""The legacy Python runtime at a direct URL: what it can do, what is refused, and what goes over the wire."""
import json
import os
import re

from harness import Case, main
from harness.scripted_api import ScriptedApi
from scripted import Legacy, own_address

NAMES = ["plain", "with space", "100%41", "%41", "50%", "grün ☃", "a+b&c=d?e#f", "quo'te\"s", "-dash", "x;y", "data.json"]


class LegacyRuntime(Case):
    def setUp(self):
        self.root = self.tmp.resolve() / "root"
        self.root.mkdir()
        self.app = Legacy(self.root)
        self.addCleanup(self.app.stop)
        self.addCleanup(lambda: self.assertEqual(self.app.wrong, []))
        self.where = ["--rest", self.app.url, "--runtime", "legacy"]

    def sm(self, *args, **kw):
        return self.sandmux(*self.where, *args, timeout=40, **kw)

    def test_run(self):
        r = self.sm("run", "--", "printf", "%s|", "a b", "$HOME", "*", "it's", "☃", "back\\slash", "two\nlines", "")
        self.assertEqual((r.code, r.out, r.err), (0, "a b|$HOME|*|it's|☃|back\\slash|two\nlines||", ""))
        command = json.loads(self.app.asked("POST", "/execute")[0].body)["command"]
        self.assertTrue(command.startswith("/bin/sh -c '"), command)
        r = self.sm("run", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
        self.assertEqual((r.code, r.out, r.err), (7, "out\n", "err\n"))
        self.assertEqual(self.sm("run", "--", "sh", "-c", "kill -9 $$").code, 137)
        self.assertEqual(self.sm("run", "--", "no-such-program").code, 127)

    def test_run_with_variables_and_folder(self):
        (self.root / "a 'b'").mkdir()
        r = self.sm("run", "-e", "X=1 $2 'q'", "-e", "Y=", "--cwd", "a 'b'", "--", "sh", "-c", 'echo "$X|$Y|$(basename "$PWD")"')
        self.assertEqual((r.code, r.out), (0, "1 $2 'q'||a 'b'\n"), r.err)
        r = self.sm("run", "--cwd", "missing", "--", "true")
        self.assertNotEqual(r.code, 0)
        self.assertIn("missing", r.err)

    def test_output_that_is_no_text(self):
        r = self.sm("run", "--", "printf", "\\377")
        self.assertEqual(r.code, 125)
        self.assertIn("utf-8", r.err)

    def test_copies_both_ways(self):
        for i, name in enumerate(NAMES):
            with self.subTest(name=name):
                here, back = self.tmp / f"here{i}", self.tmp / f"back{i}"
                here.write_bytes(os.urandom(5000) + b"\r\n--" + name.encode())
                r = self.sm("cp", str(here), f":sub dir/{name}")
                self.assertEqual(r.code, 0, r.err)
                self.assertEqual((self.root / "sub dir" / name).read_bytes(), here.read_bytes())
                r = self.sm("cp", f":sub dir/{name}", str(back))
                self.assertEqual(r.code, 0, r.err)
                self.assertEqual(back.read_bytes(), here.read_bytes())
        self.assertTrue(any("%252541" in r.path for r in self.app.asked("GET", "/download/")))

    def test_copies_large_empty_and_trees(self):
        big = self.tmp / "big"
        big.write_bytes(os.urandom(3 << 20))
        (self.tmp / "empty").write_bytes(b"")
        for name in ("big", "empty"):
            r = self.sm("cp", str(self.tmp / name), f":{name}")
            self.assertEqual(r.code, 0, r.err)
            self.assertEqual((self.root / name).read_bytes(), (self.tmp / name).read_bytes())
        tree = self.root / "tree" / "deep"
        tree.mkdir(parents=True)
        (tree / "x").write_text("x")
        r = self.sm("cp", "-r", ":tree", str(self.tmp / "copy"))
        self.assertEqual(r.code, 0, r.err)
        self.assertEqual((self.tmp / "copy" / "deep" / "x").read_text(), "x")
        r = self.sm("cp", "--verify", ":big", str(self.tmp / "big2"))
        self.assertEqual(r.code, 0, r.err)

    def test_names_it_cannot_take(self):
        (self.tmp / "f").write_text("x")
        for name in ("new\nline", "\\server\\share", "C:\\x"):
            r = self.sm("cp", str(self.tmp / "f"), f":{name}")
            self.assertIn("arg.path", r.err)
            self.assertNotEqual(r.code, 0)
        r = self.sm("files", "cat", ":../etc/passwd")
        self.assertIn("arg.path", r.err)
        self.assertEqual(list(self.root.iterdir()), [])

    def test_ls_and_stat(self):
        for name in NAMES:
            (self.root / name).write_text(name)
        (self.root / "dir").mkdir()
        os.utime(self.root / "plain", (1767323045, 1767323045))
        r = self.sm("files", "ls", ":", "-o", "json", check=0)
        entries = {e["name"]: e for e in json.loads(r.out)["entries"]}
        self.assertEqual(set(entries), {*NAMES, "dir"})
        self.assertEqual((entries["dir"]["type"], entries["plain"]["size"], entries["plain"]["modifiedAt"], entries["plain"]["mode"]),
                         ("directory", 5, "2026-01-02T03:04:05Z", ""))
        self.assertEqual(self.app.asked("GET", "/list/")[0].path, "/list/%2E")
        for name in NAMES:
            st = json.loads(self.sm("files", "stat", f":{name}", "-o", "json", check=0).out)
            self.assertEqual((st["type"], st["size"]), ("file", len(name.encode())))
        self.assertEqual(self.sm("files", "stat", ":dir", check=0).out, "directory\n")
        self.assertEqual(self.sm("files", "stat", ":", check=0).out, "directory\n")
        self.assertEqual(self.sm("files", "cat", ":data.json", check=0).out, "data.json")
        for verb in ("stat", "cat"):
            r = self.sm("files", verb, ":nothing")
            self.assertEqual(r.code, 3)
            self.assertIn("file.not_found", r.err)
        r = self.sm("files", "ls", ":plain")
        self.assertIn("file.not_dir", r.err)

    def test_access_denied(self):
        os.symlink("/etc", self.root / "out")
        r = self.sm("files", "cat", ":out/passwd")
        self.assertEqual(r.code, 4)
        self.assertRegex(r.err, "file.denied: .*Access denied")

    def test_unsupported(self):
        (self.root / "f").write_text("x")
        for verb in (("sh",), ("run", "-t", "--", "true"), ("files", "rm", ":f"), ("metadata",), ("health",)):
            with self.subTest(verb=verb):
                r = self.sm(*verb)
                self.assertEqual(r.code, 125 if verb[0] in ("sh", "run") else 7, r.err)
                self.assertRegex(r.err, r"^sandmux: op\.unsupported: .*not supported by this runtime")
        self.assertEqual(self.app.requests, [])
        self.assertTrue((self.root / "f").exists())

    def test_read_only(self):
        r = self.sandmux("--read-only", *self.where, "run", "--", "true")
        self.assertIn("op.read_only", r.err)
        self.assertEqual(self.app.requests, [])

    def test_broken_answers(self):
        self.app.refuse = (200, b"<html>", "text/html")
        r = self.sm("run", "--timeout", "2s", "--", "true")
        self.assertEqual(r.code, 124)
        self.assertIn("runtime.protocol", r.err)

    def test_contradictions(self):
        token = self.tmp / "token"
        token.write_text("t")
        for args in (["--grpc", "127.0.0.1:1"], ["--daemon-token-file", str(token)], ["--runtime-version", "1"],
                     ["--router-url", "http://x"], ["--gateway", "g"], ["--connectivity", "in-cluster-pod-ip"], ["--no-pod-ip-header"],
                     ["--gateway-scheme", "http"]):
            with self.subTest(args=args):
                r = self.sm(*args, "files", "ls", ":")
                self.assertEqual(r.code, 2, r.err)
                self.assertIn("arg.invalid", r.err)
        self.assertEqual(self.app.requests, [])


class Dashboard(Case):
    """What this runtime cannot do is greyed and said at once; the rest works."""

    def setUp(self):
        self.root = self.tmp.resolve() / "root"
        self.root.mkdir()
        (self.root / "there").write_text("there")
        self.here = self.tmp / "here"
        self.here.mkdir()
        (self.here / "mine").write_text("mine")

    def runtime(self, address=("127.0.0.1", 0)):
        self.app = Legacy(self.root, address=address)
        self.addCleanup(self.app.stop)
        self.addCleanup(lambda: self.assertEqual(self.app.wrong, []))
        return self.app

    def check_files(self, scr):
        """The browser is open, the sandbox's side has the focus."""
        scr.wait_for("there")
        scr.wait_for("(F8 delete)")
        scr.wait_for(" F5 copy")
        self.assertNotRegex(scr.row(scr.rows - 1), r"(?<!\()s shell")
        before = len(self.app.requests)
        scr.key("F8")
        scr.wait_for("deleting files is not supported by this runtime")
        scr.key("s")
        scr.wait_for("a shell is not supported by this runtime")
        self.assertEqual(len(self.app.requests), before)
        self.assertTrue((self.root / "there").exists())
        scr.type(":mkdir new folder\r")
        scr.wait_for("new folder/")
        self.assertTrue((self.root / "new folder").is_dir())
        scr.key("End", "c")
        scr.wait_for(lambda s: (self.here / "there").exists())
        scr.key("Tab")
        scr.wait_for(" F8 delete")  # this side is ours
        scr.key("End")
        scr.type("/mine\r")
        scr.key("c")
        scr.wait_for(lambda s: (self.root / "mine").exists())
        self.assertEqual((self.root / "mine").read_text(), "mine")

    def test_direct(self):
        app = self.runtime()
        for rows, cols in ((24, 80), (40, 120), (10, 40)):
            scr = self.sandmux_screen("--rest", app.url, "--runtime", "legacy", cwd=self.here, rows=rows, cols=cols)
            scr.wait_for("one sandbox, by its address")
            scr.wait_for("a shell is not supported by this runtime"[:cols - 4])
            if cols > 40:
                scr.wait_for("(s shell)")
            else:  # of what does not fit that goes first
                self.assertNotIn("s shell", scr.row(scr.rows - 1))
            scr.key("s")
            scr.wait_for(re.compile("! a shell is not supported by this"))
            scr.key("d")
            scr.wait_for(re.compile("health +– not supported by"))
            self.assertNotIn("op.unsupported", scr.text())
            scr.stop()
        scr = self.sandmux_screen("--rest", app.url, "--runtime", "legacy", cwd=self.here)
        scr.wait_for("one sandbox, by its address")
        scr.key("f")
        self.check_files(scr)

    def test_one_row_of_a_cluster(self):
        """Beside a row whose runtime is sandboxd."""
        here = own_address()
        self.runtime((here, 8888))
        api = ScriptedApi(2)
        self.addCleanup(api.stop)
        box, claim = api.objects["sandboxes"][0], api.objects["sandboxclaims"][0]
        box["spec"]["podTemplate"]["spec"]["containers"][0]["ports"] = [{"containerPort": 8888}]
        box["status"]["podIPs"] = claim["status"]["sandbox"]["podIPs"] = [here]
        scr = self.sandmux_screen("--kubeconfig", api.kubeconfig(self.tmp / "kubeconfig"), "--connectivity", "in-cluster-pod-ip",
                                  cwd=self.here, cols=120)
        scr.wait_for("2 sandboxes")
        scr.wait_for("(s shell)")
        scr.key("s")
        scr.wait_for("a shell is not supported by this runtime")
        scr.key("j")
        scr.wait_for(lambda s: " s shell" in s.row(s.rows - 1))
        scr.key("k")
        scr.wait_for("(s shell)")
        scr.type("?")
        scr.type("/a shell in it\r")
        scr.wait_for(re.compile(r" s +a shell in it +a shell (is not supported by this runtime|…)"))
        scr.type("q")
        scr.wait_for("2 sandboxes")
        scr.key("f")
        self.check_files(scr)


main()
