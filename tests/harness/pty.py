# SPDX-License-Identifier: Apache-2.0
"""A program on a pty that stays open behind it: what it wrote, byte by byte, and the modes that it left."""
import fcntl
import os
import signal
import subprocess
import termios
import threading
import time

from .screen import terminal_env


class Pty:
    """A program whose controlling terminal is a pty that stays open behind it."""

    def __init__(self, argv, env=None, cwd=None, ignore=(), **kw):
        self.master, self.slave = os.openpty()
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, b"\x18\x00\x50\x00\x00\x00\x00\x00")
        self.before = termios.tcgetattr(self.slave)

        def become():
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            for s in ignore:
                signal.signal(s, signal.SIG_IGN)
        self.proc = subprocess.Popen([str(a) for a in argv], cwd=cwd, env={**terminal_env(), **(env or {})}, preexec_fn=become,
                                     **{"stdin": self.slave, "stdout": self.slave, "stderr": self.slave, **kw})
        self.raw = b""
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        while True:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            if not data:
                return
            self.raw += data

    def wait_for(self, condition, timeout=40):
        end = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > end or self.proc.poll() is not None:
                raise AssertionError(f"never came; status {self.proc.poll()}: {self.raw[-2000:]!r}")
            time.sleep(0.01)

    def ends(self, timeout=30) -> int:
        status = self.proc.wait(timeout)
        # all that was written before the end is there once this is
        os.write(self.slave, b"<over>")
        end = time.monotonic() + 10
        while b"<over>" not in self.raw and time.monotonic() < end:
            time.sleep(0.01)
        return status

    def close(self):
        if self.proc.poll() is None:
            self.proc.kill()
            self.proc.wait()
        os.close(self.slave)
        self.thread.join(5)
        os.close(self.master)
