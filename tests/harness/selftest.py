# SPDX-License-Identifier: Apache-2.0
"""The harness tested on programs that are everywhere."""
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from harness import Case, Process, Screen, free_port, main
from harness.procs import http_ok
from harness.vterm import VTerm

BASH = ["bash", "--norc", "--noprofile"]


class ScreenTest(Case):
    def bash(self, **kw):
        scr = self.screen(BASH, env={"PS1": "ready$ "}, **kw)
        scr.wait_for("ready$")
        return scr

    def test_shell_and_exit_status(self):
        scr = self.bash()
        scr.type("echo a$((1+1))b").key("Enter").wait_for("a2b")
        self.assertEqual(scr.find("a2b"), (1, 0))
        scr.type("exit 3").key("Enter")
        self.assertEqual(scr.wait_exit(), 3)

    def test_size_and_resize(self):
        scr = self.bash(rows=30, cols=100)
        scr.type("stty size").key("Enter").wait_for("30 100")
        scr.type("trap 'echo now $(stty size)' WINCH; clear").key("Enter").wait_gone("30 100")
        scr.wait_for("ready$")  # until then the signal may go to clear, which has the terminal
        scr.resize(12, 40)
        scr.key("Enter").wait_for("now 12 40")
        self.assertEqual((scr.rows, scr.cols, len(scr.lines())), (12, 40, 12))

    def test_controlling_terminal(self):
        scr = self.bash()
        scr.type("echo u''p; cat").key("Enter").wait_for("\nup")
        scr.type("x\n").wait_for("x\nx")
        scr.key("C-c").wait_for(re.compile(r"\^C\nready\$"))
        scr.type("tty </dev/tty").key("Enter").wait_for("/dev/tty")

    def test_colours_and_attributes(self):
        scr = self.screen(["printf", r"\033[31mR\033[0m\033[38;2;1;2;3;48;5;200mT\033[0m\033[1;3;4;5;7;9mA\033[0mN"])
        scr.wait_for("RTAN")
        self.assertEqual(scr.cell(0, 0).fg, 1)
        self.assertEqual((scr.cell(0, 1).fg, scr.cell(0, 1).bg), ("#010203", 200))
        self.assertEqual(scr.cell(0, 2).attrs, {"bold", "italic", "underline", "blink", "reverse", "strike"})
        self.assertTrue(scr.cell(0, 2).bold)
        self.assertEqual(scr.cell(0, 3)[2:], (None, None, frozenset()))
        self.assertRaises(IndexError, scr.cell, 24, 0)

    def test_wide_and_combining(self):
        scr = self.screen(["printf", "a你e\u0301z"])
        scr.wait_for("z")
        self.assertEqual(scr.row(0), "a你e\u0301z")
        self.assertEqual([scr.cell(0, n).width for n in range(5)], [1, 2, 0, 1, 1])
        self.assertEqual(scr.find("z"), (0, 4))
        self.assertEqual(scr.cell(0, 3).text, "e\u0301")

    def test_modes(self):
        scr = self.screen(["sh", "-c", r"printf 'main\033[?1049h\033[?25l\033[?1002h\033[?1006h\033]2;hello\007\a\033[Halt'; read x; printf '\033[?1049l'; read x"])
        scr.wait_for("alt")
        self.assertTrue(scr.altscreen)
        self.assertEqual((scr.cursor_visible, scr.mouse_mode, scr.bells, scr.title), (False, 2, 1, "hello"))
        self.assertNotIn("main", scr.text())
        scr.key("Enter").wait_for("main")
        self.assertIn(b"\033[?1049l", scr.raw)

    def test_a_frame_shows_when_it_is_whole(self):
        script = (r"stty -echo; printf 'go \033[?20'; read x; printf '26hhalf'; read x; printf ' whole\033[?2026l'; read x;"
                  r"printf '\033[?2026h the end'")
        scr = self.screen(["sh", "-c", script])
        scr.wait_for("go")
        scr.key("Enter").wait_for(lambda s: b"half" in s.raw)
        self.assertEqual(scr.text().strip(), "go")
        scr.key("Enter").wait_for("half whole")
        scr.key("Enter").wait_for("the end")  # nothing can end it any more

    def test_keys(self):
        scr = self.screen(["sh", "-c", r"stty raw -echo; printf go; exec cat -v"])
        scr.wait_for("go")
        for key, shown in (("Up", "^[[A"), ("C-Left", "^[[1;5D"), ("F1", "^[OP"), ("F5", "^[[15~"), ("S-Tab", "^[[Z"),
                           ("Esc", "^["), ("Backspace", "^?"), ("C-c", "^C"), ("M-x", "^[x"), ("PageDown", "^[[6~"),
                           ("C-Space", "^@"), ("é", "M-CM-)")):
            with self.subTest(key):
                scr.key(key).send(b"|")
                scr.wait_for(shown + "|")
        self.assertRaises(ValueError, scr.key, "Nope")

    def test_application_cursor_keys_and_paste(self):
        scr = self.screen(["sh", "-c", r"stty raw -echo; printf '\033[?1h\033[?2004hgo'; exec cat -v"])
        scr.wait_for("go")
        scr.key("Up").paste("p")
        scr.wait_for("^[OA^[[200~p^[[201~")

    def test_mouse(self):
        scr = self.screen(["sh", "-c", r"stty raw -echo; printf '\033[?1002h\033[?1006hgo'; exec cat -v"])
        scr.wait_for("go")
        scr.mouse("press", "left", 2, 3).mouse("drag", "left", 4, 5).mouse("release", "left", 4, 5)
        scr.mouse("wheel", "down", 0, 0)
        scr.wait_for("^[[<0;4;3M^[[<32;6;5M^[[<0;6;5m^[[<65;1;1M")
        quiet = self.bash()
        self.assertRaises(AssertionError, quiet.mouse, "press", "left", 0, 0)

    def test_the_terminal_answers(self):
        scr = self.screen(["bash", "-c", r"stty raw -echo; printf '\033[6n'; IFS= read -rd R a; printf 'pos%s' ${a#*[}"])
        scr.wait_for("pos1;1")

    def test_hang_up(self):
        scr = self.screen(["bash", "-c", f"trap 'echo gone >{self.tmp}/hup; exit 9' HUP; echo up; read x"])
        scr.wait_for("up")
        scr.close_tty()
        self.assertEqual(scr.wait_exit(), 9)
        self.assertEqual((self.tmp / "hup").read_text(), "gone\n")

    def test_what_the_tests_ignore_is_not_handed_on(self):
        code = ("import os, signal; from harness import Screen; os.kill(os.getpid(), signal.SIGHUP); os.kill(os.getpid(), signal.SIGINT)\n"
                "with Screen(['grep', 'SigIgn', '/proc/self/status']) as s: print(s.wait_for('SigIgn') and s.text())")
        r = subprocess.run(["sh", "-c", "trap '' HUP INT QUIT USR1; exec \"$@\"", "sh", sys.executable, "-c", code], capture_output=True, text=True,
                           env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertRegex(r.stdout, r"SigIgn:\s+0+\s", r.stderr)

    def test_a_terminal_that_hangs(self):
        scr = self.bash()
        scr.pause()
        scr.type("seq 100000 | tail -c 70000; echo d''one").key("Enter")
        self.assertRaises(AssertionError, scr.wait_for, "done", timeout=0.3)
        scr.resume().wait_for("done")

    def test_big_input_does_not_block(self):
        scr = self.screen(["sh", "-c", "stty raw -echo; printf go; head -c 500000 | wc -c"])
        scr.wait_for("go")
        scr.send(b"x" * 500000).wait_for("500000")

    def test_failures_show_the_screen(self):
        scr = self.bash()
        with self.assertRaisesRegex(AssertionError, r"waited for never(.|\n)*\|ready\$"):
            scr.wait_for("never", timeout=0.1)
        start = time.monotonic()
        scr.type("exit").key("Enter").wait_exit()
        with self.assertRaisesRegex(AssertionError, "ended with 0"):
            scr.wait_for("never", timeout=60)
        self.assertLess(time.monotonic() - start, 30)

    def test_golden(self):
        scr = self.screen(["printf", r"one 12:34\n\n  two"], rows=4, cols=20)
        scr.golden("harness/selftest", masks=[(r"\d\d:\d\d", "HH:MM")])
        if os.environ.get("SANDMUX_GOLDEN") != "write":
            other = self.screen(["printf", "three"], rows=4, cols=20)
            with self.assertRaisesRegex(AssertionError, r"\+three"):
                other.golden("harness/selftest", timeout=0.2)

    def test_stop_ends_the_group(self):
        scr = self.bash()
        scr.type("trap '' HUP TERM; (trap '' HUP TERM; exec sleep 1000) & echo pid:$!.").key("Enter")
        pid = int(scr.wait_for(re.compile(r"pid:(\d+)\."))[1])
        with Screen(["true"]):
            pass
        scr.signal(signal.SIGKILL)
        scr.stop()
        scr.stop()
        os.kill(pid, signal.SIGKILL)  # a job of its own group, from an interactive shell

    def test_no_such_program(self):
        scr = self.screen(["/nonexistent/program"])
        self.assertEqual(scr.wait_exit(), 127)


class VTermTest(Case):
    def feed(self, *chunks, rows=3, cols=10):
        vt = VTerm(rows, cols)
        self.addCleanup(vt.free)
        for c in chunks:
            vt.feed(c)
        return vt

    def test_cut_anywhere(self):
        data = "\x1b[1;31mé你\x1b]2;t\x1b\\z\x1b(B".encode()
        vt = self.feed(*(data[i:i + 1] for i in range(len(data))))
        self.assertEqual((vt.row(0), vt.title, vt.cell(0, 0).fg), ("é你z", "t", 1))

    def test_repeat(self):
        self.assertEqual(self.feed(b"ab\x1b[3bc").row(0), "abbbbc")
        self.assertEqual(self.feed("x你\x1b[99b".encode(), rows=2, cols=4).rows, 2)
        self.assertEqual(self.feed(b"x\x1b[1m\x1b[2b").row(0), "xxx")

    def test_hostile(self):
        vt = self.feed("\x85\x9b\x1bH".encode(), b"\xff\xfe\xc3")
        vt.feed(b"\x1b[3g\x1b[2;3r\x1b[3;10H\x1b7")
        vt.resize(1, 2)
        vt.feed(b"\x1b8\n\n\x1b[S\x1b[9999;9999Hx")
        vt.resize(5, 5)
        vt.feed(b"\x1b8y")
        self.assertEqual(len(vt.row_cells(4)), 5)


class ProcsTest(Case):
    def test_process(self):
        port = free_port()
        server = Process([sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(port)],
                         cwd=self.tmp, ready=lambda: http_ok(f"http://127.0.0.1:{port}/"))
        self.assertTrue(server.alive)
        self.assertIn("GET /", server.log())
        server.stop()
        server.stop()
        self.assertFalse(http_ok(f"http://127.0.0.1:{port}/"))

    def test_not_ready(self):
        with self.assertRaisesRegex(RuntimeError, "ended with 3:\nwhy"):
            Process(["sh", "-c", "echo why; exit 3"], ready=lambda: False)
        with self.assertRaisesRegex(RuntimeError, "did not get ready"):
            Process(["sleep", "100"], ready=lambda: False, timeout=0.1)

    def test_dies_with_its_test(self):
        self.left_behind(os.environ["PATH"])

    def test_dies_with_its_test_that_dies_first(self):
        slow = self.tmp / "setpriv"  # asks for the signal when its parent is long gone
        slow.write_text(f'#!/bin/sh\nsleep 0.5\nexec {shutil.which("setpriv")} "$@"\n')
        slow.chmod(0o755)
        self.left_behind(f"{self.tmp}:{os.environ['PATH']}")

    def left_behind(self, path):
        code = ("import os; from harness import Process; p = Process(['sleep', '1000']);"
                "print(p.pid, flush=True); os._exit(0)")
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                             env={**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join(sys.path)}).stdout
        end = time.monotonic() + 10
        while self.state(int(out)) not in (None, "Z"):
            self.assertLess(time.monotonic(), end, "still running")
            time.sleep(0.02)

    @staticmethod
    def state(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
        except FileNotFoundError:
            return None

    def test_sandboxd(self):
        for host in (None, "127.0.0.1"):
            with self.subTest(listen_host=host):
                server = self.sandboxd(host, env={"SANDBOX_ID": "s1"})
                (server.root / "a.txt").write_text("hi")
                with urllib.request.urlopen(server.rest_url + "/v1/files/a.txt") as r:
                    self.assertEqual(r.read(), b"hi")
                with urllib.request.urlopen(server.rest_url + "/v1/metadata") as r:
                    self.assertIn(b"s1", r.read())
                server.stop()
                self.assertFalse(server.root.exists())


class CaseTest(Case):
    def outcome(self, body, ci):
        f = self.tmp / "t.py"
        f.write_text("from harness import Case, main\nclass T(Case):\n" + body + "\nmain()\n")
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "CI": ci}
        r = subprocess.run([sys.executable, str(f)], capture_output=True, text=True, env=env)
        return r.stdout.splitlines()[-1], r.returncode

    def test_counts(self):
        body = "".join(f"  def test_{n}(self): {code}\n" for n, code in enumerate(
            ("pass", "self.need(False, 'why')", "self.fail()", "1/0", "self.need(True, '')")))
        self.assertEqual(self.outcome(body, "false"), ("2 passed, 2 failed, 1 skipped", 1))
        self.assertEqual(self.outcome(body, "true"), ("2 passed, 3 failed, 0 skipped", 1))

    def test_nothing_ran(self):
        self.assertEqual(self.outcome("  pass", "false"), ("0 passed, 0 failed, 0 skipped", 1))

    def test_skip_alone_is_fine(self):
        self.assertEqual(self.outcome("  def test_a(self): self.need(0, 'why')", "false"), ("0 passed, 0 failed, 1 skipped", 0))


if __name__ == "__main__":
    main()
