# SPDX-License-Identifier: Apache-2.0
"""copy_bench.py [MIB] [ROUNDS]: one large file each way between the disk and the real sandboxd, by curl and by `sandmux cp`
in turn in the same run, and a tree of small files. Prints JSON lines with the ratio (1 = curl's rate;
the goal is 0.95) and the peak memory. No figure passes or fails; a copy that is not equal does."""
import filecmp
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.procs import RealSandboxd  # noqa: E402
from harness.sandmux import BIN, home_env  # noqa: E402

SMALL_FILES = 2000


def timed(argv, env) -> tuple:
    """Seconds, processor seconds and peak MiB of one program that must succeed."""
    start = time.perf_counter()
    process = subprocess.Popen(argv, env={**os.environ, **env}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"{' '.join(map(str, argv))}: {process.stderr.read().decode(errors='replace')}")
    process.stderr.close()
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def random_file(path: Path, mib: int) -> None:
    block = os.urandom(1 << 20)
    with path.open("wb") as out:
        for n in range(mib):
            out.write(n.to_bytes(8, "big") + block[8:])


def compare(what: str, size_mib: int, ours, peer, rounds: int, check) -> None:
    times, cpu, memory = {"ours": [], "peer": []}, {"ours": [], "peer": []}, 0
    for n in range(rounds):
        for who, run in (("ours", ours), ("peer", peer)) if n % 2 else (("peer", peer), ("ours", ours)):
            seconds, cpu_seconds, mib = run()
            times[who].append(seconds)
            cpu[who].append(cpu_seconds)
            check(who)
            if who == "ours":
                memory = max(memory, mib)
    # the better half of the rounds: what else runs here disturbs single ones
    best = {who: statistics.mean(sorted(values)[:(len(values) + 1) // 2]) for who, values in times.items()}
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
            if not filecmp.cmp(one, other, shallow=False):
                sys.exit(f"{other} differs from {one}")
            other.unlink()

        compare("upload", mib, lambda: timed([*cp, str(source), ":up-ours"], env),
                lambda: timed(["curl", "-sfT", str(source), url + "up-peer"], env), rounds,
                lambda who: equal(source, box.root / f"up-{who}"))
        shutil.copyfile(source, box.root / "down")
        compare("download", mib, lambda: timed([*cp, ":down", str(target)], env),
                lambda: timed(["curl", "-sfo", str(target), url + "down"], env), rounds,
                lambda who: equal(source, target))

        tree = temp / "tree"
        for n in range(SMALL_FILES):
            path = tree / str(n % 20) / f"file-{n}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(os.urandom(1024))
        for direction, argv in (("up", [str(tree), ":tree"]), ("down", [":tree", str(temp / "back")])):
            seconds, _, memory = timed([*cp, "-r", *argv], env)
            print(json.dumps({"bench": f"small files {direction}", "files": SMALL_FILES, "files_per_s": round(SMALL_FILES / seconds),
                              "ours_peak_mib": round(memory, 1)}), flush=True)
        if subprocess.run(["diff", "-r", str(tree), str(temp / "back")]).returncode:
            sys.exit("the tree came back different")
    print("1 passed, 0 failed")


main()
