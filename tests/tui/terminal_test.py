# SPDX-License-Identifier: Apache-2.0
"""The terminal itself: given back on every way out, job control, slow and dumb terminals, colours, sizes."""
import os
import re
import signal
import socket
import time
from pathlib import Path

from harness import BIN, Case, free_port, main
from harness.sandmux import Stopwatch, home_env

NOWHERE = f"http://127.0.0.1:{free_port()}"  # nobody listens: the first paint needs no answer


class Terminal(Case):
    def args(self):
        return ["--rest", NOWHERE, "--grpc", NOWHERE[7:]]

    def open(self, **kw):
        scr = self.sandmux_screen(*self.args(), **kw)
        scr.wait_for("by its address")
        return scr

    def under_a_shell(self):
        """The dashboard as a job of a real shell; the program's own pid."""
        scr = self.screen(["bash", "--norc", "-i"], rows=24, cols=80, env={**home_env(self.tmp), "PS1": "prompt> "})
        scr.wait_for("prompt>")
        line = " ".join([str(BIN), *self.args()])
        scr.type(f"clear; {line}\r")
        scr.wait_for("by its address")
        children = Path(f"/proc/{scr.pid}/task/{scr.pid}/children").read_text().split()
        return scr, int(children[-1])

    def expect_given_back(self, scr):
        scr.wait_for(lambda s: not s.altscreen)
        scr.wait_for("prompt>")
        scr.wait_for(lambda s: s.mouse_mode == 0 and s.cursor_visible)
        scr.type("clear; stty -a | tr ';' '\\n' | grep -wo -e -echo -e -icanon -e -isig; echo checked\r")
        scr.wait_for(re.compile("^checked$", re.M))
        self.assertNotRegex(scr.text(), r"(?m)^-(echo|icanon|isig)$")

    def test_every_way_out_gives_the_terminal_back(self):
        for name in ("SIGTERM", "SIGHUP", "SIGINT", "SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE"):
            with self.subTest(name):
                scr, pid = self.under_a_shell()
                os.kill(pid, getattr(signal, name))
                self.expect_given_back(scr)
                scr.stop()

    def test_quitting_gives_the_terminal_back(self):
        scr, _ = self.under_a_shell()
        scr.type(":quit\r")
        self.expect_given_back(scr)

    def test_job_control(self):
        scr, pid = self.under_a_shell()
        scr.key("C-z")
        scr.wait_for("Stopped")
        self.expect_given_back(scr)
        scr.type("clear; fg\r")
        scr.wait_for("by its address")
        self.assertTrue(scr.altscreen)
        self.assertEqual(scr.mouse_mode, 2)
        os.kill(pid, signal.SIGTSTP)
        scr.wait_for("Stopped")
        self.expect_given_back(scr)
        scr.type("clear; fg\r")
        scr.wait_for("by its address")
        scr.type("?")
        scr.wait_for("Everywhere")

    def test_a_stuck_terminal_does_not_stop_it(self):
        scr = self.open()
        scr.pause()
        for n in range(200):  # more than a pty holds
            scr.resize(24 + n % 2, 80)
            scr.key("C-l")
            time.sleep(0.005)
        def status():
            return Path(f"/proc/{scr.pid}/stat").read_text().rsplit(")", 1)[1].split()
        end = time.monotonic() + 10
        while status()[0] != "S":  # asleep in its loop, not spinning
            self.assertLess(time.monotonic(), end, "it does not come to rest")
            time.sleep(0.01)
        before = sum(map(int, status()[11:13]))
        time.sleep(1)  # what is measured: the work of a second
        status = status()
        self.assertLess(int(status[11]) + int(status[12]) - before, 20)
        scr.resume()
        scr.type("?")
        scr.wait_for("Everywhere")

    def test_a_terminal_that_goes_away_ends_it(self):
        scr = self.open()
        scr.close_tty()
        self.assertEqual(scr.wait_exit(), 0)

    def test_too_small_is_said_and_mended(self):
        scr = self.sandmux_screen(*self.args(), rows=8, cols=30)
        scr.wait_for("30×8 is too small")
        scr.wait_for("sandmux needs 40×10")
        scr.resize(10, 40)
        scr.wait_for("by its address")
        for rows, cols in ((1, 1), (2, 200), (60, 3), (10, 40)):
            scr.resize(rows, cols)
            scr.wait_idle(0.1)
        scr.wait_for("by its address")

    def test_colours(self):
        def shown(**kw):
            scr = self.open(**kw)
            scr.wait_idle()
            raw = scr.raw
            scr.stop()
            return raw
        self.assertIn(b"\x1b[38;5;", shown())
        true = shown(env={"COLORTERM": "truecolor"})
        self.assertRegex(true, rb"\x1b\[38;2;\d+;\d+;\d+m")
        colour = re.compile(rb"\x1b\[(?:\d+;)*(?:3[0-8]|4[0-8])(?:;\d+)*m")
        self.assertNotRegex(shown(env={"NO_COLOR": "1"}), colour)
        self.assertNotRegex(shown(term="dumb"), colour)
        self.assertRegex(shown(term="xterm"), colour)
        self.assertNotRegex(shown(term="vt100"), colour)

    def test_themes(self):
        for theme in ("light", "high-contrast", "mono"):
            scr = self.open()
            scr.type(f":theme {theme}\r")
            scr.wait_idle()
            self.assertNotIn("!", scr.row(-1))
            scr.stop()
        r = self.sandmux_screen(*self.args(), "--theme", "no-such-theme")
        self.assertNotEqual(r.wait_exit(), 0)
        self.assertIn("no-such-theme", r.text())

    def test_esc_does_not_wait_long(self):
        scr = self.open()
        scr.type(":")
        scr.wait_for(lambda s: s.row(-1).startswith(":"))
        watch = Stopwatch(scr.pid)
        scr.key("Escape")
        scr.wait_for(lambda s: not s.row(-1).startswith(":"))
        self.assertLess(watch.took(), 0.3)

    def test_commands_are_found_completed_and_refused(self):
        scr = self.open()
        scr.type(":hel").key("Tab")
        scr.wait_for(lambda s: s.row(-1).rstrip() == ":help")
        scr.key("Enter")
        scr.wait_for("Everywhere")
        scr.type("q")
        scr.wait_for("by its address")
        scr.type(":no-such-thing\r")
        scr.wait_for("there is no command 'no-such-thing'")
        scr.type(":").key("Up")
        scr.wait_for(":no-such-thing")
        scr.key("C-c")
        scr.wait_gone(":no-such-thing")

    def test_nobody_answers(self):
        silent = socket.create_server(("127.0.0.1", 0))  # connects, and then says nothing
        self.addCleanup(silent.close)
        where = f"127.0.0.1:{silent.getsockname()[1]}"
        scr = self.sandmux_screen("--rest", f"http://{where}", "--grpc", where, rows=24, cols=100)
        scr.wait_for("by its address")
        scr.type("s")
        scr.wait_for("connecting to")
        scr.key("C-]").type("x")  # nothing runs yet: no question
        scr.wait_for("by its address")

    def test_no_terminal_is_one_clear_line(self):
        r = self.sandmux(*self.args())
        self.assertEqual(r.code, 2)
        self.assertRegex(r.err, r"^sandmux: tty\.none: .+\n$")


if __name__ == "__main__":
    main()
