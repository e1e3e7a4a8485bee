# SPDX-License-Identifier: Apache-2.0
"""Nothing happens by accident: 200 random letters through each question that nobody asked for, through scroll mode and
through a pane that has ended, change nothing outside. Each has a control that shows the same letters doing harm without
the guard: in `careless` (tests/tui/careless.c), or in the pane itself."""
import random
import re
import string
import time
from pathlib import Path

from harness import BIN, Case, main

CARELESS = Path(BIN).parent / "careless"
PROMPT = re.compile(r"[$#] *$", re.M)
SIZES = ((24, 80), (35, 120), (10, 40))


def letters(seed: int, n: int = 200) -> str:
    """Letters and digits; a few of them are sure to be there: those that once pressed a button."""
    rng = random.Random(seed)
    text = [rng.choice(string.ascii_letters + string.digits) for _ in range(n - 10)] + list("oOanskKtyq")
    rng.shuffle(text)
    return "".join(text)


class Accidents(Case):
    def setUp(self):
        self.server = self.sandboxd()
        self.root = self.server.root

    def where(self):
        return ["--rest", self.server.rest_url, "--grpc", self.server.grpc]

    def open(self, careless=False, rows=24, cols=80, cwd=None):
        if careless:
            scr = self.screen([CARELESS, self.server.rest_url, self.server.grpc], rows=rows, cols=cols, cwd=cwd or self.tmp)
        else:
            scr = self.sandmux_screen(*self.where(), rows=rows, cols=cols, cwd=cwd or self.tmp)
        scr.wait_for("by its address")
        return scr

    def catcher(self, scr, then=""):
        """A shell that writes every line it gets to a file, so that nothing typed is lost or run; `then` comes a moment
        after it listens, from a job in the background."""
        scr.type("s")
        scr.wait_for(PROMPT)
        scr.type(f"clear; {then} stty -echo; printf 're''ady\\n'; cat > typed\r")
        scr.wait_for(re.compile("^ready$", re.M))

    def typed(self) -> str:
        path = self.root / "typed"
        return path.read_text() if path.exists() else ""

    def ask_clipboard(self, scr):
        self.catcher(scr, "(until [ -e go ]; do sleep 0.05; done; printf '\\033]52;c;c3RvbGVu\\a') &")
        (self.root / "go").touch()
        scr.wait_for("Write to your clipboard?")

    # ---- the clipboard
    def test_letters_typed_on_do_not_answer_for_the_clipboard(self):
        for seed, (rows, cols) in enumerate(SIZES):
            with self.subTest(rows=rows, cols=cols):
                scr = self.open(rows=rows, cols=cols)
                self.ask_clipboard(scr)
                text = letters(seed)
                scr.type(text[:100]).key("Enter")
                scr.wait_for(lambda s: text[:100] in self.typed())  # whoever types has typed on
                scr.type(text[100:]).key("Enter", "Enter")
                scr.wait_for(lambda s: text[100:] in self.typed())
                self.assertIn("Write to your clipboard?", scr.text())
                self.assertIn("shell in http", scr.text())
                self.assertNotIn(b"\x1b]52", scr.raw)
                scr.key("C-]").type("a")
                scr.wait_for("arrows and enter answer")
                scr.type(letters(seed + 100)).key("Escape")  # turned to, it takes none either
                scr.wait_for("C-] a answers".replace("C-]", "ctrl-]"))
                self.assertNotIn(b"\x1b]52", scr.raw)
                self.assertNotIn(letters(seed + 100), self.typed())
                self.answer(scr, "Never" if rows > 10 else "No")
                scr.wait_gone("clipboard?")
                self.assertNotIn(b"\x1b]52", scr.raw)
                scr.stop()
                for name in ("typed", "go"):
                    (self.root / name).unlink()

    def test_control_without_the_guard_letters_answer_for_the_clipboard(self):
        scr = self.open(careless=True)
        self.ask_clipboard(scr)
        scr.type("o" + letters(0))
        scr.wait_gone("Write to your clipboard?")
        self.assertIn(b"\x1b]52;c;c3RvbGVu", scr.raw)

    # ---- what is there already
    def conflict(self, careless=False):
        here = self.tmp / "here"
        here.mkdir()
        for name in ("f0", "f1"):
            (here / name).write_text("new")
            (self.root / name).write_text("older")
        scr = self.open(careless, cwd=here)
        scr.type("f")
        scr.wait_for("local:")
        scr.wait_for(lambda s: s.text().count("f1") == 2)
        scr.key("Tab", "*", "F5")
        scr.wait_for("It is there already")
        return scr

    def older(self):
        return [(self.root / name).read_text() for name in ("f0", "f1")]

    def test_letters_do_not_answer_a_conflict(self):
        scr = self.conflict()
        scr.key("C-]").type("a")
        scr.wait_for("arrows and enter answer")
        scr.type(letters(1)).key("Space", "Escape")
        scr.wait_for("ctrl-] a answers")
        self.assertEqual(self.older(), ["older"] * 2)
        self.assertEqual(sorted(p.name for p in self.root.iterdir()), ["f0", "f1"])
        scr.key("C-c")  # goes to the view behind it; the copy waits on
        scr.wait_for("Quit?")
        scr.key("Escape")
        scr.wait_gone("Quit?")
        scr.wait_for("It is there already")
        self.answer(scr, "Overwrite")
        scr.wait_for(lambda s: "new" in self.older())

    def test_control_without_the_guard_letters_answer_a_conflict(self):
        scr = self.conflict(careless=True)
        scr.type("o" + letters(1))
        scr.wait_for(lambda s: "new" in self.older())

    # ---- modes of a pane
    def test_letters_in_scroll_mode_reach_nobody(self):
        scr = self.open()
        self.catcher(scr, "seq 100;")
        for seed in range(3):
            scr.key("C-]").type("[")
            scr.wait_for("esc leave")
            scr.type(letters(seed))
            scr.send(b"\x1b[200~" + letters(seed).encode() + b"\r\x1b[201~")
            scr.wait_for("nothing is pasted")
            self.assertRegex(scr.text(), r"\d+/\d+ *\n")  # where it is scrolled to
            scr.key("Escape")
            scr.wait_for(lambda s: not re.search(r"\d+/\d+ *\n", s.text()))
        scr.type(letters(7)).key("Enter")
        scr.wait_for(lambda s: letters(7) in self.typed())  # the control: here they arrive
        self.assertEqual(self.typed(), letters(7) + "\n")
        self.assertNotIn(b"\x1b]52", scr.raw)
        self.assertEqual(len(re.findall(r" \d ", scr.row(0))), 2, scr.row(0))  # tabs

    def test_letters_in_a_pane_that_lost_its_connection_do_nothing(self):
        scr = self.open()
        self.catcher(scr)
        self.server.stop_daemon()
        scr.wait_for("r runs it again")
        scr.type(letters(3)).key("Enter", "Escape", "C-c", "C-d", "Tab").type(letters(4))
        scr.key("C-]").type("[")
        scr.wait_for("esc leave")  # everything typed before has been handled
        scr.key("Escape")
        self.assertIn("r runs it again", scr.text())
        self.assertEqual(len(re.findall(r" \d ", scr.row(0))), 2, scr.row(0))
        scr.key("C-]").type("x")
        scr.wait_for("by its address")

    def test_a_letter_by_itself_leaves_and_copies(self):
        scr = self.open()
        self.catcher(scr, "seq 100;")
        scr.key("C-]").type("[")
        scr.wait_for("esc leave")
        scr.type("q")
        scr.wait_gone("esc leave")
        scr.key("C-]").type("[")
        scr.wait_for("esc leave")
        scr.key("Home", "Up", "Up").type("v").key("Right").type("y")
        scr.wait_for("2 bytes copied")
        scr.wait_gone("esc leave")
        self.assertIn(b"\x1b]52", scr.raw)
        self.assertEqual(self.typed(), "")

    def test_a_letter_by_itself_in_a_pane_that_ended(self):
        scr = self.open()
        self.catcher(scr)
        self.server.stop_daemon()
        scr.type("xr" * 20 + "x")  # on its way when it ended
        scr.wait_for("r runs it again")
        scr.key("PageUp")
        scr.wait_for("esc leave")  # everything typed before has been handled
        scr.key("Escape")
        scr.wait_gone("esc leave")
        self.assertIn("r runs it again", scr.text())
        quiet = time.monotonic() + 0.6  # what this is about: so long after another key
        scr.wait_for(lambda s: time.monotonic() > quiet)
        scr.type("x")
        scr.wait_for("by its address")

    def test_control_the_same_keys_in_the_list_do_things(self):
        scr = self.open()
        scr.type("C")
        scr.wait_for("2 copies")
        scr.type("q")
        scr.wait_gone("2 copies")
        scr.key("C-c")
        self.assertEqual(scr.wait_exit(), 0)

    # ---- the mouse
    def test_middle_click_closes_neither_the_list_nor_what_runs(self):
        scr = self.open()
        row, col = scr.find("1 sandboxes")
        scr.mouse("click", "middle", row, col)
        scr.wait_for("the list stays")
        self.catcher(scr)
        row, col = scr.find(" 2 ")
        scr.mouse("click", "middle", row, col + 1)
        scr.wait_for("Close this tab?")
        scr.key("Enter")  # the safe button
        scr.wait_gone("Close this tab?")
        scr.type("alive").key("Enter")
        scr.wait_for(lambda s: "alive" in self.typed())


if __name__ == "__main__":
    main()
