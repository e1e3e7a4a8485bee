# SPDX-License-Identifier: Apache-2.0
"""dashboard.py [ROWS [STARTS]]: start to first paint and first rows, resident memory, idle CPU, key to frame at rest and
during 1,000 status changes a second, over claims and Sandboxes of a scripted API server in the same
run, which measures what they use as well. With STARTS the median of so many. Prints JSON lines, from 100,000 rows on with the
goals of docs/internals/scale.md; no figure passes or fails, only a dashboard that does not come up."""
import json
import re
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]
from harness.sandmux import BIN, home_env  # noqa: E402
from harness.screen import Screen  # noqa: E402
from harness.scripted_api import ScriptedApi  # noqa: E402
from measure import cpu_seconds, key_to_frame, load, now, rss_mib, summary, wakeups  # noqa: E402


GOALS = {"first_rows_ms": 200, "kib_per_row": 2, "cpu_percent": 0.3, "p99_ms": 16}
GOALS_FROM = 100000


def say(count: int, **line) -> None:
    """Goals are of a quiet machine: the load is said beside them."""
    if count >= GOALS_FROM:
        line |= {f"{key}_reached": line[key] <= goal for key, goal in GOALS.items() if key in line} | {"load": load()}
    print(json.dumps(line), flush=True)


def usage(name: str, turn: int) -> dict:
    n = int(name.rsplit("-", 1)[1])
    return {"cpu": f"{(n * 37 + turn * 211) % 2000}m", "memory": f"{(n * 13 + turn) % 900 + 1}Mi"}


def start(config: str, home: str, rows: int):
    """A dashboard with all rows, and how long each part took, in seconds."""
    began = now()
    scr = Screen([BIN, "--kubeconfig", config], rows=50, cols=200, env=home_env(home))
    scr.wait_for(lambda s: s._raw)
    first_paint = now() - began
    scr.wait_for("claim-00000", timeout=60)
    first_rows = now() - began
    scr.wait_for(re.compile(rf"\b{rows}\b"), timeout=60)
    return scr, {"first_paint_ms": first_paint, "first_rows_ms": first_rows, "all_rows_ms": now() - began}


def starts(config: str, home: str, rows: int, count: int):
    times = []
    for n in range(count):
        scr, took = start(config, home, rows)
        times.append(took)
        if n < count - 1:
            scr.stop()
    say(rows, bench="start", rows=rows, starts=count, **{key: round(median(t[key] for t in times) * 1000, 1) for key in times[0]})
    return scr


def live(api: ScriptedApi, scr, rows: int) -> None:
    while api.asked_metrics == 0:
        time.sleep(0.1)
    time.sleep(5)
    mib = rss_mib(scr.pid)
    say(rows, bench="memory", rows=rows, rss_mib=round(mib, 1), kib_per_row=round(mib * 1024 / rows, 2))
    cpu, switches, began = cpu_seconds(scr.pid), wakeups(scr.pid), now()
    time.sleep(20)
    took = now() - began
    say(rows, bench="idle", cpu_percent=round((cpu_seconds(scr.pid) - cpu) / took * 100, 2),
        wakeups_per_s=round((wakeups(scr.pid) - switches) / took, 2))
    say(rows, bench="key_to_frame", during="rest", **summary(key_to_frame(scr, 10)))
    cpu, sent = cpu_seconds(scr.pid), []
    storm = threading.Thread(target=lambda: sent.append(api.storm(1000, 8)))
    storm.start()
    time.sleep(0.5)
    frames = key_to_frame(scr, 7)
    storm.join()
    say(rows, bench="key_to_frame", during=f"{sent[0] / 8:.0f} events/s", **summary(frames),
        cpu_ms_per_1000_events=round((cpu_seconds(scr.pid) - cpu) * 1e6 / max(sent[0], 1), 1))


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    api = ScriptedApi(rows)
    api.metrics = usage
    for resource in ("sandboxclaims", "sandboxes"):
        api.initial(resource)  # not while the clock runs
    for api.asked_metrics in range(4):
        api.measurements()
    api.asked_metrics = 0
    with tempfile.TemporaryDirectory() as home:
        config = api.kubeconfig(Path(home) / "kubeconfig")
        scr = starts(config, home, rows, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
        try:
            api.asked_metrics = 0
            live(api, scr, rows)
            scr.key("C-c")
        finally:
            scr.stop()
    api.stop()
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
