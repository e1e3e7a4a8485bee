# SPDX-License-Identifier: Apache-2.0
"""What a person does in the dashboard with one sandbox, wherever it is: shells in panes, files by key and by mouse.

A class that mixes DashboardCases in provides self.dashboard(rows=, cols=, cwd=, env=): a Screen that shows the list with
one sandbox under the cursor; self.read_remote(path) and self.write_remote(path, bytes), behind the program's back."""
import hashlib
import os
import re
import time

PROMPT = re.compile(r"[$#] *$", re.M)
PREFIX = "C-]"
FOCUSED = "║"  # a border of the pane that has the keys


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class DashboardCases:
    daemon_is_folded = True  # in the detail, below what the API tells

    def prompt(self, scr, timeout=None):
        """Waits until the last line written in a full-width pane is a prompt."""
        scr.wait_for(PROMPT, timeout)
        return scr

    def shell(self, **kw):
        scr = self.dashboard(**kw)
        scr.type("s")
        return self.prompt(scr)

    # --- shells
    def test_size_is_right_at_once_and_after_a_resize(self):
        scr = self.shell(rows=24, cols=80)
        scr.type("stty size\r")
        scr.wait_for(re.compile(r"^22 80$", re.M))
        scr.resize(40, 120)
        scr.type("clear; stty size\r")
        scr.wait_for(re.compile(r"^38 120$", re.M))
        scr.resize(10, 40)
        scr.type("clear; stty size\r")
        scr.wait_for(re.compile(r"^8 40$", re.M))

    def test_a_program_of_its_own(self):
        scr = self.dashboard(rows=24, cols=100)
        scr.type(":shell cat -A\r")
        scr.wait_for("2 cat")
        scr.wait_gone("connecting")
        scr.type("hello\r")
        scr.wait_for("hello$")
        scr.key("C-d")
        scr.wait_for("cat ended with status 0")

    def test_vim_draws_resizes_and_quits(self):
        scr = self.shell()
        scr.type("command -v vim || echo no''vim\r")
        found = scr.wait_for(re.compile(r"^(/\S*vim|novim)$", re.M)).group(1)
        self.need(found != "novim", "there is no vim in the sandbox")
        scr.type("clear; vim -u NONE -c 'set ruler' new.txt\r")
        scr.wait_for(re.compile(r"^~$", re.M))
        scr.type("ihello from vim").key("Escape")
        scr.wait_for("hello from vim")
        scr.resize(30, 100)
        scr.wait_for(lambda s: s.row(27).startswith("~"))
        scr.resize(12, 60)  # inside vim: the case that libvterm does not survive by itself
        scr.wait_for("hello from vim")
        scr.type(":wq\r")
        scr.wait_gone("~\n")
        self.prompt(scr)
        self.assertEqual(self.read_remote("new.txt"), b"hello from vim\n")

    def test_ctrl_c_stops_a_flood_within_200_ms(self):
        scr = self.shell()
        scr.type("flood() { (trap 'date +%s%N > stopped' INT; yes flooding-$1); }\r")
        times, followed = [], []
        for n in range(5):
            scr.type(f"clear; flood {n}\r")
            scr.wait_for(lambda s: s.text().count(f"flooding-{n}") > 15)
            time.sleep(0.5)  # let every buffer on the way fill
            pressed = time.time_ns()
            scr.key("C-c")
            self.prompt(scr)  # and the screen follows
            followed.append((time.time_ns() - pressed) / 1e9)
            times.append((int(self.read_remote("stopped")) - pressed) / 1e9)
        # of some the quickest is what the program takes
        self.assertLess(min(times), 0.2, times)
        self.assertLess(min(followed), 2, followed)
        self.assertGreater(min(times), 0, times)

    def test_colours_and_wide_characters(self):
        scr = self.shell()
        scr.type(r"clear; printf '\033[1;31mred\033[0m 你好|e\314\201|\n'" + "\r")
        row, col = scr.wait_for(lambda s: s.find("red 你好|e\u0301|"))
        cell = scr.cell(row, col)
        self.assertTrue(cell.bold, cell)
        self.assertNotEqual(cell.fg, scr.cell(row, col + 4).fg)
        self.assertEqual(scr.find("|e\u0301|")[1], col + 8)

    def test_splits_tabs_and_zoom(self):
        scr = self.shell(rows=24, cols=80)
        scr.type("echo fi''rst; clear; echo fi''rst\r")
        scr.wait_for(re.compile(r"^first$", re.M))
        scr.key(PREFIX).type("|")
        scr.wait_for(FOCUSED)
        scr.type("stty size\r")
        scr.wait_for(re.compile(r"21 (39|40)\b"))
        scr.key(PREFIX).type("-")
        scr.wait_for(lambda s: len([x for x in s.lines() if "─ " in x]) > 1)
        scr.key(PREFIX, "Left").key(PREFIX).type("z")
        scr.wait_gone(FOCUSED)
        scr.type("stty size\r")
        scr.wait_for(re.compile(r"^21 80$", re.M))
        scr.key(PREFIX).type("z")
        scr.wait_for(FOCUSED)
        scr.key(PREFIX).type("c")
        scr.wait_for(" 3 ")
        self.prompt(scr)
        scr.key(PREFIX).type("p")
        scr.wait_for("first")
        scr.key(PREFIX).type("d")
        scr.wait_for("enter detail" if scr.cols > 60 else "detail")

    def test_a_border_can_be_dragged(self):
        scr = self.shell(rows=24, cols=80)
        scr.key(PREFIX).type("|")
        row, col = scr.wait_for(lambda s: s.find(FOCUSED))
        scr.mouse("press", "left", 10, col)
        scr.mouse("drag", "left", 10, col - 20)
        scr.mouse("release", "left", 10, col - 20)
        scr.wait_for(lambda s: s.find(FOCUSED) and s.find(FOCUSED)[1] == col - 20)
        scr.type("clear; stty size\r")
        scr.wait_for(f"21 {80 - (col - 20) - 1}")

    def test_the_prefix_twice_is_for_the_program(self):
        scr = self.shell()
        scr.type("clear; echo re''ady; cat -v\r")
        scr.wait_for("ready")
        scr.key(PREFIX, PREFIX, "Enter")
        scr.wait_for("^]")
        scr.key("C-c")

    def test_f12_is_a_prefix_too(self):
        scr = self.shell(rows=24, cols=80)
        scr.wait_for("ctrl-] or F12 then")
        scr.type("clear; echo re''ady; cat -v\r")
        scr.wait_for("ready")
        scr.key("F12", "F12", "Enter")  # twice is for the program
        scr.wait_for("^[[24~")
        scr.key("C-c")
        scr.key("F12").type("d")
        scr.wait_for(re.compile(r"NAME.*STATE|ADDRESS"))  # the list, or the one sandbox of a daemon's address

    def test_programs_learn_the_colours_and_get_their_title_back(self):
        scr = self.shell(rows=24, cols=80)
        scr.type("stty raw -echo min 0 time 20; printf '\\033]11;?\\033\\\\'; head -c 25 | cat -v; stty sane; echo; echo do''ne\r")
        scr.wait_for("done")
        scr.wait_for(re.compile(r"\^\[\]11;rgb:[0-9a-f]{4}/[0-9a-f]{4}/[0-9a-f]{4}"))
        if "http://" in scr.row(0).split("shell", 1)[-1]:
            return  # the name of a daemon's address fills the tab: no room for a title
        # what is typed is seen too, so the words are written otherwise there
        scr.type("clear; printf '\\033]2;mi''ne\\a\\033[22t\\033]2;edi''tor\\a'; read x; printf '\\033[23t'\r")
        scr.wait_for(re.compile(r"\beditor\b"))
        scr.key("Enter")
        scr.wait_for(re.compile(r"\bmine\b"))

    def test_scrollback_by_wheel_and_keys_and_copy(self):
        scr = self.shell(rows=24, cols=80)
        scr.type("clear; for i in $(seq 1 100); do echo line-$i-; done\r")
        scr.wait_for("line-100-")
        scr.mouse("wheel", "up", 10, 10).mouse("wheel", "up", 10, 10)
        scr.wait_for("line-76-")
        scr.wait_gone("line-100-")
        scr.type("e")  # a key goes back to the program
        scr.wait_for("line-100-")
        scr.key("BSpace")
        scr.key(PREFIX).type("[").type("g").key("Space", "End")
        scr.wait_for(re.compile(r"^line-1- +(\d+)/\1 *$", re.M))
        scr.key("Enter")
        scr.wait_for("bytes copied")
        self.assertIn(b"\x1b]52;c;", scr.raw)

    def test_paste_cannot_break_out(self):
        scr = self.shell()
        scr.type("clear; printf '\\033[?2004hre''ady\\n'; cat -v\r")
        scr.wait_for(re.compile("^ready$", re.M))
        scr.send(b"\x1b[200~one\x1b[201\x1b[201~")
        scr.key("Enter")
        scr.wait_for("^[[200~one[201^[[201~")  # the end marker inside has lost its Esc, the real end follows
        scr.key("C-c")
        scr.type("printf '\\033[?2004l'\r")

    def test_the_clipboard_asks_first(self):
        scr = self.shell()
        scr.type("clear; printf '\\033]52;c;c3RvbGVu\\a'\r")
        scr.wait_for("Write to your clipboard?")
        scr.wait_for("stolen")
        self.assertNotIn(b"\x1b]52", scr.raw)
        self.answer(scr, "No")
        scr.wait_gone("Write to your clipboard?")
        self.assertNotIn(b"\x1b]52", scr.raw)
        scr.type("clear; printf '\\033]52;c;?\\a'; echo do''ne\r")  # reading is never answered
        scr.wait_for(re.compile("^done$", re.M))
        self.assertNotIn("Write to", scr.text())
        scr.type("clear; printf '\\033]52;c;c3RvbGVu\\a'\r")
        self.answer(scr, "Once")
        scr.wait_for(lambda s: b"\x1b]52;c;c3RvbGVu" in s.raw)

    def test_a_dead_pane_says_why_refuses_input_and_runs_again(self):
        scr = self.shell()
        scr.type("exit 3\r")
        scr.wait_for("ended with status 3")
        scr.type("echo lo''st")
        scr.wait_idle()
        self.assertIn("ended with status 3", scr.text())
        self.assertNotIn("lo''st", scr.text())
        scr.key("C-]").type("r")
        scr.wait_gone("ended with status 3")
        self.prompt(scr)
        scr.type("clear; echo al''ive\r")
        scr.wait_for(re.compile("^alive$", re.M))

    def test_quitting_asks_while_a_shell_runs(self):
        scr = self.shell()
        scr.key(PREFIX).type("q")
        scr.wait_for("Quit?")
        scr.wait_for("running in")
        scr.key("Escape")
        scr.wait_gone("Quit?")
        scr.key(PREFIX).type("d")
        scr.wait_for("detail")
        scr.key("C-c")
        scr.wait_for("Quit?")
        scr.type("q")
        self.assertEqual(scr.wait_exit(), 0)
        self.assertFalse(scr.altscreen)
        self.assertEqual(scr.mouse_mode, 0)
        self.assertTrue(scr.cursor_visible)

    # --- files
    def files(self, **kw):
        self.local = self.tmp / "here"
        self.local.mkdir(exist_ok=True)
        scr = self.dashboard(cwd=self.local, **kw)
        return scr

    def open_files(self, scr, *names):
        scr.type("f")
        for name in names:
            scr.wait_for(name)
        return scr

    def drag(self, scr, start, end):
        scr.mouse("press", "left", *start)
        scr.mouse("drag", "left", start[0] + 1, start[1] + 3)
        scr.mouse("drag", "left", end[0], end[1])

    def test_drag_a_file_there_and_back(self):
        scr = self.files(rows=24, cols=80)
        there, back = os.urandom(300000), os.urandom(200000)
        (self.local / "to-sandbox.bin").write_bytes(there)
        self.write_remote("from-sandbox.bin", back)
        self.open_files(scr, "to-sandbox", "from-sandbox")
        self.drag(scr, scr.find("to-sandbox"), (15, 60))
        scr.wait_for(lambda s: "→ to-sandbox.bin" in s.text())  # the ghost says that it may be dropped
        scr.mouse("release", "left", 15, 60)
        scr.wait_for("copied to-sandbox.bin")
        self.assertEqual(sha(self.read_remote("to-sandbox.bin")), sha(there))
        self.drag(scr, scr.find("from-sandbox"), (15, 10))
        scr.mouse("release", "left", 15, 10)
        scr.wait_for("copied from-sandbox.bin")
        self.assertEqual(sha((self.local / "from-sandbox.bin").read_bytes()), sha(back))
        self.assertEqual(sorted(os.listdir(self.local)), ["from-sandbox.bin", "to-sandbox.bin"])

    def test_a_drag_let_go_outside_or_with_esc_copies_nothing(self):
        scr = self.files(rows=24, cols=80)
        (self.local / "stays.txt").write_text("x")
        self.open_files(scr, "stays.txt")
        self.drag(scr, scr.find("stays.txt"), (0, 60))
        scr.mouse("release", "left", 23, 60)
        self.drag(scr, scr.find("stays.txt"), (15, 60))
        scr.wait_for("→ stays.txt")
        scr.key("Escape")
        scr.wait_gone("→ stays.txt")
        scr.mouse("release", "left", 15, 60)
        scr.wait_idle()
        self.assertNotIn("copied", scr.text())
        self.assertIsNone(self.read_remote("stays.txt"))

    def test_copy_by_key_both_ways(self):
        scr = self.files(rows=24, cols=80)
        (self.local / "aa.txt").write_text("local\n")
        self.write_remote("zz.txt", b"remote\n")
        self.open_files(scr, "aa.txt", "zz.txt")
        row, col = scr.find("aa.txt")
        scr.mouse("click", "left", row, col)
        scr.key("F5")
        scr.wait_for("copied aa.txt")
        self.assertEqual(self.read_remote("aa.txt"), b"local\n")
        scr.wait_for(lambda s: any("aa.txt" in line[40:] for line in s.lines()))
        row, col = scr.find("zz.txt")
        scr.mouse("click", "left", row, col)
        scr.type("c")
        scr.wait_for("copied zz.txt")
        self.assertEqual((self.local / "zz.txt").read_text(), "remote\n")

    def test_a_conflict_asks_and_skips(self):
        scr = self.files(rows=24, cols=80)
        (self.local / "same.txt").write_text("mine\n")
        self.write_remote("same.txt", b"theirs\n")
        self.open_files(scr, "same.txt")
        scr.wait_for(lambda s: s.text().count("same.txt") == 2)
        row = next(n for n, line in enumerate(scr.lines()) if "same.txt" in line[:39])
        scr.mouse("click", "left", row, 3)  # mine
        scr.key("F5")
        scr.wait_for("It is there already")
        self.answer(scr, "Skip")
        scr.wait_gone("It is there already")
        scr.wait_idle()
        self.assertEqual(self.read_remote("same.txt"), b"theirs\n")
        scr.key("F5")
        scr.wait_for("It is there already")
        self.answer(scr, "Overwrite")
        scr.wait_for(lambda s: self.read_remote("same.txt") == b"mine\n")

    def test_delete_asks_and_names_what(self):
        scr = self.files(rows=24, cols=80)
        self.write_remote("doomed.txt", b"x")
        self.open_files(scr, "doomed.txt")
        scr.mouse("click", "left", *scr.find("doomed.txt"))
        scr.key("C-d")
        scr.wait_for(lambda s: "elete" in s.text() and s.text().count("doomed.txt") >= 2)
        scr.key("Escape")
        scr.wait_for(lambda s: s.text().count("doomed.txt") == 1)
        self.assertEqual(self.read_remote("doomed.txt"), b"x")

    def test_hostile_names_are_shown_safely(self):
        scr = self.files(rows=24, cols=80)
        self.write_remote("esc\x1b]52;c;aGk=\x07[31m", b"x")
        self.write_remote("bidi\u202egnp", b"x")
        self.write_remote("new\nline", b"x")
        self.open_files(scr, "esc^[", "bidi<U+202E>gnp", "new^Jline")
        self.assertNotIn(b"\x1b]52", scr.raw)
        self.assertNotIn("\u202e".encode(), scr.raw)

    # --- around
    def test_detail_shows_the_daemon(self):
        scr = self.dashboard()
        scr.type("d")
        if self.daemon_is_folded:
            scr.wait_for("▸ daemon")
            scr.type(":unfold daemon\r")
        scr.wait_for(re.compile(r"health +ok"))
        scr.type("q")
        scr.wait_for(lambda s: not re.search(r"health +ok", s.text()))

    def test_the_log_strip_shows_our_own_operations(self):
        scr = self.dashboard()
        scr.type(":log strip\r")
        scr.wait_for("─ log ")
        scr.type("f")
        scr.wait_for("sandmux.files.list")

    def test_every_size_down_to_40x10(self):
        scr = self.shell(rows=50, cols=200)
        for rows, cols in ((10, 40), (24, 80), (11, 41), (60, 240)):
            scr.resize(rows, cols)
            scr.type("clear; stty size\r")
            scr.wait_for(re.compile(rf"^{rows - 2} {cols}$", re.M))
        scr.resize(9, 40)
        scr.wait_for("sandmux needs 40×10")
        scr.resize(5, 12)
        scr.wait_for("5 is too")
        scr.resize(10, 40)
        self.prompt(scr)
