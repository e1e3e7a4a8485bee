# SPDX-License-Identifier: Apache-2.0
"""The dashboard on the embedded backend, by hand and mouse."""
import fcntl
import os
import re
import signal
import struct
import termios
import time
from pathlib import Path

from cases.dashboard import DashboardCases
from harness import BIN, Case, main
from harness.sandmux import home_env


def rss_kib(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))


def wait_rss(pid, wanted, seconds=20):
    """What the process holds, as soon as that is as wanted."""
    end = time.monotonic() + seconds
    while not wanted(now := rss_kib(pid)) and time.monotonic() < end:
        time.sleep(0.02)
    return now


def stop_with(case):
    """The backend ends with the test, before the home that says where it is."""
    case.tmp.mkdir(exist_ok=True)
    case.addCleanup(case.sandmux, "local", "reset", "--yes")


class Local(DashboardCases, Case):
    def setUp(self):
        self.tmp  # first: its removal then comes after the reset
        stop_with(self)
        r = self.sandmux("--local", "create", "box", check=0, timeout=60)
        self.assertIn("box", r.out)

    def dashboard(self, rows=24, cols=80, **kw):
        scr = self.sandmux_screen("--local", rows=rows, cols=cols, **kw)
        scr.wait_for(re.compile(r"\bbox +\S Ready\b" if cols > 60 else r"\bbox\b"))
        return scr

    def read_remote(self, path):
        r = self.sandmux("--local", "files", "cat", f"box:{path}")
        return r.out_bytes if r.code == 0 else None

    def write_remote(self, path, data):
        script = 'cat > "$1"'
        self.sandmux("--local", "run", "box", "--", "sh", "-c", script, "sh", path, stdin=data, check=0)


