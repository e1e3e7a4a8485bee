# SPDX-License-Identifier: Apache-2.0
"""copy_bench.py [MIB] [ROUNDS]: one large file each way between the disk and the real sandboxd, by curl and by `sandmux cp`
in turn in the same run, and a tree of small files. Prints JSON lines with the ratio (1 = curl's rate;
the goal is 0.95) and the peak memory. No figure passes or fails; a copy that is not equal does."""
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]
from copies import better_half, must_equal, random_file, small_files, timed  # noqa: E402
from harness.procs import RealSandboxd  # noqa: E402
from harness.sandmux import BIN, home_env  # noqa: E402

SMALL_FILES = 2000


def compare(what: str, size_mib: int, ours, peer, rounds: int, check) -> None:
    times, cpu, memory = {"ours": [], "peer": []}, {"ours": [], "peer": []}, 0
    for n in range(rounds):
        for who, run in (("ours", ours), ("peer", peer)) if n % 2 else (("peer", peer), ("ours", ours)):
            seconds, cpu_seconds, resident = run()
            times[who].append(seconds)
            cpu[who].append(cpu_seconds)
            check(who)
            if who == "ours":
                memory = max(memory, resident.peak_mib)
    best = {who: better_half(values) for who, values in times.items()}
    print(json.dumps({"bench": what, "mib": size_mib, "ratio": round(best["peer"] / best["ours"], 2),
                      "ours_s": round(best["ours"], 3), "curl_s": round(best["peer"], 3), "ours_cpu_s": round(statistics.median(cpu["ours"]), 2),
                      "curl_cpu_s": round(statistics.median(cpu["peer"]), 2), "ours_peak_mib": round(memory, 1)}),
          flush=True)


def main() -> None:
    mib = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory(prefix="sandmux-bench-") as temp, RealSandboxd() as box:
        temp = Path(temp)
        env = home_env(temp / "home")
        cp = [BIN, "--rest", box.rest_url, "--grpc", box.grpc, "cp"]
        url = box.rest_url + "/v1/files/"
        source, target = temp / "source", temp / "target"
        random_file(source, mib)

        def equal(one: Path, other: Path):
            must_equal(one, other)
            other.unlink()

        compare("upload", mib, lambda: timed([*cp, str(source), ":up-ours"], env),
                lambda: timed(["curl", "-sfT", str(source), url + "up-peer"], env), rounds,
                lambda who: equal(source, box.root / f"up-{who}"))
        shutil.copyfile(source, box.root / "down")
        compare("download", mib, lambda: timed([*cp, ":down", str(target)], env),
                lambda: timed(["curl", "-sfo", str(target), url + "down"], env), rounds,
                lambda who: equal(source, target))

        tree = temp / "tree"
        small_files(tree, SMALL_FILES)
        for direction, argv in (("up", [str(tree), ":tree"]), ("down", [":tree", str(temp / "back")])):
            seconds, _, resident = timed([*cp, "-r", *argv], env)
            print(json.dumps({"bench": f"small files {direction}", "files": SMALL_FILES, "files_per_s": round(SMALL_FILES / seconds),
                              "ours_peak_mib": round(resident.peak_mib, 1)}), flush=True)
        if subprocess.run(["diff", "-r", str(tree), str(temp / "back")]).returncode:
            sys.exit("the tree came back different")
    print("1 passed, 0 failed")


main()
