# SPDX-License-Identifier: Apache-2.0
"""A thin base over unittest. On CI (CI=true) a skip is a failure. The last line that
main() prints is `N passed, N failed, N skipped`."""
import contextlib
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import unittest
from pathlib import Path

from .bed import bed_path
from .procs import RealSandboxd
from .sandmux import BIN, home_env, run
from .screen import Screen

CI = os.environ.get("CI") == "true"


def wordless_folder(prefix: str) -> Path:
    """A new folder whose random name holds nothing that a test looks for on a screen that shows it: one was called
    …ic_h6f1r, and the file f1 was counted once too often."""
    while True:
        path = Path(tempfile.gettempdir()) / (prefix + "".join(random.choices("QXZ", k=8)))
        with contextlib.suppress(FileExistsError):
            path.mkdir(0o700)
            return path


class Case(unittest.TestCase):
    maxDiff = None

    def need(self, condition, why: str):
        """Skips the test unless condition is true."""
        if not condition:
            self.skipTest(why)

    def need_bed(self, *names: str):
        for name in names:
            self.need(bed_path(name), f"{name} is not built: tests/bed/build.sh {name}")

    @property
    def tmp(self) -> Path:
        """A directory for this test alone, removed after it."""
        if not hasattr(self, "_tmp"):
            self._tmp = wordless_folder("sandmux-test-")
            self.addCleanup(shutil.rmtree, self._tmp, ignore_errors=True)
        return self._tmp

    def sandboxd(self, listen_host=None, **kw) -> RealSandboxd:
        self.need_bed("sandboxd-listen" if listen_host else "sandboxd")
        server = RealSandboxd(listen_host, **kw)
        self.addCleanup(server.stop)
        return server

    def screen(self, argv, **kw) -> Screen:
        scr = Screen(argv, **kw)
        self.addCleanup(scr.stop)
        return scr

    def sandmux(self, *args, env=None, **kw):
        """Runs sandmux with a home of this test's own (harness.sandmux.run)."""
        return run(*args, env={**home_env(self.tmp), **(env or {})}, **kw)

    @staticmethod
    def question(scr) -> str:
        """The box of the question that nobody asked for, or ""."""
        lines = scr.lines()
        for n, line in enumerate(lines):
            words = re.search(r" a answers|esc closes it|arrows and enter answer|a moment …", line)
            start = max(line.rfind(c, 0, words.start()) for c in "└╰") if words else -1
            if start < 0:
                continue
            top = next((m for m in range(n, -1, -1) if lines[m][start:start + 1] in ("┌", "╭")), 0)
            end = re.compile("[┘╯]|$").search(line, words.end()).start()
            return "\n".join(text[start:end] for text in lines[top:n + 1])
        return ""

    def answer(self, scr, button: str):
        """Presses a button of that question: turns to it where it has not got the keyboard, walks to the button, Enter; until
        it is gone, or the next one stands there."""
        if not re.search("arrows and enter answer|a moment …", scr.wait_for(self.question)):
            scr.key("C-]").type("a")
        scr.wait_for(lambda s: "arrows and enter answer" in self.question(s))
        def focused(s):
            found = re.search(r"\[ ([^\]]{2,}) \]", self.question(s))
            return found.group(1) if found else "a field"
        for _ in range(12):
            now = focused(scr)
            if now == button:
                break
            scr.key("Tab")
            scr.wait_for(lambda s: focused(s) != now)
        asked = self.question(scr)
        scr.key("Enter")
        scr.wait_for(lambda s: self.question(s) != asked)
        return scr

    def sandmux_screen(self, *args, env=None, **kw) -> Screen:
        return self.screen([BIN, *args], env={**home_env(self.tmp), **(env or {})}, **kw)


class _Result(unittest.TextTestResult):
    def __init__(self, *args, **kw):
        super().__init__(*args, **kw)
        self.bad, self.ran = set(), set()

    def startTest(self, test):
        super().startTest(test)
        self.ran.add(test.id())

    def _failed(self, test):
        self.bad.add(test.id())

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._failed(test)

    def addError(self, test, err):
        super().addError(test, err)
        self._failed(test)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self._failed(test)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self._failed(test)

    def addSkip(self, test, reason):
        if CI:
            self.addFailure(test, (AssertionError, AssertionError(f"skipped on CI: {reason}"), None))
        else:
            super().addSkip(test, reason)


def main(module="__main__"):
    """Runs the tests of a module (arguments: test names, -k, -v) and exits."""
    # what a shell leaves in the background has these ignored, and so would every program that is started here
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    program = unittest.main(module=module, exit=False,
                            testRunner=unittest.TextTestRunner(resultclass=_Result, stream=sys.stderr, verbosity=2))
    r = program.result
    skipped = {t.id() for t, _ in r.skipped} - r.bad
    failed, passed = len(r.bad), len(r.ran - r.bad - skipped)
    sys.stderr.flush()
    print(f"{passed} passed, {failed} failed, {len(skipped)} skipped", flush=True)
    sys.exit(1 if failed or not r.ran else 0)
