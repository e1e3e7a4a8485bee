# SPDX-License-Identifier: Apache-2.0
"""Files, copies, drag and drop in the real dashboard on the real sandboxd."""
import os
import re
import signal
import time

from harness import Case, main
from harness.faults import FaultProxy


class Files(Case):
    rows, cols = 24, 80

    def setUp(self):
        self.server = self.sandboxd()
        self.root = self.server.root
        self.here = self.tmp / "here"
        self.here.mkdir()

    def open(self, *args, rows=None, cols=None, wait="local:", rest=None):
        scr = self.sandmux_screen("--rest", rest or self.server.rest_url, "--grpc", self.server.grpc, *args, cwd=self.here,
                                  rows=rows or self.rows, cols=cols or self.cols)
        scr.wait_for("one sandbox, by its address")
        scr.key("f")
        scr.wait_for(wait)
        return scr

    @staticmethod
    def middle(scr):
        return scr.cols // 2 - 1

    def at(self, scr, name, right):
        """The cell of an entry in the left or right pane, by how its name begins."""
        for n, line in enumerate(scr.lines()):
            left, bar, rest = line.partition("│")
            if bar and (rest if right else left)[1:].startswith(name):
                return n, (len(left) + 2) if right else 1
        return None

    def wait_at(self, scr, name, right):
        return scr.wait_for(lambda s: self.at(s, name, right))

    def wait_said(self, scr, text, right):
        """Anywhere in that pane."""
        scr.wait_for(lambda s: any(text in line.partition("│")[2 if right else 0] for line in s.lines() if "│" in line))

    def drag(self, scr, start, end):
        scr.mouse("press", "left", *start)
        scr.mouse("drag", "left", start[0], start[1] + 3)
        scr.mouse("drag", "left", *end)
        return scr

    # ---- copying
    def test_copy_by_key_both_ways(self):
        data = os.urandom(300_000)
        (self.here / "up.bin").write_bytes(data)
        (self.root / "down.bin").write_bytes(data[::-1])
        scr = self.open()
        self.wait_at(scr, "down.bin", True)
        scr.key("c")  # the sandbox is active, its only file under the cursor
        self.wait_at(scr, "down.bin", False)
        self.assertEqual((self.here / "down.bin").read_bytes(), data[::-1])
        scr.key("Tab", "End", "F5")
        self.wait_at(scr, "up.bin", True)
        self.assertEqual((self.root / "up.bin").read_bytes(), data)
        scr.wait_for("copied up.bin (1 file, 293.0 KiB)")

    def test_copy_marked_and_trees(self):
        for name in ("a", "b", "c"):
            (self.here / name).write_text(name)
        (self.here / "t" / "deep").mkdir(parents=True)
        (self.here / "t" / "deep" / "x y").write_text("deep")
        scr = self.open()
        self.wait_at(scr, "t/", False)
        scr.key("Tab", "Down", "Space", "Space", "Down", "Space")  # t, a, c
        scr.wait_for("3 marked")
        scr.key("c")
        scr.wait_for("copied t and 2 more (3 files")
        self.wait_at(scr, "t/", True)
        self.assertEqual(sorted(p.name for p in self.root.iterdir()), ["a", "c", "t"])
        self.assertEqual((self.root / "t/deep/x y").read_text(), "deep")

    def test_drag_there_and_back(self):
        (self.here / "one.txt").write_text("one")
        (self.root / "two.txt").write_text("two")
        (self.root / "sub").mkdir()
        scr = self.open()
        start, over = self.wait_at(scr, "one.txt", False), self.wait_at(scr, "sub", True)
        before = scr.cell(*over)
        self.drag(scr, start, over)
        scr.wait_for("→ one.txt")  # the ghost
        scr.wait_for(lambda s: s.cell(*over) != before)  # the folder is lit
        scr.mouse("release", "left", *over)
        scr.wait_for("copied one.txt")
        self.assertEqual((self.root / "sub/one.txt").read_text(), "one")
        self.assertEqual(sorted(os.listdir(self.root)), ["sub", "two.txt"])
        start = self.wait_at(scr, "two.txt", True)
        self.drag(scr, start, (15, 10)).mouse("release", "left", 15, 10)
        self.wait_at(scr, "two.txt", False)
        self.assertEqual((self.here / "two.txt").read_text(), "two")

    def test_esc_and_a_bad_place_drop_nothing(self):
        (self.here / "one.txt").write_text("one")
        scr = self.open()
        start = self.wait_at(scr, "one.txt", False)
        self.drag(scr, start, (12, 60))
        scr.wait_for("→ one.txt")
        scr.key("Escape")
        scr.wait_gone("→ one.txt")
        scr.mouse("release", "left", 12, 60)
        self.drag(scr, start, (12, 10)).mouse("release", "left", 12, 10)  # where it is
        scr.key("?")
        scr.wait_for("Everywhere")
        self.assertEqual(os.listdir(self.root), [])

    def test_conflicts(self):
        for n in range(6):
            (self.here / f"f{n}").write_text("new")
        for n in range(5):
            (self.root / f"f{n}").write_text("older")
        scr = self.open()
        self.wait_at(scr, "f5", False)
        self.wait_at(scr, "f4", True)
        scr.key("Tab", "*", "c")
        scr.wait_for("It is there already")
        self.wait_at(scr, "f0", True)
        scr.wait_for(re.compile(r"there: 5 B +new: 3 B"))
        scr.wait_for(lambda s: (self.root / "f5").exists())  # it has no conflict and does not wait
        self.answer(scr, "Overwrite")  # this one
        scr.wait_for(lambda s: sum((self.root / f"f{n}").read_text() == "new" for n in range(5)) == 1)
        scr.wait_for("It is there already")
        self.answer(scr, "Keep both")  # the next of the same copy has the keyboard already
        scr.wait_for(lambda s: any("(1)" in n for n in os.listdir(self.root)))
        scr.wait_for("It is there already")
        scr.wait_for("arrows and enter answer")
        scr.key("Tab", "Tab", "Tab", "Space")  # to the switch and on
        scr.wait_for("[x] the same for all")
        self.answer(scr, "Skip")
        scr.wait_for("3 skipped")
        scr.wait_gone("It is there already")
        self.assertEqual(sum((self.root / f"f{n}").read_text() == "older" for n in range(5)), 4)

    def test_stop_at_a_conflict(self):
        (self.here / "f").write_text("new")
        (self.root / "f").write_text("older")
        scr = self.open()
        self.wait_at(scr, "f", False)
        scr.key("Tab", "End", "c")
        scr.wait_for("It is there already")
        self.answer(scr, "Stop")
        scr.wait_for("cancelled")
        self.assertEqual((self.root / "f").read_text(), "older")
        self.assertEqual(os.listdir(self.root), ["f"])

    def test_a_large_tree_is_asked_about(self):
        for n in range(12):
            (self.root / "many/sub" / f"s{n}").mkdir(parents=True)
            (self.root / "many/sub" / f"s{n}" / "f").write_text("x")
        scr = self.open("--set", "transfer-max-entries=10")
        self.wait_at(scr, "many", True)
        scr.key("c")
        scr.wait_for("A large tree")
        scr.wait_for("more than 10 entries")
        self.answer(scr, "Stop")
        scr.wait_for("cancelled")
        scr.wait_gone("A large tree")
        scr.key("c")
        for n in (10, 20):  # and again at twice as many
            scr.wait_for(f"more than {n} entries")
            self.answer(scr, "Go on")
        scr.wait_for("12 files")
        self.assertEqual(sum(len(fs) for _, _, fs in os.walk(self.here / "many")), 12)

    def test_a_receipt_names_what_was_not_copied_and_times_are_kept(self):
        (self.root / "tree").mkdir()
        (self.root / "tree/f").write_text("f")
        os.utime(self.root / "tree/f", (10**9, 10**9))
        os.symlink(".", self.root / "tree/again")
        (self.here / "lone").write_text("lone")
        os.utime(self.here / "lone", (10**9, 10**9))
        scr = self.open(cols=120)
        self.wait_at(scr, "tree/", True)
        scr.key("c")
        scr.wait_for(re.compile(r"1 skipped; again: it leads back to a folder"))
        self.assertEqual(os.listdir(self.here / "tree"), ["f"])
        self.assertEqual((self.here / "tree/f").stat().st_mtime, 10**9)
        self.wait_at(scr, "tree/", False)
        scr.key("Tab", "End", "F5")
        self.wait_at(scr, "lone", True)
        scr.wait_for(lambda s: (self.root / "lone").stat().st_mtime == 10**9)
        scr.key("C")
        scr.wait_for(re.compile(r"done +lone"))
        scr.key("Down")
        scr.wait_for(re.compile(r"^ +again +it leads back", re.M))

    def test_pause_cancel_and_the_question_before_quitting(self):
        with open(self.here / "big", "wb") as f:
            f.truncate(64 << 20)
        scr = self.open()
        self.wait_at(scr, "big", False)
        scr.key("Tab", "End")
        self.server.proc.signal(signal.SIGSTOP)
        try:
            scr.key("c")
            scr.wait_for("1 copy")
            scr.key("C-c")
            scr.wait_for("1 copy is not finished")
            scr.key("Escape")
            scr.wait_gone("not finished")
            scr.key("C")
            scr.wait_for(re.compile(r"copying +big"))
            scr.key("p")
            scr.wait_for(re.compile(r"paused +big"))
            scr.key("p")
            scr.wait_for(re.compile(r"copying +big"))
            scr.key("x")
            scr.wait_for(re.compile(r"cancelled +big"))
        finally:
            self.server.proc.signal(signal.SIGCONT)
        end = time.monotonic() + 10
        while os.listdir(self.root) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(os.listdir(self.root), [])
        scr.key("r")
        scr.wait_for(re.compile(r"done +big"))
        self.assertEqual((self.root / "big").stat().st_size, 64 << 20)

    def test_a_failed_copy_says_why(self):
        (self.here / "f").write_text("x")
        (self.root / "f").mkdir()  # a folder stands where the file should go
        scr = self.open()
        self.wait_at(scr, "f", False)
        scr.key("Tab", "End", "c")
        scr.wait_for("Not copied to")
        scr.wait_for(re.compile(r"file\.\w+|arg\.\w+"))
        self.answer(scr, "OK")
        scr.wait_gone("Not copied to")
        scr.key("C")
        scr.wait_for(re.compile(r"failed +f "))
        self.assertEqual(os.listdir(self.root / "f"), [])

    def test_the_daemon_dies_in_the_middle(self):
        with open(self.root / "big", "wb") as f:
            f.truncate(64 << 20)
        (self.here / "big").write_text("the old one")
        slow = FaultProxy(self.server.rest_url)
        self.addCleanup(slow.stop)
        scr = self.open(rest=slow.url)
        self.wait_at(scr, "big", True)
        scr.key("c")
        scr.wait_for("It is there already")
        slow.drip(1 << 20)  # it does not end before the daemon does
        self.answer(scr, "Overwrite")
        scr.wait_for(lambda s: len(os.listdir(self.here)) > 1)  # the temporary file
        self.server.proc.signal(signal.SIGKILL)
        scr.wait_for("Not copied to")
        scr.wait_for(re.compile(r"conn\.\w+|file\.changed"))
        self.assertEqual((self.here / "big").read_text(), "the old one")
        self.assertEqual(os.listdir(self.here), ["big"])

    # ---- deleting
    def test_delete_names_what_and_spares_what_links_point_to(self):
        (self.root / "keep").mkdir()
        (self.root / "keep/file").write_text("x" * 100)
        (self.root / "a-link").symlink_to("keep")
        (self.root / "-rf").write_text("odd")
        scr = self.open()
        self.wait_at(scr, "a-link", True)
        scr.key("Down" if scr.row(3).partition("│")[2].startswith(" keep") else "Home")
        scr.key("F8")
        scr.wait_for("Delete 1 entry?")
        scr.wait_for("a-link  (link)")
        scr.wait_for("0 folders, 1 link")
        scr.key("Enter")  # the button in focus is Cancel
        scr.wait_gone("Delete 1 entry?")
        self.assertTrue((self.root / "a-link").is_symlink())
        scr.key("F8")
        scr.wait_for("Delete 1 entry?")
        scr.key("d")
        scr.wait_for("deleted a-link")
        self.assertFalse((self.root / "a-link").is_symlink())
        self.assertEqual((self.root / "keep/file").read_text(), "x" * 100)
        scr.wait_for(lambda s: not self.at(s, "a-link", True))
        scr.key("*", "F8")
        scr.wait_for("In all 2 files, 1 folder, 0 links, 103 B.")
        scr.key("d")
        scr.wait_for("deleted 2 entries")
        self.assertEqual(os.listdir(self.root), [])

    def test_delete_here(self):
        (self.here / "dir").mkdir()
        (self.here / "dir/file").write_text("x")
        (self.tmp / "outside").write_text("kept")
        (self.here / "dir/way-out").symlink_to(self.tmp / "outside")
        scr = self.open()
        self.wait_at(scr, "dir/", False)
        scr.key("Tab", "End", "Delete")
        scr.wait_for("In all 1 file, 1 folder, 1 link")
        scr.key("d")
        scr.wait_for("deleted dir")
        self.assertEqual(os.listdir(self.here), [])
        self.assertEqual((self.tmp / "outside").read_text(), "kept")

    def test_read_only(self):
        (self.root / "f").write_text("x")
        scr = self.open("--read-only")
        self.wait_at(scr, "f", True)
        scr.key("F8")
        scr.wait_for("op.read_only")
        scr.key("Enter")
        scr.key("c")  # out of it is allowed
        self.wait_at(scr, "f", False)
        self.assertEqual((self.here / "f").read_text(), "x")

    # ---- looking
    def test_hostile_names(self):
        evil = ["a\x1b]0;pwned\x07", "b\x1b[2J", "c\nnewline", "d\u202egpj.exe", "e\x9b31m"]
        for name in evil:
            (self.here / name).write_text("x")
            (self.root / (name + "r")).write_text("x")
        (os.fsencode(self.here) + b"/f\xff\xfe").decode("utf-8", "surrogateescape")
        open(os.fsencode(self.here) + b"/f\xff\xfe", "w").close()
        scr = self.open(cols=100)
        self.wait_at(scr, "a^[]0;pwned^G", False)
        self.wait_at(scr, "b^[[2Jr", True)
        self.wait_at(scr, "f\\xFF\\xFE", False)
        scr.key("Tab", "*", "c")
        scr.wait_for(lambda s: len(os.listdir(self.root)) >= 10)
        scr.key("C")
        scr.wait_for("and 5 more")
        raw = scr.raw
        for bad in (b"\x1b]0;pwned", b"\x1b[2Jr", "\u202e".encode(), b"\x9b31m", b"\xff\xfe"):
            self.assertNotIn(bad, raw)
        self.assertNotIn("pwned", scr.title)

    def test_a_large_folder_stays_quick(self):
        for n in range(5000):
            os.close(os.open(self.here / f"n{n:04d}", os.O_CREAT | os.O_WRONLY))
        scr = self.open(wait="5000 entries")
        scr.key("Tab", "End")
        scr.wait_for("n4999")
        scr.key("C-s")
        scr.type("n123")
        scr.wait_for("go to: n123")
        scr.wait_for(re.compile(r"↓ the next one +enter take it +esc end it"))
        self.wait_at(scr, "n1230", False)
        scr.key("Escape")
        scr.wait_gone("go to:")
        scr.key("Z", "Home")
        scr.wait_for("SIZE↑")

    def test_errors_stand_in_the_pane(self):
        (self.root / "sub").mkdir()
        scr = self.open()
        self.wait_at(scr, "sub/", True)
        os.rmdir(self.root / "sub")
        scr.key("Enter")
        self.wait_said(scr, "file.not_found", True)
        self.wait_said(scr, "r tries again", True)
        scr.key("BSpace")
        scr.wait_gone("file.not_found")
        self.server.proc.signal(signal.SIGKILL)
        scr.key("r")
        self.wait_said(scr, "conn.", True)

    def test_sizes(self):
        (self.here / "some-file.txt").write_text("x")
        (self.root / "other-file.txt").write_text("x")
        scr = self.open()
        for rows, cols in ((10, 40), (50, 200), (24, 80), (11, 41)):
            scr.resize(rows, cols)
            self.wait_at(scr, "some-file", False)
            self.wait_at(scr, "other-file", True)
        scr.resize(9, 39)
        scr.wait_gone("some-file")
        scr.resize(24, 80)
        self.wait_at(scr, "some-file", False)

    def test_make_folders_and_go_to_paths(self):
        scr = self.open()
        scr.key("F7")
        scr.wait_for("New folder")
        scr.type("made here")
        scr.key("Enter")
        self.wait_at(scr, "made here/", True)
        self.assertTrue((self.root / "made here").is_dir())
        scr.key("p")
        scr.wait_for("Go to a folder")
        scr.key("C-u")
        scr.type("/made here")
        scr.key("Enter")
        scr.wait_for("/made here")
        scr.key("Left")
        self.wait_at(scr, "made here/", True)


