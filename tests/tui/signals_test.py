# SPDX-License-Identifier: Apache-2.0
"""Every signal that ends a process, sent to every kind of verb on a terminal: the terminal is as it was (its modes, and what
was switched on in it), no temporary file and no claim is left, nothing goes on in the sandbox, and the status is true."""
import concurrent.futures
import os
import re
import signal
import subprocess
import termios
import time
from pathlib import Path

from harness import BIN, Case, Process, free_port, main
from harness.faults import FaultProxy
from harness.procs import http_ok
from harness.pty import Pty
from harness.sandmux import home_env
from harness.scripted_api import ScriptedApi, sandbox

CRASHES = ["SEGV", "BUS", "ILL", "FPE", "ABRT", "SYS", "TRAP"]
ORDERLY = ["HUP", "INT", "QUIT", "TERM", "PIPE", "ALRM", "USR1", "USR2", "VTALRM", "PROF", "IO", "PWR", "XCPU", "XFSZ", "STKFLT",
           "RTMIN", "RTMAX"]
# what a program in the sandbox switches on: alternate screen, mouse, focus, paste, cursor, keyboard (three ways), colours …
MODES = (r"\033[?1049h\033[?1000;1002h\033[?1003h\033[?1006h\033[?1004h\033[?2004h\033[?25l\033[>1u\033[>4;2m\033[?1h\033=\033[3 q"
         r"\033[?7l\033[2;5r\033(0\033[4h\033[31m")
# a sanitizer would turn these signals into its own report and status
NO_SANITIZER = {"ASAN_OPTIONS": ":".join(f"handle_{s}=0" for s in ("segv", "sigbus", "abort", "sigill", "sigfpe"))}


def number(name: str) -> int:
    return {"STKFLT": 16}.get(name) or int(getattr(signal, "SIG" + name))


def left_on(raw: bytes) -> set:
    """What is on in a terminal that was written these bytes; the words are those of xterm."""
    on, pushes = set(), 0
    for m in re.finditer(rb"\x1b\[([?><=!]?)([\d;]*)( ?[A-Za-z])|\x1b([=>]|\(.)|([\x0e\x0f])", raw):
        kind, args, last, single, shift = (g.decode() if g else "" for g in m.groups())
        for mode in args.split(";") if kind == "?" and last in "hl" else ():
            default = mode in ("7", "25")
            (on.discard if (last == "h") == default else on.add)(f"?{mode}")
        if last == "u":
            pushes += {">": 1, "<": -int(args or 1)}.get(kind, 0)
        if (kind, last) == (">", "m") and args[:1] == "4":
            (on.add if args[2:3] not in ("", "0") else on.discard)("modifyOtherKeys")
        if (kind, last, args) in (("", "h", "4"), ("", "l", "4")):
            (on.add if last == "h" else on.discard)("insert")
        if (kind, last) == ("", "m"):
            (on.add if args not in ("", "0") else on.discard)("colour")
        if (kind, last) == ("", "r"):
            (on.add if args else on.discard)("margins")
        if last == " q":
            (on.add if args not in ("", "0") else on.discard)("cursor shape")
        if single in "=>" and single:
            (on.add if single == "=" else on.discard)("keypad")
        if single.startswith("(") or shift:
            (on.add if single == "(0" or shift == "\x0e" else on.discard)("lines")
    return on | ({"kitty keyboard"} if pushes else set())


class SignalCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.api = ScriptedApi(1)
        cls.api.creates = True

    @classmethod
    def tearDownClass(cls):
        cls.api.stop()

    def setUp(self):
        self.env = {**home_env(self.tmp), **NO_SANITIZER}
        self.kubeconfig = ["--kubeconfig", self.api.kubeconfig(self.tmp / "kubeconfig")]

    def box(self):
        self.addCleanup(self.sandmux, "local", "reset", "--yes", timeout=60)
        self.sandmux("--local", "create", "box", timeout=60, check=0)

    def pty(self, *argv, **kw):
        p = Pty([BIN, *argv], env=self.env, **kw)
        self.addCleanup(p.close)
        return p

    def check_each(self, name, start, after=lambda p, n: None, signals=ORDERLY + CRASHES):
        """start(n) → a Pty that is at work; after(it, n) looks at what else is left."""
        def row(sig):
            n = number(sig)
            p = start(n)
            try:
                p.proc.send_signal(n)
                status = p.ends()
                assert status == (-n if sig in CRASHES else 128 + n), f"status {status}: {p.raw[-600:]!r}"
                assert termios.tcgetattr(p.slave) == p.before, "the modes of the terminal are others"
                assert left_on(p.raw) == set(), f"still on: {left_on(p.raw)}; {p.raw[-300:]!r}"
                after(p, n)
            finally:
                p.close()
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            rows = {sig: pool.submit(row, sig) for sig in signals}
        for sig, result in rows.items():
            with self.subTest(program=name, signal=sig):
                result.result()

    def wait_until_gone(self, pattern):
        """No process of the sandbox has it in its command line."""
        end = time.monotonic() + 20
        look = "for f in /proc/[0-9]*/cmdline; do tr '\\0' '.' <$f; echo; done 2>/dev/null"
        while True:
            lines = self.sandmux("--local", "run", "box", "--", "sh", "-c", look, check=0).out.splitlines()
            lines = [line for line in lines if line.startswith(pattern)]
            if not lines:
                return
            self.assertLess(time.monotonic(), end, lines)