class LocalList(Case):
    def setUp(self):
        self.tmp  # first: its removal then comes after the reset
        stop_with(self)

    def test_from_nothing_to_a_sandbox_and_back(self):
        scr = self.sandmux_screen("--local", rows=24, cols=100)
        scr.wait_for("[n] new sandbox", timeout=60)
        scr.type("n")
        scr.wait_for("New sandbox")
        scr.type("mine").key("Tab", "C-u").type("local").key("Enter")  # the pools may not have been read yet
        scr.wait_for(re.compile(r"\bmine +\S Ready\b"))
        scr.wait_for("mine is ready")
        scr.type("p")
        scr.wait_for("Suspend 1 sandbox?")
        scr.key("Enter")
        scr.wait_for(re.compile(r"\bmine +\S Suspended\b"))
        scr.type("s")
        scr.wait_for("sandbox.suspended")
        scr.key("Enter")
        scr.wait_gone("sandbox.suspended")
        scr.type("r")
        scr.wait_for(re.compile(r"\bmine +\S Ready\b"))
        scr.key("C-d")
        scr.wait_for("Delete 1 sandbox?")
        scr.key("Enter")  # the safe button has the focus
        scr.wait_gone("Delete 1 sandbox?")
        scr.wait_idle()
        self.assertRegex(scr.text(), r"\bmine +\S Ready\b")
        scr.key("C-d")
        scr.wait_for("Delete 1 sandbox?")
        scr.type("d")
        scr.wait_for("deleted mine")
        scr.wait_for(re.compile(r"\bmine +† Deleted\b"))
        scr.type(":tombstones clear\r")
        scr.wait_for("[n] new sandbox")
        self.assertNotIn("mine ", scr.text())

    def test_a_shell_from_nothing(self):
        """Where there is no sandbox one is made, with a shell in it; leaving leaves it."""
        scr = self.sandmux_screen("--local", rows=24, cols=100)
        scr.wait_for("[:shell] create one and open a shell", timeout=60)
        scr.wait_for("pool local")
        scr.type(":shell\r")
        scr.wait_for(re.compile(r"2 shell \S+"), timeout=60)
        scr.type("echo here$((6*7))\r")
        scr.wait_for("here42")
        scr.key("F12").type("d")
        scr.wait_for(re.compile(r"SHELLS"))
        scr.wait_for(re.compile(r"● Ready.* ⌗"))
        scr.stop()
        names = self.sandmux("--local", "ls", "-o", "name", check=0).out.split()
        self.assertEqual(len(names), 1, names)

    def test_a_form_that_fails_keeps_what_was_typed(self):
        self.sandmux("--local", "create", "taken", check=0, timeout=60)
        scr = self.sandmux_screen("--local", rows=24, cols=80)
        scr.wait_for(re.compile(r"\btaken +\S Ready\b"))
        scr.type("n")
        scr.wait_for("New sandbox")
        scr.type("taken").key("Tab", "C-u").type("local").key("Tab").type("a=b").key("Tab").type("soon").key("Enter")
        scr.wait_for("! 'soon' is no time")
        self.assertIn("a=b", scr.text())
        scr.key(*["BSpace"] * 4).type("2h").key("Enter")
        scr.wait_for("Not created")  # the server's word, later: nobody types into it by accident
        scr.wait_for("! claim taken exists already")
        for kept in ("a=b", "2h"):
            self.assertIn(kept, scr.text())
        scr.key("C-]").type("a")
        scr.wait_for("arrows and enter answer")
        scr.type("-2").key("Enter")
        scr.wait_for(re.compile(r"\btaken-2 +\S Ready\b"))
        scr.type("r")
        scr.wait_for("runs already")
        scr.type("e")
        scr.wait_for("Extend 1 sandbox?")
        scr.key("C-u").type("whenever").key("Enter")
        scr.wait_for("! 'whenever' is no time")
        scr.key("C-u").type("3h").key("Enter")
        scr.wait_for(re.compile(r"lives until 20\d\d-\d\d-\d\dT.*, for (3h|2h59m)"))

    def test_a_shell_lives_on_while_another_namespace_is_looked_at(self):
        self.sandmux("--local", "create", "box", check=0, timeout=60)
        scr = self.sandmux_screen("--local", rows=24, cols=100)
        scr.wait_for(re.compile(r"\bbox +\S Ready\b"))
        scr.type("s")
        scr.wait_for(re.compile(r"[$#] *$", re.M))
        scr.type("clear; WHO=me\r").key("C-]").type("d")
        scr.wait_for(re.compile(r"\bbox +\S Ready\b"))
        scr.type(":ns elsewhere\r")
        scr.wait_for("No sandboxes in namespace elsewhere")
        scr.type("0")
        scr.wait_for("all namespaces")
        scr.wait_for(re.compile(r"\bbox +\S Ready\b"))
        scr.wait_for("namespace default")  # in the card: a column of one value earns no room
        scr.key("C-]").type("2")
        scr.type("echo =$WHO=\r")
        scr.wait_for("=me=")

    def test_the_prefix_is_a_setting(self):
        self.sandmux("--local", "create", "box", check=0, timeout=60)
        scr = self.sandmux_screen("--local", "--set", "prefix-key=ctrl-b", rows=24, cols=100)
        scr.wait_for(re.compile(r"\bbox +\S Ready\b"))
        scr.type("s")
        scr.wait_for("ctrl-b then")
        scr.wait_for(re.compile(r"[$#] *$", re.M))
        scr.type("cat -v\r").key("C-]", "F12", "C-b", "C-b", "Enter")
        scr.wait_for(re.compile(r"\^\]\^\[\[24~\^B"))
        scr.key("C-b").type("y")
        scr.wait_for("ctrl-b y does nothing; ctrl-b ? shows the keys")
        r = self.sandmux("--set", "prefix-key=x", "ls")
        self.assertEqual(r.code, 2)
        self.assertIn("prefix-key: 'x' is needed for typing", r.err)

    def test_a_resize_beyond_reason_leaves_no_memory_behind(self):
        release = Path(BIN).parents[2] / "release/bin/sandmux"  # a sanitizer keeps what is freed
        self.need(release.exists(), "there is no release build: scripts/build.sh release")
        self.sandmux("--local", "create", "box", check=0, timeout=60)
        scr = self.screen([str(release), "--local"], env=home_env(self.tmp), rows=24, cols=100)
        scr.wait_for(re.compile(r"\bbox +\S Ready\b"))
        scr.type("s")
        scr.wait_for(re.compile(r"[$#] *$", re.M))
        scr.type("seq 1 2000; echo e''nd\r")
        scr.wait_for("end")
        scr.wait_idle()
        before = rss_kib(scr.pid)
        fcntl.ioctl(scr._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 65535, 65535, 0, 0))
        os.kill(scr.pid, signal.SIGWINCH)
        grown = wait_rss(scr.pid, lambda now: now > before + 65536)
        self.assertGreater(grown, before + 65536, "the size was taken")
        fcntl.ioctl(scr._fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        os.kill(scr.pid, signal.SIGWINCH)
        self.assertLess(wait_rss(scr.pid, lambda now: now < before + 8192), before + 8192)
        scr.type("echo al''ive\r")
        scr.wait_for("alive")

    def test_a_shell_ends_with_its_sandbox_and_says_so(self):
        self.sandmux("--local", "create", "box", check=0, timeout=60)
        scr = self.sandmux_screen("--local", rows=24, cols=100)
        scr.wait_for(re.compile(r"\bbox +\S Ready\b"))
        scr.type("s")
        scr.wait_for(re.compile(r"[$#] *$", re.M))
        self.sandmux("--local", "rm", "box", "--yes", check=0)
        scr.wait_for("the sandbox is gone")
        scr.wait_for("r runs it again")


if __name__ == "__main__":
    main()
