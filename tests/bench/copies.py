# SPDX-License-Identifier: Apache-2.0
"""What the benches of copies share."""
import filecmp
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

from measure import cpu_seconds


class Resident:
    """Resident MiB of a process all along. ru_maxrss would count what the parent had before exec."""

    def __init__(self, pid: int):
        self.samples, self.peak_mib = [], 0.0
        threading.Thread(target=self._look, args=(pid,), daemon=True).start()

    def _look(self, pid: int):
        try:
            while True:
                now = re.findall(r"Vm(?:HWM|RSS):\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
                if len(now) < 2:
                    return
                self.peak_mib = int(now[0]) / 1024
                self.samples.append(int(now[1]) / 1024)
                time.sleep(0.05)
        except OSError:
            pass

    def by_quarter(self) -> list:
        """The most in each quarter of the time."""
        n = max(len(self.samples) // 4, 1)
        return [round(max(self.samples[k * n:(k + 1) * n], default=0), 1) for k in range(4)]


def timed(argv, env=None, helper: int = None) -> tuple:
    """Seconds, processor seconds (with those of a process that helps) and Resident of one program that must succeed."""
    helped = cpu_seconds(helper) if helper else 0
    start = time.perf_counter()
    process = subprocess.Popen([str(a) for a in argv], env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    resident = Resident(process.pid)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - start
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, argv))}: {process.stderr.read().decode(errors='replace')}")
    process.stderr.close()
    helped = cpu_seconds(helper) - helped if helper else 0
    return seconds, usage.ru_utime + usage.ru_stime + helped, resident


def better_half(values) -> float:
    """What else runs here disturbs single rounds."""
    values = sorted(values)[:(len(values) + 1) // 2]
    return sum(values) / len(values)


def random_file(path: Path, mib: int) -> None:
    block = os.urandom(1 << 20)
    with path.open("wb") as out:
        for n in range(mib):
            out.write(n.to_bytes(8, "big") + block[8:])


def small_files(tree: Path, count: int) -> None:
    for n in range(count):
        path = tree / str(n % 20) / f"file-{n}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(1024))


def must_equal(one: Path, other: Path) -> None:
    if not filecmp.cmp(one, other, shallow=False):
        sys.exit(f"{other} differs from {one}")
