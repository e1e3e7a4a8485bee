# SPDX-License-Identifier: Apache-2.0
"""What a running program costs, all its threads together, and how fast it answers keys."""
import os
import re
import statistics
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def _threads(pid: int):
    return Path(f"/proc/{pid}/task").iterdir()


def cpu_seconds(pid: int) -> float:
    """Nanosecond counts of the threads that live, or the kernel's ticks where it keeps none."""
    try:
        return sum(int((task / "schedstat").read_text().split()[0]) for task in _threads(pid)) / 1e9
    except OSError:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


def _status_mib(pid: int, field: str) -> float:
    return int(re.search(rf"{field}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()).group(1)) / 1024


def rss_mib(pid: int) -> float:
    return _status_mib(pid, "VmRSS")


def peak_rss_mib(pid: int) -> float:
    return _status_mib(pid, "VmHWM")


def wakeups(pid: int) -> int:
    """How often its threads went to sleep, and so were woken."""
    return sum(int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", (task / "status").read_text(), re.M).group(1))
               for task in _threads(pid))


def set_priority(pid: int, nice: int) -> None:
    """Of every thread, since Linux knows no priority of a process, and of its session, which counts first where sessions
    are scheduled as groups."""
    for task in _threads(pid):
        os.setpriority(os.PRIO_PROCESS, int(task.name), nice)
    try:
        Path(f"/proc/{pid}/autogroup").write_text(str(nice))
    except OSError:
        pass


def summary(values: list) -> dict:
    values = sorted(values)
    return {"p50_ms": round(statistics.median(values) * 1000, 2), "p99_ms": round(values[int(len(values) * 0.99) - 1] * 1000, 2)}


def load() -> float:
    return round(os.getloadavg()[0], 1)


def now() -> float:
    return time.perf_counter()


def background_of(scr, row: int, col: int = 3):
    return scr.cell(row, col).bg


def selected_row(scr) -> tuple:
    """(row, background) of the one row of claims that is painted otherwise than the others."""
    colours = {row: background_of(scr, row) for row in range(scr.rows) if "claim-" in scr.row(row)}
    body = statistics.mode(colours.values())
    found = [(row, colour) for row, colour in colours.items() if colour != body]
    if len(found) != 1:
        raise AssertionError(scr.dump(f"no single selected row: {found}"))
    return found[0]


def key_to_frame(scr, seconds: float, pause: float = 0.04, limit: float = 5) -> list:
    """Seconds from a key that moves the selection to the frame that shows it moved: in a storm there is always some
    frame on its way, and only this one is the answer."""
    row, colour = selected_row(scr)
    first = next(n for n in range(scr.rows) if "claim-" in scr.row(n))
    out, end, step = [], now() + seconds, 1
    while now() < end:
        time.sleep(pause + len(out) % 7 * 0.003)  # not in step with anybody's clock
        if row >= first + 20 or row <= first:
            step = -1 if row > first else 1
        start = now()
        scr.key("Down" if step > 0 else "Up")
        while background_of(scr, row + step) != colour and now() - start < limit:
            time.sleep(0.0002)
        out.append(now() - start)
        row += step
    return out
