# SPDX-License-Identifier: Apache-2.0
"""paired.py OLD NEW [ROUNDS]: the programs of two release builds (their bin folders) in one run, in turn: floods of the
terminal engine, start, memory, idle, keys and storm of the dashboard, and copies to and from the real sandboxd. Prints a
JSON line for each figure with its medians, the ratio new / old, and how far the old build's own figures lie apart: a
difference within that is noise. No figure passes or fails."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
import flood  # noqa: E402

FLOOD_MB = 20
BENCHES = ([sys.executable, HERE / "dashboard.py", "10000"], [sys.executable, HERE / "copy_bench.py", "200", "2"])
NAMES = ("bench", "during", "file", "rows", "mib", "files", "n", "bytes", "history_rows")  # of a line: what it is of, no figure


def figures(command: list, folder: Path) -> dict:
    env = {**os.environ, "SANDMUX_BIN": str(folder / "sandmux"), "PYTHONPATH": str(HERE.parent)}
    r = subprocess.run(command, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if r.returncode:
        sys.exit(f"{command}: {r.stdout}{r.stderr}")
    found = {}
    for line in r.stdout.splitlines():
        if not line.startswith("{"):
            continue
        row = json.loads(line)
        during = "storm" if "events" in str(row.get("during", "")) else row.get("during", "")
        of = " ".join(filter(None, (str(row.get("bench", "")), during, Path(str(row.get("file", ""))).name)))
        for key, value in row.items():
            if key not in NAMES and isinstance(value, (int, float)) and "curl" not in key:
                found[f"{of}: {key}"] = value
    return found


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folders = {"old": Path(sys.argv[1]).resolve(), "new": Path(sys.argv[2]).resolve()}
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory(prefix="sandmux-bench-") as temp:
        floods = [flood.write_data(Path(temp), kind, FLOOD_MB * 1_000_000) for kind in flood.KINDS]
        commands = [lambda folder: [folder / "term_bench", "--cols", str(flood.COLS), "--rows", str(flood.ROWS), *floods]] + [lambda _, command=command: command for command in BENCHES]
        for command in commands:
            seen = {who: {} for who in folders}
            for n in range(rounds):
                for who in ("old", "new") if n % 2 else ("new", "old"):
                    for name, value in figures(command(folders[who]), folders[who]).items():
                        seen[who].setdefault(name, []).append(value)
            for name, old in seen["old"].items():
                new = seen["new"].get(name, [])
                if not new or not statistics.median(old):
                    continue
                middle = statistics.median(old)
                print(json.dumps({"figure": name, "old": round(middle, 2), "new": round(statistics.median(new), 2),
                                  "ratio": round(statistics.median(new) / middle, 2),
                                  "old_spread": [round(min(old) / middle, 2), round(max(old) / middle, 2)]}), flush=True)
    print("1 passed, 0 failed")


main()
