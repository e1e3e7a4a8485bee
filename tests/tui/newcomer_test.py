# SPDX-License-Identifier: Apache-2.0
"""Somebody who has never seen it: a sandbox is created, a shell opened, a file copied, and found out why another one is
not ready. No key is known here but those that the screen shows (the bar of hints, the buttons of a dialog, [n] of the empty
list), and what every keyboard has: letters, Enter, Tab, arrows."""
import re

from harness import Case, main
from harness.screen import Screen

KEYS = {"enter": "Enter", "esc": "Escape", "tab": "Tab", "space": "Space", "ctrl-]": "C-]", "ctrl-d": "C-d"}
HINT = r"(?:^|\s)(ctrl-\]|ctrl-d|enter|esc|tab|space|F\d+|\S) {}(?=\s|$)"


class Person:
    """Hands and eyes: every key that is pressed was read off the screen just before."""

    def __init__(self, scr: Screen):
        self.scr, self.pressed = scr, []

    def bar(self) -> str:
        return [line for line in self.scr.lines() if line.strip()][-1]

    def press(self, key: str):
        self.pressed.append(key)
        if key in KEYS or re.fullmatch(r"F\d+", key):
            self.scr.key(KEYS.get(key, key))
        else:
            self.scr.type(key)

    def do(self, word: str):
        """The key that the bar shows for that word."""
        hint = re.compile(HINT.format(re.escape(word)))
        found = []

        def shown(_=None):
            found[:] = hint.findall(self.bar())
            return bool(found)
        self.scr._wait(shown, None, f"a hint '{word}'")
        prefix = re.match(r"\s*(\S+) or \S+ then\s", self.bar())
        if prefix:
            self.press(prefix[1])
            self.scr._wait(lambda: not re.match(r"\s*\S+ or \S+ then\s", self.bar()) and shown(), None, f"'{word}' after the prefix")
        self.press(found[0])

    def command(self, words: str):
        """What the bar shows for commands, and a word that the palette then offers."""
        self.do("cmd")
        for letter in words:
            self.scr.type(letter)
        self.scr.wait_for(re.compile(rf"^ {words} .*\n(?:.*\n)*:{words}$", re.M))
        self.press("enter")


class Newcomer(Case):
    def setUp(self):
        self.tmp.mkdir(exist_ok=True)
        self.addCleanup(self.sandmux, "local", "reset", "--yes")

    def test_a_sandbox_a_shell_a_file_and_why(self):
        home = self.tmp / "project"
        home.mkdir()
        (home / "notes.txt").write_text("read me\n")
        scr = self.sandmux_screen("--local", rows=30, cols=120, cwd=home)
        me = Person(scr)

        # the empty list says how to begin
        me.press(scr.wait_for(re.compile(r"\[(\w)\] new sandbox"), timeout=60)[1])
        scr.wait_for("New sandbox")
        scr.type("mine")
        self.assertRegex(me.bar(), r"enter do it")
        scr.wait_for(re.compile(r"warm pool +local"))
        me.press("enter")
        scr.wait_for(re.compile(r"\bmine +\S Ready\b"), timeout=60)

        # a shell
        me.do("shell")
        scr.wait_for(re.compile(r"[$#] *$", re.M))
        scr.type("echo $((6*7)) > answer.txt; cat answer.txt\r")
        scr.wait_for(re.compile(r"^42$", re.M))
        me.do("list")
        scr.wait_for(re.compile(r"\bmine +\S Ready\b"))

        # a file, from there to here: what was just made
        me.do("files")
        scr.wait_for("answer.txt")
        scr.wait_for("notes.txt")
        scr.key("Down")
        me.do("copy")
        scr.wait_for("copied answer.txt")
        self.assertRegex(me.bar(), r"\S+ copy\b")  # the note has not taken the place of the hints
        self.assertEqual((home / "answer.txt").read_text(), "42\n")
        me.command("sandboxes")
        scr.wait_for(re.compile(r"\bmine +\S Ready\b"))

        # another one is not ready: why?
        self.sandmux("--local", "create", "other", "--pool", "nowhere", "--no-wait", check=0)
        row = scr.wait_for(re.compile(r"\bother +\S \w+.*(nowhere\b.*)$", re.M))
        self.assertRegex(row[0], "does not exist|not found|no such")
        scr.key("Down")
        me.do("detail")
        scr.wait_for(re.compile(r"● other|✗ other"))
        scr.wait_for(re.compile(r"nowhere.*does not exist"))
        self.assertLess(len(me.pressed), 16, me.pressed)

    def test_hints_follow_what_is_selected(self):
        self.sandmux("--local", "create", "mine", check=0, timeout=60)
        scr = self.sandmux_screen("--local", rows=30, cols=160)
        me = Person(scr)
        scr.wait_for(re.compile(r"\bmine +\S Ready\b"))
        scr.wait_for(re.compile(r"\S+ suspend\b"))
        self.assertNotRegex(me.bar(), "resume")  # it is not asleep
        me.do("suspend")
        scr.wait_for("Suspend 1 sandbox?")
        self.assertRegex(me.bar(), "enter press")
        me.press("enter")
        scr.wait_for(re.compile(r"\bmine +\S Suspended\b"))
        scr.wait_for(re.compile(r"\S+ resume\b"))
        self.assertNotRegex(me.bar(), r"suspend\b|shell\b")
        me.do("resume")
        scr.wait_for(re.compile(r"\bmine +\S Ready\b"), timeout=60)


class Remembered(Case):
    def run_once(self, *options, theme=None):
        scr = self.sandmux_screen("--server", "http://127.0.0.1:1", *options, rows=24, cols=100)
        scr.wait_for("? help")
        if theme:
            scr.type(f":theme {theme}\r")
            scr.wait_gone(":theme")
        scr.type(":theme\r")
        now = scr.wait_for(re.compile(r"it is (\S+) now"))[1]
        scr.key("C-c")
        self.assertEqual(scr.wait_exit(), 0)
        return now

    def files(self):
        return list(self.tmp.rglob("dashboard.json"))

    def test_what_was_chosen_is_there_again(self):
        self.assertEqual(self.run_once("--no-remember", theme="light"), "light")
        self.assertEqual(self.files(), [])
        self.assertEqual(self.run_once(theme="high-contrast"), "high-contrast")
        self.assertEqual(self.run_once(), "high-contrast")
        self.assertEqual(self.run_once("--no-remember"), "default")
        self.assertEqual(self.run_once("--set", "remember=off"), "default")
        file, = self.files()
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        file.write_text("{ not what was written")
        self.assertEqual(self.run_once(), "default")
        self.assertTrue(file.with_name("dashboard.json.damaged").exists())


if __name__ == "__main__":
    main()
