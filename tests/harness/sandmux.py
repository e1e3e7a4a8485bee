# SPDX-License-Identifier: Apache-2.0
"""The built program: SANDMUX_BIN, or the debug build of this tree."""
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from .screen import TIMEOUT, Screen, terminal_env

REPO = Path(__file__).resolve().parent.parent.parent
BIN = os.environ.get("SANDMUX_BIN") or str(REPO / "build/debug/bin/sandmux")


class Result(NamedTuple):
    code: int
    out: str
    err: str
    out_bytes: bytes


def home_env(home) -> dict:
    """Settings that keep the program's files and the user's kubeconfig apart: all in `home`."""
    home = Path(home)
    run = home / "run"
    run.mkdir(mode=0o700, parents=True, exist_ok=True)
    env = {"HOME": str(home), "XDG_RUNTIME_DIR": str(run), "KUBECONFIG": str(home / ".kube/config")}
    for name in ("CONFIG", "STATE", "DATA", "CACHE"):
        env[f"XDG_{name}_HOME"] = str(home / name.lower())
    return env


def doing(pid: int) -> str:
    """What a program that does not end is doing: each thread's place in the kernel, its files, and its stack where
    there is a debugger."""
    lines = []
    for task in sorted(Path(f"/proc/{pid}/task").glob("*")):
        for name in ("comm", "wchan", "syscall", "stack"):
            try:
                lines.append(f"{task.name} {name}: {(task / name).read_text().strip()}")
            except OSError as e:
                lines.append(f"{task.name} {name}: {e.strerror}")
    for fd in sorted(Path(f"/proc/{pid}/fd").glob("*"), key=lambda p: int(p.name)):
        lines.append(f"fd {fd.name}: {os.readlink(fd)}")
    if shutil.which("gdb"):
        r = subprocess.run(["gdb", "-q", "-batch", "-p", str(pid), "-ex", "thread apply all bt 40"], capture_output=True, text=True,
                           stdin=subprocess.DEVNULL, timeout=60)
        lines.append(r.stdout[-8000:])
    return "\n".join(lines)


def _queued(pid) -> float:
    """Seconds that its threads have waited for a processor (Documentation/scheduler/sched-stats.rst)."""
    total = 0
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            total += int(path.read_text().split()[1])
        except (OSError, IndexError):
            pass
    return total / 1e9


class Stopwatch:
    """How long something takes a program, whatever else the machine does: the time without that in which the program, or
    this one, waited for a processor."""

    def __init__(self, *pids):
        self.pids = [*pids, os.getpid()]
        self.began, self.queued = time.monotonic(), [_queued(p) for p in self.pids]

    def kept(self) -> float:
        """That time."""
        return sum(max(0, _queued(p) - before) for p, before in zip(self.pids, self.queued))

    def took(self) -> float:
        return time.monotonic() - self.began - self.kept()


def run(*args, stdin: bytes = b"", stdin_file=None, env=None, cwd=None, timeout: float = None, check: int = None, **popen) -> Result:
    """Runs sandmux ARGS without a terminal. With check, another exit status is an error."""
    p = subprocess.Popen([BIN, *map(str, args)], stdin=stdin_file or subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env={**terminal_env(), **(env or {})}, cwd=cwd, start_new_session=True, **popen)
    try:
        out, err = p.communicate(None if stdin_file else stdin, TIMEOUT if timeout is None else timeout)
    except subprocess.TimeoutExpired:
        try:
            stuck = doing(p.pid)
        finally:  # whatever could not be read: nothing is left running
            os.killpg(p.pid, signal.SIGKILL)
            out, err = p.communicate()
        raise AssertionError(f"sandmux {' '.join(map(str, args))} did not end; stdout:\n{out!r}\nstderr:\n{err!r}\n{stuck}") from None
    r = Result(p.returncode, out.decode(errors="replace"), err.decode(errors="replace"), out)
    if check is not None and r.code != check:
        raise AssertionError(f"sandmux {' '.join(map(str, args))}: exit {r.code}, not {check}\nstdout:\n{r.out}\nstderr:\n{r.err}")
    return r


def sandmux_screen(*args, **kw) -> Screen:
    """sandmux ARGS on a terminal; keywords as for Screen."""
    return Screen([BIN, *args], **kw)
