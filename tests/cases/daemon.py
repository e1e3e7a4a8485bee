# SPDX-License-Identifier: Apache-2.0
"""What run, sh, cp, files, health and metadata do with one sandbox, wherever it is.

A class that mixes DaemonCases in sets self.where (options before the verb), self.name ("" in
direct mode) and self.root (the sandbox's root on this machine, to look behind the program's back;
None where it cannot be seen)."""
import hashlib
import json
import os
import re
import signal
import subprocess
import time

from harness import BIN
from harness.sandmux import home_env
from harness.screen import terminal_env

HOSTILE = ["with space", "new\nline", "quote'\"", "per%cent%41", "ünïcödé", "-dash", ".hidden", "tab\t",
           "esc\x1b[31mred", "bidi\u202egnp.exe", "a" * 255]


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class DaemonCases:
    where: list
    name: str
    root = None

    def verb(self, verb, *args, **kw):
        named = [self.name] if self.name else []
        return self.sandmux(*self.where, verb, *named, *args, **kw)

    def at(self, path: str) -> str:
        return f"{self.name}:{path}"

    def cp(self, *args, **kw):
        return self.sandmux(*self.where, "cp", *args, **kw)

    # --- run
    def test_run_returns_output_and_status(self):
        r = self.verb("run", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
        self.assertEqual((r.out, r.err, r.code), ("out\n", "err\n", 7))

    def test_run_adds_no_shell(self):
        r = self.verb("run", "--", "echo", "$HOME", "*", "a  b", check=0)
        self.assertEqual(r.out, "$HOME * a  b\n")

    def test_run_env_and_cwd(self):
        self.verb("run", "--", "mkdir", "-p", "deep/er", check=0)
        r = self.verb("run", "-e", "GREETING=hi there", "--cwd", "deep/er", "--", "sh", "-c",
                      'echo "$GREETING"; pwd', check=0)
        greeting, cwd = r.out.splitlines()
        self.assertEqual(greeting, "hi there")
        self.assertTrue(cwd.endswith("/deep/er"), cwd)

    def test_run_stdin_goes_through(self):
        data = os.urandom(300000)
        r = self.verb("run", "--", "sha256sum", stdin=data, check=0)
        self.assertEqual(r.out.split()[0], sha(data))

    def test_run_binary_output_is_whole(self):
        r = self.verb("run", "--", "sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' '\\377'", check=0)
        self.assertEqual(sha(r.out_bytes), sha(b"\xff" * 3000000))

    def test_run_not_found_is_127(self):
        r = self.verb("run", "--", "no-such-program-here")
        self.assertEqual(r.code, 127)
        self.assertIn("proc.command_not_found", r.err)
        self.assertIn("no-such-program-here", r.err)

    def test_run_missing_cwd_does_not_blame_the_program(self):
        r = self.verb("run", "--cwd", "no/such/dir", "--", "pwd")
        self.assertEqual(r.code, 125)
        self.assertIn("proc.no_cwd", r.err)
        self.assertIn("no/such/dir", r.err)

    def test_run_cwd_cannot_leave_the_root(self):
        r = self.verb("run", "--cwd", "../..", "--", "pwd")
        self.assertEqual(r.code, 125)
        self.assertIn("arg.path", r.err)

    def test_run_killed_is_137(self):
        r = self.verb("run", "--", "sh", "-c", "kill -9 $$")
        self.assertEqual(r.code, 137)

    def test_run_interrupt_reaches_the_process(self):
        env = {**terminal_env(), **home_env(self.tmp)}
        named = [self.name] if self.name else []
        p = subprocess.Popen([BIN, *self.where, "run", *named, "--", "sh", "-c",
                              "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.05; done"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        self.assertEqual(p.stdout.readline(), b"ready\n")
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.stdout.read(), b"caught\n")
        self.assertEqual(p.wait(10), 9)

    def test_run_json_error_is_an_object(self):
        r = self.verb("run", "-o", "json", "--", "no-such-program-here")
        error = json.loads(r.err.strip().splitlines()[-1])
        self.assertEqual(error["code"], "proc.command_not_found")
        self.assertEqual(sorted(error), ["code", "hint", "message", "retryable"])

    def test_a_reader_that_leaves_ends_it_in_silence(self):
        env = {**terminal_env(), **home_env(self.tmp)}
        named = [self.name] if self.name else []
        p = subprocess.Popen([BIN, *self.where, "run", *named, "--", "yes"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        self.addCleanup(p.stderr.close)
        self.assertEqual(p.stdout.read(2), b"y\n")
        p.stdout.close()
        self.assertEqual((p.wait(15), p.stderr.read()), (141, b""))

    # --- sh, on a terminal
    def shell(self, rows=24, cols=80, **kw):
        named = [self.name] if self.name else []
        scr = self.sandmux_screen(*self.where, "sh", *named, "--", "sh", rows=rows, cols=cols,
                                  env={"PS1": "$ "}, **kw)
        scr.type("PS1='> '\r")
        scr.wait_for(re.compile(r"> *$", re.M))
        return scr

    def test_sh_size_is_right_at_once_and_after_a_resize(self):
        scr = self.shell(rows=30, cols=100)
        scr.type("stty size\r")
        scr.wait_for(re.compile(r"^30 100 *$", re.M))
        scr.resize(20, 70)
        scr.type("clear; until [ \"$(stty size)\" = '20 70' ]; do sleep 0.02; done; echo re''sized\r")
        scr.wait_for("resized")

    def test_sh_ctrl_c_and_exit_status(self):
        scr = self.shell()
        scr.type("sh -c \"echo st''arted; exec sleep 1000\"\r")
        scr.wait_for(re.compile(r"^started", re.M))  # before that the key may come between the shell's fork and its child
        scr.key("C-c")
        scr.type("echo aft''er\r").wait_for("after")
        scr.type("exit 5\r")
        self.assertEqual(scr.wait_exit(), 5)

    def test_sh_gives_the_terminal_back(self):
        scr = self.shell()
        scr.type("exit\r")
        self.assertEqual(scr.wait_exit(), 0)

    # --- cp
    def test_cp_both_ways_all_sizes(self):
        for size in (0, 1, 4095, 4096, 4097, 1 << 20, 5_000_001):
            with self.subTest(size=size):
                data = os.urandom(size)
                there, back = self.tmp / "there", self.tmp / "back"
                there.write_bytes(data)
                self.cp(there, self.at("sub/dir/file.bin"), check=0)
                if self.root:
                    self.assertEqual(sha((self.root / "sub/dir/file.bin").read_bytes()), sha(data))
                self.cp(self.at("sub/dir/file.bin"), back, check=0)
                self.assertEqual(sha(back.read_bytes()), sha(data))

    def test_cp_stdin_and_stdout(self):
        data = os.urandom(100000)
        self.cp("-", self.at("piped.bin"), stdin=data, check=0)
        r = self.cp(self.at("piped.bin"), "-", check=0)
        self.assertEqual(sha(r.out_bytes), sha(data))

    def test_cp_hostile_names(self):
        for name in HOSTILE:
            with self.subTest(name=name):
                there = self.tmp / "plain"
                there.write_bytes(name.encode())
                if len(name) < 240:  # room for a temp file's name on the other side is the daemon's business
                    self.cp(there, self.at("h/" + name), check=0)
                    target = self.tmp / "got"
                    self.cp(self.at("h/" + name), target, check=0)
                    self.assertEqual(target.read_bytes(), name.encode())

    def test_cp_tree_both_ways(self):
        tree = self.tmp / "tree"
        files = {"a.txt": b"a", "d/b.bin": os.urandom(70000), "d/e/empty": b"", "d/with space": b"s"}
        for name, data in files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_bytes(data)
        self.cp("-r", tree, self.at("copies/"), check=0)
        back = self.tmp / "back"
        back.mkdir()
        self.cp("-r", self.at("copies/tree"), back, check=0)
        for name, data in files.items():
            self.assertEqual((back / "tree" / name).read_bytes(), data, name)

    def test_cp_directory_needs_r(self):
        self.verb("run", "--", "mkdir", "-p", "somedir", check=0)
        r = self.cp(self.at("somedir"), self.tmp / "x")
        self.assertEqual(r.code, 1)
        self.assertIn("file.is_dir", r.err)
        self.assertFalse((self.tmp / "x").exists())

    def test_cp_missing_source(self):
        r = self.cp(self.at("no/such/file"), self.tmp / "x")
        self.assertEqual(r.code, 3)
        self.assertIn("file.not_found", r.err)
        self.assertEqual(list(self.tmp.glob("*x*")), [])

    def test_cp_refuses_paths_out_of_the_root(self):
        for path in ("/etc/passwd", "../x", "a/../../x"):
            r = self.cp(self.at(path), self.tmp / "x")
            self.assertEqual(r.code, 7, r.err)
            self.assertIn("arg.path", r.err)

    def test_cp_conflict_policies(self):
        there = self.tmp / "there"
        there.write_bytes(b"new")
        for policy, expected, code in (("skip", b"old", 0), ("fail", b"old", 7), ("overwrite", b"new", 0)):
            target = self.tmp / "target"
            target.write_bytes(b"old")
            self.cp(there, self.at("conflict.txt"), check=0)
            r = self.cp("--conflict", policy, self.at("conflict.txt"), target)
            self.assertEqual((target.read_bytes(), r.code), (expected, code), policy + r.err)

    def test_cp_verify(self):
        there = self.tmp / "there"
        there.write_bytes(os.urandom(200000))
        self.cp("--verify", there, self.at("verified.bin"), check=0)
        self.cp("--verify", self.at("verified.bin"), self.tmp / "back", check=0)

    def test_cp_full_disk(self):
        self.need(os.geteuid() == 0, "mounting a small disk needs root")
        small = self.tmp / "small"
        small.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", small], check=True)
        self.addCleanup(subprocess.run, ["umount", small], check=True)
        (self.tmp / "there").write_bytes(os.urandom(1 << 20))
        self.cp(self.tmp / "there", self.at("big.bin"), check=0)
        (small / "old").write_bytes(b"old")
        r = self.cp(self.at("big.bin"), small / "old")
        self.assertEqual(r.code, 1)
        self.assertIn("file.no_space", r.err)
        self.assertEqual([p.name for p in small.iterdir()], ["old"])
        self.assertEqual((small / "old").read_bytes(), b"old")

    # --- files
    def test_files_ls_stat_cat_rm(self):
        self.cp("-", self.at("fl/one.txt"), stdin=b"one\n", check=0)
        r = self.sandmux(*self.where, "files", "ls", self.at("fl"), "-o", "json", check=0)
        listing = json.loads(r.out)
        self.assertEqual([(e["name"], e["type"], e["size"]) for e in listing["entries"]], [("one.txt", "file", 4)])
        r = self.sandmux(*self.where, "files", "stat", self.at("fl"), check=0)
        self.assertEqual(r.out, "directory\n")
        r = self.sandmux(*self.where, "files", "cat", self.at("fl/one.txt"), check=0)
        self.assertEqual(r.out, "one\n")
        r = self.sandmux(*self.where, "files", "rm", self.at("fl"))
        self.assertEqual((r.code, "file.not_empty" in r.err), (1, True))
        self.sandmux(*self.where, "files", "rm", "-r", self.at("fl"), check=0)
        r = self.sandmux(*self.where, "files", "stat", self.at("fl"))
        self.assertEqual(r.code, 3)

    def test_files_rm_never_empties_the_root(self):
        self.cp("-", self.at("keep.txt"), stdin=b"keep", check=0)
        for path in ("", ".", "./", "keep.txt/"):
            r = self.sandmux(*self.where, "files", "rm", "-r", self.at(path))
            self.assertEqual(r.code, 7, (path, r.err))
        self.sandmux(*self.where, "files", "stat", self.at("keep.txt"), check=0)

    def test_files_rm_of_a_link_keeps_its_target(self):
        self.verb("run", "--", "sh", "-c", "mkdir -p lk/dir && echo kept >lk/dir/file && ln -s dir lk/link && ln -s dir/file lk/l2",
                  check=0)
        self.sandmux(*self.where, "files", "rm", "-r", self.at("lk/link"), check=0)
        self.sandmux(*self.where, "files", "rm", self.at("lk/l2"), check=0)
        r = self.verb("run", "--", "sh", "-c", "ls lk; cat lk/dir/file", check=0)
        self.assertEqual(r.out, "dir\nkept\n")

    def test_names_are_shown_safely(self):
        self.verb("run", "--", "sh", "-c", "mkdir -p evil && cd evil && touch \"$(printf 'a\\033[31mb\\nc\\342\\200\\256d')\"",
                  check=0)
        r = self.sandmux(*self.where, "files", "ls", self.at("evil"), check=0)
        self.assertNotIn(b"\x1b", r.out_bytes)
        self.assertNotIn("\u202e", r.out)
        self.assertEqual(len(r.out.splitlines()), 1)

    # --- health and metadata
    def test_health(self):
        r = self.verb("health", "-o", "json", check=0)
        health = json.loads(r.out)
        self.assertEqual(health["status"], "ok")
        self.assertGreaterEqual(health["uptimeSeconds"], 0)

    def test_read_only_refuses_changes(self):
        r = self.sandmux(*self.where, "--read-only", "cp", "-", self.at("x"), stdin=b"x")
        self.assertEqual(r.code, 7, r.err)
        self.assertIn("op.read_only", r.err)
        r = self.sandmux(*self.where, "--read-only", "files", "ls", self.at(""), check=0)
        self.assertNotIn(" x\n", r.out)
