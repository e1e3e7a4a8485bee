# SPDX-License-Identifier: Apache-2.0
"""A program on a pty, seen as a person sees it.

    with Screen(["bash", "--norc"], rows=24, cols=80) as scr:
        scr.type("echo hi").key("Enter")
        scr.wait_for("hi")

A thread reads the pty all the time and feeds libvterm, which also answers the
program's questions as a terminal does. A frame that a program draws in synchronized
output (DECSET 2026) shows only when it is whole, as in a terminal that knows it: what
stands on the screen was drawn together. Waiting is for a state, never for time.
Rows and columns count from 0.
"""
import difflib
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from pathlib import Path

from .vterm import ALT, CTRL, KEYS, SHIFT, VTerm, find_column

TIMEOUT = float(os.environ.get("SANDMUX_TEST_TIMEOUT", "60"))
GOLDEN = Path(__file__).resolve().parent.parent / "golden"
_ALIASES = {"Esc": "Escape", "BSpace": "Backspace", "BackTab": "S-Tab", "PgUp": "PageUp", "PgDn": "PageDown",
            "Ins": "Insert", "Del": "Delete", "Return": "Enter"}
_FRAME, _FRAME_END = b"\x1b[?2026h", b"\x1b[?2026l"
_BUTTONS = {"left": 1, "middle": 2, "right": 3, "up": 4, "down": 5}


def terminal_env(term: str = "xterm-256color", **more) -> dict:
    """The environment without what a terminal or a user's taste has put into it."""
    drop = ("COLORTERM", "NO_COLOR", "TMUX", "STY", "LINES", "COLUMNS", "LC_ALL", "LANGUAGE", "TERM_PROGRAM")
    env = {k: v for k, v in os.environ.items() if k not in drop and not k.startswith("LC_")}
    env.update(TERM=term, LANG="C.UTF-8", **more)
    return env