class Sandboxes(Case):
    """Two of the embedded backend."""

    def setUp(self):
        self.tmp  # first: its removal then comes after the reset
        self.addCleanup(self.sandmux, "local", "reset", "--yes")
        for name in ("box", "other"):
            self.sandmux("--local", "create", name, check=0, timeout=60)

    def test_from_one_to_the_other_and_when_one_goes(self):
        script = 'mkdir -p tree/deep; head -c 100000 /dev/urandom > tree/deep/data; sha256sum < tree/deep/data'
        want = self.sandmux("--local", "run", "box", "--", "sh", "-c", script, check=0).out
        scr = self.sandmux_screen("--local", rows=24, cols=100, cwd=self.tmp)
        scr.wait_for(re.compile(r"box +\S Ready"))
        scr.key("f")
        scr.wait_for("tree/")
        scr.key("o")
        scr.wait_for("The other side")
        scr.type("other")
        scr.key("Enter")
        scr.wait_for("other:/")
        scr.wait_for("0 entries")
        scr.key("c")
        scr.wait_for("copied tree (1 file")
        r = self.sandmux("--local", "run", "other", "--", "sh", "-c", "sha256sum < tree/deep/data", check=0)
        self.assertEqual(r.out, want)
        self.sandmux("--local", "rm", "other", "--yes", check=0)
        scr.wait_for("sandbox.deleted")
        scr.wait_for("box:/")


    def test_when_it_is_suspended_and_resumed(self):
        scr = self.sandmux_screen("--local", rows=24, cols=100, cwd=self.tmp)
        scr.wait_for(re.compile(r"box +\S Ready"))
        scr.key("f")
        scr.wait_for("0 entries")
        scr.key("C-]", "0")
        scr.wait_for(re.compile(r"other +\S Ready"))
        scr.key("p")
        scr.wait_for("Suspend 1 sandbox?")
        scr.key("Enter")
        scr.wait_for(re.compile(r"box +\S Suspended"), timeout=40)
        scr.key("C-]", "2")
        scr.wait_for("sandbox.suspended")
        scr.key("C-]", "0")
        scr.wait_for(re.compile(r"box +\S Suspended"))
        scr.key("r")
        scr.wait_for(re.compile(r"box +\S Ready"), timeout=40)
        scr.key("C-]", "2")
        scr.wait_gone("sandbox.suspended")
        scr.wait_for(re.compile(r"│.*entries"))


