# SPDX-License-Identifier: Apache-2.0
"""dashboard.py [ROWS]: start to first paint and first rows, resident memory, idle CPU, key to frame at rest and
during 1,000 status changes a second, over claims and Sandboxes of a scripted API server in the same
run. Prints JSON lines; no figure passes or fails, only a dashboard that does not come up."""
import json
import os
import re
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.sandmux import BIN, home_env  # noqa: E402
from harness.screen import Screen  # noqa: E402
from harness.scripted_api import ScriptedApi  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def rss_mib(pid: int) -> float:
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()).group(1)) / 1024


def wakeups(pid: int) -> int:
    return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(), re.M).group(1))


def key_to_frame(scr: Screen, times: int) -> list:
    """Seconds from a key to the first byte of the answer."""
    out = []
    for n in range(times):
        time.sleep(0.03)
        before, start = len(scr.raw), time.perf_counter()
        scr.key("Down" if n % 20 < 10 else "Up")
        while len(scr._raw) == before:
            if time.perf_counter() - start > 2:
                break
            time.sleep(0.0002)
        out.append(time.perf_counter() - start)
    return out


def summary(values: list) -> dict:
    values = sorted(values)
    return {"p50_ms": round(statistics.median(values) * 1000, 2), "p99_ms": round(values[int(len(values) * 0.99) - 1] * 1000, 2)}


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    api = ScriptedApi(rows)
    with tempfile.TemporaryDirectory() as home:
        config = api.kubeconfig(Path(home) / "kubeconfig")
        start = time.perf_counter()
        with Screen([BIN, "--kubeconfig", config], rows=50, cols=200, env=home_env(home)) as scr:
            scr.wait_for(lambda s: s._raw)
            first_paint = time.perf_counter() - start
            scr.wait_for("claim-00000", timeout=60)
            first_rows = time.perf_counter() - start
            scr.wait_for(re.compile(rf"\b{rows}\b"), timeout=60)
            complete = time.perf_counter() - start
            print(json.dumps({"bench": "start", "rows": rows, "first_paint_ms": round(first_paint * 1000, 1),
                              "first_rows_ms": round(first_rows * 1000, 1), "all_rows_ms": round(complete * 1000, 1)}))
            time.sleep(2)
            print(json.dumps({"bench": "memory", "rows": rows, "rss_mib": round(rss_mib(scr.pid), 1)}))
            cpu, switches = cpu_seconds(scr.pid), wakeups(scr.pid)
            time.sleep(10)
            print(json.dumps({"bench": "idle", "cpu_percent": round((cpu_seconds(scr.pid) - cpu) * 10, 2),
                              "wakeups_per_s": round((wakeups(scr.pid) - switches) / 10, 2)}))
            print(json.dumps({"bench": "key_to_frame", "during": "rest", **summary(key_to_frame(scr, 200))}))
            cpu, sent = cpu_seconds(scr.pid), []
            storm = threading.Thread(target=lambda: sent.append(api.storm(1000, 8)))
            storm.start()
            time.sleep(0.5)
            frames = key_to_frame(scr, 150)
            storm.join()
            print(json.dumps({"bench": "key_to_frame", "during": f"{sent[0] / 8:.0f} events/s", **summary(frames),
                              "cpu_ms_per_1000_events": round((cpu_seconds(scr.pid) - cpu) * 1e6 / max(sent[0], 1), 1)}))
            scr.key("C-c")
    api.stop()
    print("1 passed, 0 failed")


main()
