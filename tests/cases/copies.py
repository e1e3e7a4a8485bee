# SPDX-License-Identifier: Apache-2.0
"""What cp does with odd sources and targets, and what it leaves behind: the same for every daemon (see daemon.py for the
attributes of a class that mixes this in)."""
import json
import os
import pty
import re
import signal
import stat
import subprocess
import threading
import time

from harness import BIN
from harness.sandmux import home_env
from harness.screen import terminal_env

THEN = 1_000_000_000


class CopyCases:
    where: list
    name: str

    def at(self, path: str) -> str:
        return f"{self.name}:{path}"

    def cp(self, *args, **kw):
        return self.sandmux(*self.where, "cp", *args, **kw)

    def inside(self, script: str, **kw):
        """A shell script in the sandbox."""
        return self.sandmux(*self.where, "run", *([self.name] if self.name else []), "--", "sh", "-c", script, check=0, **kw).out

    def receipt(self, *args, code=0, **kw):
        r = self.cp("-o", "json", *args, **kw)
        self.assertEqual(r.code, code, r.err)
        return json.loads(r.out)

    def kinds(self, receipt):
        return sorted((n["path"], n["kind"]) for n in receipt["notes"])

    def start(self, *args, **kw):
        """cp in the background."""
        kw = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": self.tmp, **kw}
        p = subprocess.Popen([BIN, *self.where, "cp", *map(str, args)], env={**terminal_env(), **home_env(self.tmp)}, **kw)
        for stream in (p.stdout, p.stderr):
            if stream:
                self.addCleanup(stream.close)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        return p

    def until(self, condition, what: str, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.01)

    def hold(self, p, is_under_way):
        """Stops the program at a moment when that is so."""
        end = time.monotonic() + 60
        while True:
            self.assertLess(time.monotonic(), end, "it never came so far")
            p.send_signal(signal.SIGSTOP)
            self.assertIsNone(p.poll(), "it has ended already")
            self.until(lambda: state_of(p.pid) == "T", "it does not stop")
            if is_under_way():
                return
            p.send_signal(signal.SIGCONT)
            time.sleep(0.002)

    def is_writing(self, size):
        """Some of the bytes are in a temporary file, not all."""
        sizes = [os.path.getsize(self.tmp / n) for n in self.temps()]
        return any(0 < n < size for n in sizes)

    def temps(self, folder=None):
        return [n for n in os.listdir(folder or self.tmp) if n.startswith(".sandmux-tmp-")]

    def big(self, name="big", mib=256):
        """A file that takes a while, without room on the disk."""
        self.inside(f"truncate -s {mib}M {name} || head -c {mib << 20} /dev/zero > {name}")

    # --- sources
    def test_files_of_proc_and_sys_go_up_whole(self):
        for path in ("/proc/cpuinfo", "/proc/self/mounts", "/sys/kernel/mm/transparent_hugepage/enabled", "/proc/sys/kernel/ostype"):
            if not os.path.exists(path):
                continue
            with self.subTest(path):
                self.cp(path, self.at("virtual"), check=0)
                there = self.inside("cat virtual")
                want = open(path).read()
                if "self" in path or "cpuinfo" in path:  # another process's, and frequencies move
                    self.assertGreater(len(there), len(want) // 2)
                    self.assertEqual(there.split()[0], want.split()[0])
                else:
                    self.assertEqual(there, want)
        with open("/proc/version", "rb") as f:
            self.cp("-", self.at("redirected"), stdin_file=f, check=0)
        self.assertEqual(self.inside("cat redirected"), open("/proc/version").read())

    def test_a_tree_of_such_files(self):
        if os.path.exists("/proc/sys/kernel/random"):
            self.cp("-r", "/proc/sys/kernel/random", self.at("random"), check=0)
            self.assertEqual(self.inside("cat random/boot_id"), open("/proc/sys/kernel/random/boot_id").read())

    def test_empty_and_sparse_files(self):
        (self.tmp / "empty").touch()
        with open(self.tmp / "sparse", "wb") as f:
            f.truncate(5 << 20)
            f.seek(3 << 20)
            f.write(b"island")
        for name in ("empty", "sparse"):
            self.cp(self.tmp / name, self.at(name), check=0)
            self.cp(self.at(name), self.tmp / "back", check=0)
            self.assertEqual((self.tmp / "back").read_bytes(), (self.tmp / name).read_bytes())

    def test_a_named_pipe_is_read_to_its_end(self):
        os.mkfifo(self.tmp / "pipe")
        p = self.start(self.tmp / "pipe", self.at("piped"))
        with open(self.tmp / "pipe", "wb") as f:
            f.write(b"first ")
            f.flush()
            f.write(b"x" * 200_000)
        self.assertEqual(p.wait(60), 0, p.stderr.read())
        self.assertEqual(self.inside("wc -c < piped").split(), ["200006"])
        read, write = os.pipe()
        os.close(write)
        self.cp(f"/dev/fd/{read}", self.at("closed"), pass_fds=(read,), check=0)  # its writer has gone already
        os.close(read)
        self.assertEqual(self.inside("wc -c < closed").split(), ["0"])
        self.cp("/dev/null", self.at("null"), check=0)
        self.assertEqual(self.inside("wc -c < null").split(), ["0"])

    def test_a_named_pipe_in_the_sandbox_is_read_to_its_end(self):
        self.inside("mkfifo pipe")
        for target in (self.tmp / "piped", "-", self.at("piped")):
            with self.subTest(target):
                p = self.start("--verify", self.at("pipe"), target)
                self.inside("i=0; { while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; } > pipe")
                out, err = p.communicate(timeout=120)
                self.assertEqual(p.returncode, 0, err)
                got = out.decode() if target == "-" else self.inside("cat piped") if isinstance(target, str) else target.read_text()
                self.assertEqual(got.split("\n")[-2:], ["line 19999", ""])
                self.assertEqual(got.count("\n"), 20000)
        p = self.start(self.at("pipe"), self.tmp / "never")  # nobody writes
        self.until(self.temps, "it never began")
        p.send_signal(signal.SIGINT)
        self.assertEqual((p.wait(60), self.temps(), (self.tmp / "never").exists()), (130, [], False))
        began = time.monotonic()
        r = self.cp("/etc/hostname", self.at("pipe"))
        self.assertIn((r.code, "file.denied" in r.err), ((4, True), (0, False)), r.err)  # a daemon that answers replaces it
        self.assertLess(time.monotonic() - began, 50)  # nobody reads that pipe: it does not wait for one

    def test_a_log_that_grows_comes_as_far_as_it_went(self):
        self.big("app.log")
        p = self.start("-o", "json", self.at("app.log"), "app.log")
        self.hold(p, lambda: self.is_writing(256 << 20))
        self.inside("echo more >> app.log")
        p.send_signal(signal.SIGCONT)
        out, err = p.communicate(timeout=120)
        self.assertEqual(p.returncode, 0, err)
        receipt = json.loads(out)
        self.assertEqual(receipt["files"], 1)
        self.assertEqual(os.path.getsize(self.tmp / "app.log"), 256 << 20)
        self.assertEqual(self.kinds(receipt), [("app.log", "grew")])

    def test_a_verified_log_that_grows(self):
        self.inside("mkdir -p logs; echo start > logs/app.log")
        stop, n = threading.Event(), 0

        def grow():
            while not stop.is_set():
                self.inside("i=0; while [ $i -lt 200 ]; do echo line $i >> logs/app.log; i=$((i+1)); done")

        writer = threading.Thread(target=grow)
        writer.start()
        try:
            for n in range(5):
                self.cp("-r", "--verify", self.at("logs"), self.tmp / f"logs{n}", check=0)
        finally:
            stop.set()
            writer.join()
        whole = self.inside("cat logs/app.log")
        for n in range(5):
            self.assertTrue(whole.startswith((self.tmp / f"logs{n}/app.log").read_text()))

    def test_a_log_here_that_grows_goes_up_as_far_as_it_went(self):
        log = self.tmp / "app.log"
        with open(log, "wb") as f:
            f.truncate(256 << 20)
        p = self.start("-o", "json", log, self.at("up.log"))
        self.hold(p, lambda: 0 < position(p.pid, log) < 256 << 20)
        with open(log, "ab") as f:
            f.write(b"more")
        p.send_signal(signal.SIGCONT)
        out, err = p.communicate(timeout=120)
        self.assertEqual(p.returncode, 0, err)
        self.assertEqual(self.kinds(json.loads(out)), [("app.log", "grew")])
        self.assertEqual(self.inside("wc -c < up.log").split(), [str(256 << 20)])
        self.inside("rm up.log")

    def test_a_file_here_that_is_truncated_or_rewritten_is_not_sent(self):
        for change in (lambda f: os.truncate(f, 100), lambda f: os.utime(f, (THEN, THEN))):
            source = self.tmp / "source"
            with open(source, "wb") as f:
                f.truncate(256 << 20)
            p = self.start(source, self.at("changed"))
            self.hold(p, lambda: 0 < position(p.pid, source) < 256 << 20)
            change(source)
            p.send_signal(signal.SIGCONT)
            self.assertEqual(p.wait(120), 1)
            self.assertIn("file.changed", p.stderr.read().decode())
            self.assertEqual(self.inside("ls"), "")

    def test_a_source_that_is_removed_while_it_is_read(self):
        self.big("going")
        p = self.start("-o", "json", self.at("going"), "kept")
        self.hold(p, lambda: self.is_writing(256 << 20))
        self.inside("rm going")
        p.send_signal(signal.SIGCONT)
        out, err = p.communicate(timeout=120)
        self.assertEqual(p.returncode, 0, err)
        self.assertEqual(self.kinds(json.loads(out)), [("going", "gone")])
        self.assertEqual(os.path.getsize(self.tmp / "kept"), 256 << 20)

    # --- trees
    def test_links_that_lead_back(self):
        self.inside("mkdir -p r/x r/y; echo f > r/f; ln -s . r/a; ln -s ../r r/b; ln -s ../y r/x/y; ln -s ../x r/y/x; ln -s x r/z")
        receipt = self.receipt("-r", self.at("r"), self.tmp / "r")
        back = sorted(os.path.relpath(os.path.join(d, n), self.tmp / "r") for d, ds, fs in os.walk(self.tmp / "r") for n in ds + fs)
        # a linked folder is copied as a folder; what is in it leads back at the latest one step on
        self.assertEqual(back, ["f", "x", "x/y", "y", "y/x", "z", "z/y"])
        self.assertEqual(self.kinds(receipt), [(p, "loop") for p in ("a", "b", "x/y/x", "y/x/y", "z/y/x")])
        self.assertEqual(receipt["skipped"], 5)
        self.assertEqual(self.cp("-r", self.at("r"), self.at("r2")).code, 0)  # within the sandbox
        self.assertEqual(len(self.inside("find r2").split()), 8)

    def test_pipes_and_sockets_in_a_tree_are_named(self):
        self.inside("mkdir -p k/only; mkfifo k/pipe k/only/pipe; echo x > k/file; touch k/empty")
        receipt = self.receipt("-r", self.at("k"), self.tmp / "k")
        self.assertEqual(self.kinds(receipt), [("only/pipe", "kind"), ("pipe", "kind")])
        self.assertEqual((receipt["files"], receipt["skipped"]), (2, 2))
        self.assertTrue((self.tmp / "k/only").is_dir())
        os.mkfifo(self.tmp / "k/pipe")
        os.symlink("file", self.tmp / "k/link")
        (self.tmp / "k/linked").mkdir()
        os.symlink("nowhere", self.tmp / "k/linked/dangling")
        receipt = self.receipt("-r", self.tmp / "k", self.at("k2"))
        self.assertEqual(self.kinds(receipt), [("link", "kind"), ("linked/dangling", "kind"), ("pipe", "kind")])
        self.assertEqual(self.inside("ls k2 k2/linked").split(), ["k2:", "empty", "file", "linked", "only", "k2/linked:"])

    def test_deep_trees_go_both_ways(self):
        deep = "/".join(["d"] * 150)  # more than where a sandbox tells no identities
        (self.tmp / "deep" / deep).mkdir(parents=True)
        (self.tmp / "deep" / deep / "f").write_text("at the bottom")
        self.cp("-r", self.tmp / "deep", self.at("deep"), check=0)
        self.cp("-r", self.at("deep"), self.tmp / "back", check=0)
        self.assertEqual((self.tmp / "back" / deep / "f").read_text(), "at the bottom")

    def tree(self, top):
        self.addCleanup(subprocess.run, ["chmod", "-R", "u+rwX", self.tmp], check=True)
        for name, mode, when in (("d/run.sh", 0o755, THEN), ("d/secret", 0o600, THEN + 1), ("plain", 0o644, THEN + 86400), ("d/e/deep", 0o444, 5)):
            path = top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(name)
            path.chmod(mode)
            os.utime(path, (when, when))
        (top / "none").mkdir()
        for name, mode, when in (("d/e", 0o500, THEN + 7), ("none", 0o711, THEN + 8), ("d", 0o750, THEN + 9), ("", 0o700, THEN + 10)):
            (top / name).chmod(mode)
            os.utime(top / name, (when, when))

    def looks(self, top):
        return {os.path.relpath(p, top): (oct(stat.S_IMODE(s.st_mode)), int(s.st_mtime))
                for p in [top] + [os.path.join(d, n) for d, ds, fs in os.walk(top) for n in ds + fs] for s in [os.lstat(p)]}

    def test_trees_keep_modes_and_times_both_ways(self):
        self.tree(self.tmp / "t")
        want = self.looks(self.tmp / "t")
        self.assertEqual(self.receipt("-r", self.tmp / "t", self.at("t"))["notes"], [])
        there = dict(line.rsplit(" ", 2)[0:1] + [tuple(line.rsplit(" ", 2)[1:])] for line in
                     self.inside("cd t && find . -exec stat -c '%n %a %Y' {} +").splitlines())
        self.assertEqual({k.removeprefix("./"): ("0o" + mode, int(when)) for k, (mode, when) in there.items()}, want)
        self.assertEqual(self.receipt("-r", self.at("t"), self.at("copied"))["notes"], [])
        for source, target in (("t", "back"), ("copied", "back2")):
            self.assertEqual(self.receipt("-r", self.at(source), self.tmp / target, umask=0o022)["notes"], [])
            self.assertEqual(self.looks(self.tmp / target), want)
        self.inside("chmod -R u+rwX t copied; rm -r t copied")

    def test_the_umask_takes_what_it_takes(self):
        self.inside("mkdir -p m/d; echo x > m/d/f; chmod 0644 m/d/f; chmod 0755 m m/d; echo y > lone; chmod 4755 lone")
        self.cp("-r", self.at("m"), self.tmp / "m", umask=0o077, check=0)
        self.assertEqual({k: v[0] for k, v in self.looks(self.tmp / "m").items()}, {".": "0o700", "d": "0o700", "d/f": "0o600"})
        self.cp(self.at("lone"), self.tmp / "lone", umask=0o027, check=0)  # no set-uid, whatever it says
        self.assertEqual(stat.S_IMODE((self.tmp / "lone").stat().st_mode), 0o750)

    def test_folders_that_were_there_stay_as_they_were(self):
        self.tree(self.tmp / "t")
        self.inside("mkdir -p t/d; chmod 0775 t t/d; touch -d @77 t t/d")
        self.cp("-r", str(self.tmp / "t") + "/.", self.at("t"), check=0)
        self.assertEqual(self.inside("stat -c %a t t/d t/d/e t/none").split(), ["775", "775", "500", "711"])
        (self.tmp / "here/d").mkdir(parents=True)
        (self.tmp / "here/d").chmod(0o775)
        self.cp("-r", self.at("t/."), self.tmp / "here", check=0)
        self.assertEqual(self.looks(self.tmp / "here")["d"][0], "0o775")
        self.assertEqual(self.looks(self.tmp / "here")["d/e"][0], "0o500")
        self.inside("chmod -R u+rwX t; rm -r t")

    def test_a_large_tree_is_asked_about(self):
        self.inside("mkdir -p many/sub; cd many; for i in 1 2 3 4 5 6 7 8 9; do echo $i > f$i; echo $i > sub/f$i; done")
        r = self.cp("-r", "--max-entries", "10", self.at("many"), self.tmp / "many")
        self.assertEqual((r.code, "limit.entries" in r.err, "--max-entries" in r.err), (7, True, True), r.err)
        for how in (["--max-entries", "none"], ["--max-entries", "19"]):
            self.assertEqual(self.receipt("-r", *how, self.at("many"), self.tmp / how[1])["files"], 18)
        for answer, code, n in ((b"n\n", 7, None), (b"y\n", 0, 18)):
            target = self.tmp / f"asked-{code}"
            outer, inner = pty.openpty()
            p = self.start("-r", "--max-entries", "10", self.at("many"), target, stdin=inner, stderr=inner)
            os.close(inner)
            seen = b""
            while b"go on? [y/N]" not in seen:
                seen += os.read(outer, 4096)
            os.write(outer, answer)
            self.assertEqual(p.wait(60), code)
            os.close(outer)
            if n:
                self.assertEqual(sum(len(fs) for _, _, fs in os.walk(target)), n)

    # --- targets in the sandbox
    def test_links_at_the_target(self):
        (self.tmp / "new").write_text("new")
        for what, make in (("nowhere", "ln -s nowhere t.txt"), ("itself", "ln -s t.txt t.txt"), ("out", "ln -s /etc/passwd t.txt"),
                           ("a file", "echo old > file; ln -s file t.txt")):
            for policy in ("fail", "skip", "rename"):
                with self.subTest(what, policy=policy):
                    self.inside(f"rm -rf *; {make}")
                    before = self.inside("readlink t.txt")
                    r = self.cp("--conflict", policy, self.tmp / "new", self.at("t.txt"))
                    self.assertEqual(self.inside("readlink t.txt"), before, "the link is gone")
                    self.assertEqual(r.code, 7 if policy == "fail" else 0, r.err)
                    self.assertEqual("file.exists" in r.err, policy == "fail")
                    if policy == "rename":
                        self.assertEqual(self.inside("cat 't (1).txt'"), "new")
                    if what == "a file":
                        self.assertEqual(self.inside("cat file"), "old\n")

    def test_links_in_a_tree_at_the_target(self):
        top = self.tmp / "tree"
        top.mkdir()
        for name in ("dangling", "linked", "plain", "folder"):
            (top / name).write_text("new")
        for policy in ("fail", "skip", "rename", "overwrite"):
            with self.subTest(policy):
                self.inside("rm -rf *; mkdir -p tree/folder other; echo old > tree/plain; ln -s nowhere tree/dangling; ln -s ../other tree/linked")
                r = self.cp("-r", "--conflict", policy, top, self.at(""))
                self.assertEqual(self.inside("readlink tree/linked; find other -type f"), "../other\n")
                if policy == "overwrite":
                    # folders are never replaced
                    self.assertEqual((r.code, self.inside("cat tree/dangling tree/plain")), (1, "newnew"))
                    continue
                self.assertEqual(self.inside("readlink tree/dangling; cat tree/plain"), "nowhere\nold\n")
                self.assertIn(r.code, {"fail": (1, 7), "skip": (0,), "rename": (0,)}[policy], r.err)
                if policy == "rename":
                    self.assertEqual(self.inside("cd tree; cat 'dangling (1)' 'linked (1)' 'plain (1)' 'folder (1)'"), "newnewnewnew")

    def test_a_tree_onto_a_link_that_leads_nowhere(self):
        (self.tmp / "tree").mkdir()
        (self.tmp / "tree/f").write_text("f")
        self.inside("rm -rf *; ln -s nowhere t; mkdir in; ln -s nowhere in/tree")
        for target in ("t", "in"):
            r = self.cp("-r", self.tmp / "tree", self.at(target))
            self.assertEqual((r.code, "file.not_dir" in r.err), (1, True), r.err)
        self.assertEqual(self.inside("readlink t in/tree; ls"), "nowhere\nnowhere\nin\nt\n")

    # --- targets here
    def test_links_here_are_not_followed(self):
        self.inside("rm -rf *; mkdir t; for n in dangling file dir real; do echo new > t/$n; done")
        outside = self.tmp / "outside"
        for policy in ("fail", "skip", "rename", "overwrite"):
            with self.subTest(policy):
                here = self.tmp / policy / "t"
                here.mkdir(parents=True)
                outside.mkdir(exist_ok=True)
                (outside / "secret").write_text("old")
                os.symlink("nowhere", here / "dangling")
                os.symlink(outside / "secret", here / "file")
                os.symlink(outside, here / "dir")
                r = self.cp("-r", "--conflict", policy, self.at("t"), here.parent)
                self.assertEqual(((outside / "secret").read_text(), os.listdir(outside)), ("old", ["secret"]))
                self.assertEqual((here / "real").read_text(), "new\n")
                kept = [n for n in ("dangling", "file", "dir") if (here / n).is_symlink()]
                self.assertEqual(kept, [] if policy == "overwrite" else ["dangling", "file", "dir"])
                self.assertEqual(r.code, 7 if policy == "fail" else 0, r.err)
                self.assertEqual((here / "dangling (1)").exists(), policy == "rename")
                self.assertEqual(self.temps(here), [])

    def test_folders_here_where_a_file_should_go(self):
        self.inside("rm -rf *; mkdir t; echo new > t/x; echo new > t/z; mkdir t/y")
        for policy, code, done in (("fail", 1, 1), ("overwrite", 1, 1), ("skip", 0, 1), ("rename", 0, 2)):
            here = self.tmp / policy / "t"
            (here / "x").mkdir(parents=True)
            receipt = self.receipt("-r", "--conflict", policy, self.at("t"), here.parent, code=code)
            self.assertEqual((receipt["files"], os.listdir(here / "x")), (done, []), policy)

    # --- temporary files, and being ended from outside
    def test_signals_end_it_and_leave_nothing(self):
        self.big("big")
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGQUIT, 131)):
            p = self.start(self.at("big"), "got")
            self.hold(p, lambda: self.is_writing(256 << 20))
            p.send_signal(number)
            p.send_signal(signal.SIGCONT)
            self.assertEqual(p.wait(60), status, number)
            self.assertIn("op.cancelled", p.stderr.read().decode())
            self.assertEqual((self.temps(), (self.tmp / "got").exists()), ([], False))
        p = self.start("-", self.at("up"), stdin=subprocess.PIPE)
        p.stdin.write(b"x" * 1_000_000)
        p.stdin.flush()
        self.until(lambda: ".sandboxd-tmp-" in self.inside("ls -a"), "the upload never began")
        p.send_signal(signal.SIGINT)
        self.assertEqual(p.wait(60), 130)
        p.stdin.close()
        self.until(lambda: self.inside("ls -a").split() == [".", "..", "big"], "the daemon keeps what was cut off")

    def test_what_a_killed_copy_left_goes_with_the_next_one(self):
        self.big("big")
        self.inside("echo small > small")
        p = self.start(self.at("big"), "got")
        self.hold(p, lambda: self.is_writing(256 << 20))
        p.kill()
        p.wait()
        left = self.temps()
        self.assertEqual(len(left), 1)
        foreign = {".sandmux-tmp-notes": "mine", ".sandmux-tmp-0123456789abcdef": "an older version's", "x.sandmux-tmp-" + "0" * 20: "no"}
        for name, text in foreign.items():
            (self.tmp / name).write_text(text)
        os.symlink("small", self.tmp / (".sandmux-tmp-" + "1" * 20))
        os.mkfifo(self.tmp / (".sandmux-tmp-" + "2" * 20))
        running = self.start(self.at("big"), "other")  # its file is in use; it sweeps too
        self.hold(running, lambda: set(self.temps()) - set(left) - set(foreign) - {".sandmux-tmp-" + d * 20 for d in "12"})
        self.cp(self.at("small"), self.tmp / "small", check=0)
        names = os.listdir(self.tmp)
        self.assertNotIn(left[0], names)
        for name in [*foreign, ".sandmux-tmp-" + "1" * 20, ".sandmux-tmp-" + "2" * 20]:
            self.assertIn(name, names)
        running.send_signal(signal.SIGCONT)
        self.assertEqual(running.wait(120), 0, running.stderr.read())
        self.assertEqual(os.path.getsize(self.tmp / "other"), 256 << 20)

    def test_timeout_is_a_total_limit(self):
        self.big("big")
        p = self.start("--timeout", "1s", "-", self.at("slow"), stdin=subprocess.PIPE)
        p.stdin.write(b"x")
        p.stdin.flush()
        began = time.monotonic()
        self.assertEqual(p.wait(60), 124)
        p.stdin.close()
        self.assertLess(time.monotonic() - began, 10)
        self.assertIn("op.timeout", p.stderr.read().decode())
        self.assertEqual(self.inside("ls"), "big\n")
        self.cp("--timeout", "60s", self.at("big"), self.tmp / "big", check=0)

    # --- what is said
    def test_the_bytes_of_a_failed_file_are_not_counted(self):
        self.inside("rm -rf *; mkdir t; echo good > t/good; echo bad > t/bad")
        (self.tmp / "t/bad").mkdir(parents=True)
        receipt = self.receipt("-r", self.at("t"), self.tmp, code=1)
        self.assertEqual((receipt["files"], receipt["failed"], receipt["bytes"]), (1, 1, 5))

    def test_progress_says_finishing_and_never_100(self):
        with open(self.tmp / "up", "wb") as f:
            f.truncate(64 << 20)
        outer, inner = pty.openpty()
        p = self.start(self.tmp / "up", self.at("up"), stderr=inner)
        os.close(inner)
        seen = b""
        while True:
            try:
                piece = os.read(outer, 4096)
            except OSError:
                break
            if not piece:
                break
            seen += piece
        os.close(outer)
        self.assertEqual(p.wait(60), 0)
        self.assertNotIn(b"100%", seen)
        self.assertRegex(seen.decode(), r"1 files, 64\.0 MiB copied, 0 skipped, 0 failed")
        if b"%" in seen:
            self.assertTrue(re.search(rb"\d+%  \S+ \w+ of 64\.0 MiB  0 of 1 file ", seen), seen)


def state_of(pid: int) -> str:
    return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0]


def position(pid: int, path) -> int:
    """How far a process has read a file; -1: it has not got it open."""
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            if os.readlink(f"/proc/{pid}/fd/{fd}") == str(path.resolve()):
                return int(re.search(r"pos:\s*(\d+)", open(f"/proc/{pid}/fdinfo/{fd}").read())[1])
        except FileNotFoundError:
            pass
    return -1