class Others(Case):
    def setUp(self):
        self.server = self.sandboxd(env={"SANDBOX_ID": "evil\x1b[31mvalue", "PATH": os.environ["PATH"]})
        self.scr = self.sandmux_screen("--rest", self.server.rest_url, "--grpc", self.server.grpc, cwd=self.tmp)
        self.scr.wait_for("one sandbox, by its address")

    def test_detail(self):
        self.scr.key("d")
        self.scr.wait_for(re.compile(r"health +ok, up for"))
        self.scr.wait_for("evil^[[31mvalue")
        self.assertNotIn(b"\x1b[31mvalue", self.scr.raw)
        self.server.proc.signal(signal.SIGKILL)
        self.scr.key("r")
        self.scr.wait_for(re.compile(r"health +conn\."), timeout=40)

    def test_log(self):
        self.scr.key("f")
        self.scr.wait_for("local:")
        self.scr.wait_for("0 entries")
        self.scr.key("L")
        self.scr.wait_for("sandmux.files.list")
        self.scr.key("Enter")
        self.scr.wait_for("status    ok")
        self.scr.key("Enter")
        self.scr.key("/")
        self.scr.type("no such span")
        self.scr.wait_for("Nothing fits the filter")
        self.scr.key("Escape")

    def test_log_strip(self):
        self.scr.key("F2")
        self.scr.wait_for("Nothing has happened yet")
        self.scr.key("f")
        self.scr.wait_for("sandmux.files.list")

    def test_help(self):
        self.scr.key("?")
        self.scr.wait_for("Everywhere (outside shells)")
        self.scr.key("/")
        self.scr.type("make a folder")
        self.scr.wait_for("F7")
        self.scr.wait_gone("Everywhere")


main()
