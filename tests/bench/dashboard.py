# SPDX-License-Identifier: Apache-2.0
"""dashboard.py [ROWS]: start to first paint and first rows, resident memory, idle CPU, key to frame at rest and
during 1,000 status changes a second, over claims and Sandboxes of a scripted API server in the same
run. Prints JSON lines; no figure passes or fails, only a dashboard that does not come up."""
import json
import re
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]
from harness.sandmux import BIN, home_env  # noqa: E402
from harness.screen import Screen  # noqa: E402
from harness.scripted_api import ScriptedApi  # noqa: E402
from measure import cpu_seconds, key_to_frame, rss_mib, summary, wakeups  # noqa: E402


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    api = ScriptedApi(rows)
    for resource in ("sandboxclaims", "sandboxes"):
        api.initial(resource)  # not while the clock runs
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
            print(json.dumps({"bench": "key_to_frame", "during": "rest", **summary(key_to_frame(scr, 10))}))
            cpu, sent = cpu_seconds(scr.pid), []
            storm = threading.Thread(target=lambda: sent.append(api.storm(1000, 8)))
            storm.start()
            time.sleep(0.5)
            frames = key_to_frame(scr, 7)
            storm.join()
            print(json.dumps({"bench": "key_to_frame", "during": f"{sent[0] / 8:.0f} events/s", **summary(frames),
                              "cpu_ms_per_1000_events": round((cpu_seconds(scr.pid) - cpu) * 1e6 / max(sent[0], 1), 1)}))
            scr.key("C-c")
    api.stop()
    print("1 passed, 0 failed")


main()