class Table(SignalCase):
    def test_dashboard(self):
        def start(n):
            p = Pty([BIN, *self.kubeconfig], env=self.env)
            p.wait_for(lambda: b"claim-00000" in p.raw and b"?1006h" in p.raw)
            self.assertLess({"?1049", "?1006", "?2004"}, left_on(p.raw))
            self.assertNotEqual(termios.tcgetattr(p.slave), p.before)
            return p
        self.check_each("dashboard", start)

    def test_ls_w(self):
        def start(n):
            p = Pty([BIN, *self.kubeconfig, "ls", "-w"], env=self.env)
            p.wait_for(lambda: b"claim-00000" in p.raw)
            return p
        self.check_each("ls -w", start)

    def test_create(self):
        def start(n):
            p = Pty([BIN, *self.kubeconfig, "create", "--pool", "pool", "--label", f"signal=s{n}"], env=self.env)
            p.wait_for(lambda: mine(n))
            return p

        def mine(n):
            return [name for name, o in list(self.api.created.items()) if o["metadata"].get("labels", {}).get("signal") == f"s{n}"]
        def nothing_left(p, n):
            self.assertEqual(mine(n), [])
            self.assertIn(b"the create was cancelled; nothing is left of it", p.raw)
        self.check_each("create", start, nothing_left, ORDERLY)
        # a crash cannot take anything back, but the terminal is as it was
        self.check_each("create", start, signals=CRASHES)

    def test_run_and_sh(self):
        self.box()
        programs = {"run": ["run"], "run -t": ["run", "-t"], "sh": ["sh"]}
        for name, verb in programs.items():
            has_terminal = name != "run"
            script = (f"printf '{MODES}'; " if has_terminal else "") + "echo re''ady; exec sleep 77"

            def start(n):
                p = Pty([BIN, "--local", *verb, "box", "--", "sh", "-c", script + f"{n:02d}"], env=self.env)
                p.wait_for(lambda: b"ready" in p.raw)
                if has_terminal:
                    p.wait_for(lambda: len(left_on(p.raw)) >= 15)
                    self.assertNotEqual(termios.tcgetattr(p.slave), p.before)
                return p
            self.check_each(name, start)
        self.wait_until_gone("sleep.77")

    def test_cp(self):
        """On a daemon that says a little now and then: room for the whole file is taken at once, so it is not large."""
        root = self.tmp / "root"
        root.mkdir()
        with open(root / "big", "wb") as f:
            f.truncate(32 << 20)
        rest, grpc = free_port(), free_port()
        daemon = Process([Path(BIN).parent / "sandmux-sandboxd", f"--root-dir={root}", f"--rest-port={rest}", f"--grpc-port={grpc}"],
                         ready=lambda: http_ok(f"http://127.0.0.1:{rest}/v1/health"))
        self.addCleanup(daemon.stop)
        slow = FaultProxy(f"http://127.0.0.1:{rest}")
        self.addCleanup(slow.stop)
        slow.drip(100_000)
        where = ["--rest", slow.url, "--grpc", f"127.0.0.1:{grpc}"]
        folders = {}

        def start(n):
            folder = folders[n] = self.tmp / f"cp{n}"
            folder.mkdir()
            p = Pty([BIN, *where, "cp", ":big", folder / "big"], env=self.env)
            p.wait_for(lambda: list(folder.iterdir()))
            return p
        self.check_each("cp", start, lambda p, n: self.assertEqual(list(folders[n].iterdir()), []))

    def test_cp_into_a_sandbox(self):
        self.box()

        def start(n):
            p = Pty([BIN, "--local", "cp", "-", f"box:up{n}"], env=self.env, stdin=subprocess.PIPE)
            p.proc.stdin.write(b"x" * 300000)
            p.proc.stdin.flush()
            return p
        self.check_each("cp -", start, signals=["HUP", "TERM", "USR1", "SEGV"])
        end = time.monotonic() + 20
        while True:
            names = self.sandmux("--local", "run", "box", "--", "ls", "-A", check=0).out.split()
            if not [n for n in names if "tmp" in n or n.startswith("up")]:
                break
            self.assertLess(time.monotonic(), end, names)