class Screen:
    def __init__(self, argv, rows=24, cols=80, term="xterm-256color", env=None, cwd=None):
        """env, if given, is added to terminal_env(); a value None removes the name."""
        full = terminal_env(term)
        for k, v in (env or {}).items():
            full.pop(k, None)
            if v is not None:
                full[k] = v
        self.argv = [str(a) for a in argv]
        self._raw, self._frame = bytearray(), bytearray()
        self._changed = threading.Condition(threading.RLock())
        self._out = b""
        self._paused = self._eof = self._closing = False
        self._changes, self._last_change = 0, time.monotonic()
        self._vt = VTerm(rows, cols, self._queue)
        self._fd, slave = os.openpty()
        try:
            self._winsize(rows, cols)
            # setsid -c makes the pty the controlling terminal and becomes the program.
            self.proc = subprocess.Popen(["setsid", "-c", *self.argv], stdin=slave, stdout=slave, stderr=slave,
                                         env=full, cwd=cwd, close_fds=True)
        except BaseException:
            os.close(self._fd)
            raise
        finally:
            os.close(slave)
        self.pid = self.proc.pid
        os.set_blocking(self._fd, False)
        self._wake_r, self._wake_w = os.pipe()
        self._thread = threading.Thread(target=self._pump, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    # --- the pump ---------------------------------------------------------
    def _pump(self):
        poll = select.poll()
        poll.register(self._wake_r, select.POLLIN)
        while not self._closing:
            with self._changed:
                mask = (0 if self._paused else select.POLLIN) | (select.POLLOUT if self._out else 0)
            poll.register(self._fd, mask)
            for fd, ev in poll.poll():
                if fd == self._wake_r:
                    os.read(self._wake_r, 4096)
                elif ev & select.POLLOUT and self._out:
                    with self._changed:
                        try:
                            self._out = self._out[os.write(self._fd, self._out):]
                        except BlockingIOError:
                            pass
                        except OSError:
                            self._out = b""
                elif not self._paused or ev & (select.POLLERR | select.POLLHUP):
                    if not self._read():
                        self._closing = True
        with self._changed:
            self._eof = True
            self._changes += 1
            os.close(self._fd)
            self._changed.notify_all()

    def _read(self) -> bool:
        data, more = bytearray(), True
        while len(data) < 262144:  # the kernel gives 4 KiB at a time
            try:
                data += os.read(self._fd, 65536)
            except BlockingIOError:
                break
            except OSError:  # EIO: the program has closed its side
                more = False
                break
        with self._changed:
            self._raw += data
            self._vt.feed(self._whole_frames(data, more))
            self._changes += 1
            self._last_change = time.monotonic()
            self._changed.notify_all()
        return more

    def _whole_frames(self, data, more: bool) -> bytes:
        """What may be shown of all that came: not the frame that has only begun, while its end can still come."""
        self._frame += data
        shown = self._frame.rfind(_FRAME)
        if shown < 0 or self._frame.find(_FRAME_END, shown) >= 0:
            part = next(n for n in range(len(_FRAME) - 1, -1, -1) if self._frame.endswith(_FRAME[:n]))
            shown = len(self._frame) - part  # a mark may have come in part
        if not more:
            shown = len(self._frame)
        whole = bytes(self._frame[:shown])
        del self._frame[:shown]
        return whole

    def _kick(self):
        try:
            os.write(self._wake_w, b"x")
        except OSError:
            pass

    def _queue(self, data: bytes):
        with self._changed:
            self._out += data
        if threading.current_thread() is not self._thread:
            self._kick()

    def _winsize(self, rows, cols):
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    @property
    def raw(self) -> bytes:
        """Everything that the program has written to its terminal."""
        with self._changed:
            return bytes(self._raw)

    # --- what is on the screen ---------------------------------------------
    @property
    def rows(self):
        return self._vt.rows

    @property
    def cols(self):
        return self._vt.cols

    def row(self, n: int) -> str:
        with self._changed:
            return self._vt.row(n % self._vt.rows)

    def lines(self):
        with self._changed:
            return self._vt.lines()

    def text(self) -> str:
        return "\n".join(self.lines())

    def cell(self, row: int, col: int):
        with self._changed:
            return self._vt.cell(row, col)

    def find(self, text: str):
        """(row, column) of the first place where text stands, or None."""
        with self._changed:
            for n in range(self._vt.rows):
                if text in self._vt.row(n) or text.endswith(" "):
                    col = find_column(self._vt.row_cells(n), text)
                    if col is not None:
                        return n, col
        return None

    @property
    def cursor(self):
        with self._changed:
            return self._vt.cursor

    @property
    def cursor_visible(self) -> bool:
        return self._vt.cursor_visible

    @property
    def altscreen(self) -> bool:
        return self._vt.altscreen

    @property
    def mouse_mode(self) -> int:
        """0 none, 1 clicks, 2 and drags, 3 and every move."""
        return self._vt.mouse_mode

    @property
    def title(self) -> str:
        return self._vt.title

    @property
    def bells(self) -> int:
        return self._vt.bells

    # --- waiting ------------------------------------------------------------
    def wait_for(self, what, timeout: float = None):
        """Waits until what is true of the screen: a text that stands on it, a compiled
        regular expression found in text(), or a callable that gets this Screen. Returns
        the truth found."""
        if callable(what):
            check = lambda: what(self)
        elif isinstance(what, re.Pattern):
            check = lambda: what.search(self.text())
        else:
            check = lambda: what in self.text()
        return self._wait(check, timeout, what)

    def wait_gone(self, text: str, timeout: float = None):
        self._wait(lambda: text not in self.text(), timeout, f"no more {text!r}")
        return self

    def wait_idle(self, quiet: float = 0.3, timeout: float = None):
        """Waits until the program has written nothing for `quiet` seconds. Only for
        pictures; a test that knows what it waits for says that."""
        self._wait(lambda: self._eof or time.monotonic() - self._last_change >= quiet, timeout, "quiet", step=quiet / 4)
        return self

    def _wait(self, check, timeout, what, step=0.25):
        end = time.monotonic() + (TIMEOUT if timeout is None else timeout)
        while True:
            with self._changed:
                seen, eof = self._changes, self._eof
            found = check()  # without the lock: it may do slow things
            if found:
                return found
            left = end - time.monotonic()
            if left <= 0 or eof and not callable(what):
                what = what if isinstance(what, str) else repr(what)
                raise AssertionError(self.dump(f"waited for {what}"))
            with self._changed:
                if self._changes == seen:
                    # A callable may look at other things than the screen, hence the step.
                    self._changed.wait(min(left, step))

    def wait_exit(self, timeout: float = None) -> int:
        """Waits for the end of the program; its status, negative when a signal ended it."""
        try:
            rc = self.proc.wait(TIMEOUT if timeout is None else timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(self.dump("waited for the program's end")) from None
        self._thread.join(2)  # what it wrote last
        return rc

    @property
    def alive(self) -> bool:
        return self.proc.poll() is None

    def dump(self, why="") -> str:
        rc = self.proc.poll()
        state = "running" if rc is None else f"ended with {rc}"
        with self._changed:
            bar = "+" + "-" * self._vt.cols + "+"
            out = [f"{why}; {' '.join(self.argv)} is {state}; cursor {self._vt.cursor}", bar]
            out += ["|" + line for line in self.lines()] + [bar]
            if rc is not None or not self.text().strip():
                out.append(f"last bytes: {self.raw[-400:]!r}")
        return "\n".join(out)

    def golden(self, name: str, masks=(), timeout: float = None):
        """Compares the screen with tests/golden/NAME.txt, waiting until it is so. masks are
        (regular expression, replacement) pairs for what differs from run to run. With
        SANDMUX_GOLDEN=write the file is written instead, once the screen is quiet."""
        path = GOLDEN / (name + ".txt")

        def shown():
            text = self.text()
            for pattern, to in masks:
                text = re.sub(pattern, to, text)
            return "".join(line.rstrip() + "\n" for line in text.split("\n"))

        if os.environ.get("SANDMUX_GOLDEN") == "write":
            self.wait_idle()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(shown(), encoding="utf-8")
            return self
        if not path.exists():
            raise AssertionError(self.dump(f"{path} is missing; SANDMUX_GOLDEN=write makes it"))
        want = path.read_text(encoding="utf-8")
        try:
            self._wait(lambda: shown() == want, timeout, name)
        except AssertionError as e:
            diff = "\n".join(difflib.unified_diff(want.split("\n"), shown().split("\n"), str(path), "screen", lineterm=""))
            raise AssertionError(f"{e}\n{diff}") from None
        return self

    # --- hands --------------------------------------------------------------
    def send(self, data: bytes):
        self._queue(data)
        return self

    def type(self, text: str):
        return self.send(text.encode())

    def paste(self, text: str):
        """Pastes as a terminal does: in brackets if the program asked for them."""
        with self._changed:
            self._vt.paste(text)
        return self

    def key(self, *names: str):
        """Presses keys: "a", "Enter", "Up", "F5", "C-c", "M-x", "S-Tab", "C-S-Left" … in the
        bytes of the mode that the program has set."""
        for name in names:
            mods, rest = 0, _ALIASES.get(name, name)
            while len(rest) > 2 and rest[1] == "-" and rest[0] in "CMS":
                mods |= {"C": CTRL, "M": ALT, "S": SHIFT}[rest[0]]
                rest = _ALIASES.get(rest[2:], rest[2:])
            rest = " " if rest == "Space" else rest
            if rest in KEYS:
                with self._changed:
                    self._vt.key(rest, mods)
            elif len(rest) == 1:
                c = rest.upper() if mods & SHIFT else rest
                data = bytes([ord(c.upper()) & 0x1F]) if mods & CTRL else c.encode()
                self.send(b"\x1b" + data if mods & ALT else data)
            else:
                raise ValueError(f"no key {name!r}")
        return self

    def mouse(self, action: str, button: str, row: int, col: int, mods: str = ""):
        """action: press, release, click, drag (to there, button held), move, wheel (button
        "up" or "down"). mods: letters of "CMS". The program must have asked for it."""
        m = sum({"C": CTRL, "M": ALT, "S": SHIFT}[c] for c in mods)
        with self._changed:
            need = {"drag": 2, "move": 3}.get(action, 1)
            if self._vt.mouse_mode < need:
                raise AssertionError(self.dump(f"mouse {action}: the program has not asked for it"))
            self._vt.mouse_move(row, col, m)
            if action in ("press", "wheel", "click"):
                self._vt.mouse_button(_BUTTONS[button], True, m)
            if action in ("release", "click"):
                self._vt.mouse_button(_BUTTONS[button], False, m)
        return self

    def resize(self, rows: int, cols: int):
        with self._changed:
            self._vt.resize(rows, cols)
            if not self._eof:
                self._winsize(rows, cols)
        return self

    def pause(self):
        """Stops reading: a terminal that hangs."""
        self._paused = True
        self._kick()
        return self

    def resume(self):
        self._paused = False
        self._kick()
        return self

    def signal(self, sig: int):
        os.kill(self.pid, sig)
        return self

    def close_tty(self):
        """The terminal goes away (window closed, connection lost): SIGHUP for the program."""
        self._closing = True
        self._kick()
        self._thread.join(5)
        return self

    def stop(self):
        """Ends everything. Safe to call again."""
        if self._vt is None:
            return
        self.close_tty()
        for sig, wait in ((signal.SIGTERM, 3), (signal.SIGKILL, 5)):
            try:
                self.proc.wait(0.5 if sig == signal.SIGTERM else 0)
            except subprocess.TimeoutExpired:
                pass
            try:
                os.killpg(self.pid, sig)
                self.proc.wait(wait)
            except (ProcessLookupError, PermissionError):
                break
            except subprocess.TimeoutExpired:
                continue
        self.proc.wait()
        os.close(self._wake_r)
        os.close(self._wake_w)
        with self._changed:
            self._vt.free()
            self._vt = None