class Ends(SignalCase):
    """The corners of the table."""

    def test_the_second_signal_ends_it_at_once(self):
        api = ScriptedApi(0)
        self.addCleanup(api.stop)
        api.creates = api.hangs_on_delete = True
        p = self.pty("--kubeconfig", api.kubeconfig(self.tmp / "hangs"), "create", "--pool", "pool")
        p.wait_for(lambda: api.created)
        p.proc.send_signal(signal.SIGTERM)
        p.wait_for(lambda: any(r.startswith("DELETE") for r in api.requests))
        p.proc.send_signal(signal.SIGTERM)
        self.assertEqual(p.ends(), -signal.SIGTERM)  # and not after the minute that the server takes

    def test_a_closed_window_says_it_twice(self):
        """The kernel and the shell each send SIGHUP: the second one must not keep the claim from being taken back."""
        p = self.pty(*self.kubeconfig, "create", "--pool", "pool", "--label", "twice=yes")
        p.wait_for(lambda: any("twice" in o["metadata"].get("labels", {}) for o in list(self.api.created.values())))
        p.proc.send_signal(signal.SIGHUP)
        p.proc.send_signal(signal.SIGHUP)
        self.assertEqual(p.ends(), 129)
        self.assertFalse(any("twice" in o["metadata"].get("labels", {}) for o in self.api.created.values()))

    def test_what_was_ignored_stays_ignored(self):
        ignored = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1]
        p = self.pty(*self.kubeconfig, "ls", "-w", ignore=ignored)
        p.wait_for(lambda: b"claim-00000" in p.raw)
        for s in ignored:
            p.proc.send_signal(s)
        self.api.emit("sandboxes", "MODIFIED", sandbox(0, 0, ready=False))
        p.wait_for(lambda: b"Creating" in p.raw or b"Degraded" in p.raw)
        p.proc.send_signal(signal.SIGTERM)
        self.assertEqual(p.ends(), 143)

    def test_a_create_of_the_dashboard_is_taken_back(self):
        before = len(self.api.created)
        p = self.pty(*self.kubeconfig)
        p.wait_for(lambda: b"claim-00000" in p.raw)
        os.write(p.master, b":create pool\r")
        p.wait_for(lambda: len(self.api.created) > before)
        p.proc.send_signal(signal.SIGTERM)
        self.assertEqual(p.ends(), 143)
        self.assertEqual(len(self.api.created), before)

    def test_no_orphans_in_the_sandbox(self):
        self.box()
        for sig in ("TERM", "HUP", "USR1"):
            p = self.pty("--local", "run", "box", "--", "sh", "-c", "trap '' TERM; (sleep 7790 & exec sleep 7791) & sleep 7792 & echo re''ady; wait",
                         stdin=subprocess.DEVNULL)
            p.wait_for(lambda: b"ready" in p.raw)
            p.proc.send_signal(number(sig))
            self.assertEqual(p.ends(), 128 + number(sig))
            self.wait_until_gone("sleep.779")

    def test_a_reader_that_stands_still_keeps_nobody(self):
        self.box()
        p = self.pty("--local", "--set", "kill-grace=200ms", "run", "box", "--", "sh", "-c", "trap '' TERM; yes", stdout=subprocess.PIPE,
                     stdin=subprocess.DEVNULL)
        self.assertTrue(p.proc.stdout.read(2))
        wchan = Path(f"/proc/{p.proc.pid}/wchan")
        p.wait_for(lambda: "pipe" in wchan.read_text())  # asleep in its write
        p.proc.send_signal(signal.SIGTERM)
        self.assertEqual(p.ends(), 143)
        p.proc.stdout.close()

    def test_the_terminal_of_a_program_that_ends_itself(self):
        self.box()
        p = self.pty("--local", "sh", "box", "--", "sh", "-c", f"printf '{MODES}'; exit 3")
        self.assertEqual(p.ends(), 3)
        self.assertEqual((termios.tcgetattr(p.slave), left_on(p.raw)), (p.before, set()))

    def test_nothing_is_switched_off_that_was_not_on(self):
        self.box()
        p = self.pty("--local", "sh", "box", "--", "sh", "-c", "printf 'a\\033[?1049hb\\033[?1049l\\033[31mc\\033[0m'; exit 3")
        self.assertEqual(p.ends(), 3)
        self.assertIn(b"c\x1b[0m<over>", p.raw)

    def test_the_check_of_the_terminal(self):
        """doctor asks the terminal before anything else runs."""
        def start(n):
            p = Pty([BIN, *self.kubeconfig, "doctor"], env=self.env)
            p.wait_for(lambda: b"\x1b[c" in p.raw)
            return p
        self.check_each("doctor", start, signals=[])
        for sig in ("TERM", "HUP", "SEGV", "USR1"):
            p = start(number(sig))
            self.addCleanup(p.close)
            p.proc.send_signal(number(sig))
            self.assertEqual(p.ends(), -number(sig))
            self.assertEqual(termios.tcgetattr(p.slave), p.before)


main()
