# SPDX-License-Identifier: Apache-2.0
"""portforward_bench.py [MIB] [ROUNDS] [--files N] [--memory]: one large file each way between this disk and a pod of a
real cluster: `sandmux cp` over port-forward, `kubectl port-forward` with curl, and `kubectl cp`, in turn in the
same run; then a tree of small files; with --memory instead a file of 4 GiB each way, for the memory. Prints JSON
lines. A ratio is the peer's time by ours. No figure passes or fails; a copy that is not equal does, and so does a
sandmux that listens (asked of ss all the time)."""
import argparse
import hashlib
import os
import socket
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "cluster"), str(HERE)]
from cluster_case import POOLS, NoListener, listening_by_ss, wait_until  # noqa: E402
from copies import better_half, must_equal, random_file, small_files, timed  # noqa: E402
from portforward_pod import Pod, say, turns  # noqa: E402
from harness.cluster import RealCluster  # noqa: E402

GOAL = {"forward": 1.2, "cp": 2.5}
SMALL_GOAL = 1.5
MEMORY_GOAL_MIB, MEMORY_MIB = 64, 4096
PEERS = ("ours", "forward", "cp")


def the_look_can_fail() -> None:
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = f":{s.getsockname()[1]} "
        if not [line for pid, line in listening_by_ss(sys.executable)[1] if pid == os.getpid() and port in line]:
            sys.exit("ss does not show a socket that listens")


class Times:
    def __init__(self, peers):
        self.seconds, self.cpu = {who: [] for who in peers}, {who: [] for who in peers}
        self.peak_mib = 0.0

    def add(self, who: str, run: tuple) -> None:
        self.seconds[who].append(run[0])
        self.cpu[who].append(run[1])
        if who == "ours":
            self.peak_mib = max(self.peak_mib, run[2].peak_mib)

    def say(self, what: str, goals: dict, **more) -> None:
        best = {who: better_half(values) for who, values in self.seconds.items()}
        fields = {f"{who}_s": round(best[who], 2) for who in best}
        fields.update({f"{who}_cpu_s": round(statistics.median(values), 2) for who, values in self.cpu.items()})
        for who, goal in goals.items():
            ratio = best[who] / best["ours"]
            fields.update({f"ratio_{who}": round(ratio, 2), f"goal_{who}": goal, f"reached_{who}": ratio >= goal})
        say(bench=what, **more, **fields, ours_peak_mib=round(self.peak_mib, 1), load=round(os.getloadavg()[0], 1))


def large(pod: Pod, temp: Path, mib: int, rounds: int) -> None:
    source, target = temp / "source", temp / "target"
    random_file(source, mib)
    with source.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    up, down = Times(PEERS), Times(PEERS)
    for who in turns(rounds, PEERS):
        up.add(who, pod.copy(who, source, ":file"))
        if pod.sh("sha256sum /workspace/file").split()[0] != digest:
            sys.exit(f"what {who} copied to the pod differs")
        down.add(who, pod.copy(who, ":file", target))
        must_equal(source, target)
        target.unlink()
        pod.sh("rm /workspace/file")
    up.say("port-forward upload", GOAL, mib=mib, rounds=rounds)
    down.say("port-forward download", GOAL, mib=mib, rounds=rounds)
    source.unlink()


def small(pod: Pod, temp: Path, files: int) -> None:
    tree, back = temp / "tree", temp / "back"
    small_files(tree, files)
    up, down = Times(("ours", "cp")), Times(("ours", "cp"))
    for who in ("ours", "cp"):
        up.add(who, pod.copy(who, tree, ":tree"))
        sums = pod.sh("cd /workspace/tree && find . -type f -exec sha256sum {} +")
        there = dict(reversed(line.split("  ", 1)) for line in sums.splitlines())
        here = {f"./{path.relative_to(tree)}": hashlib.sha256(path.read_bytes()).hexdigest() for path in tree.rglob("file-*")}
        if there != here:
            sys.exit(f"the tree that {who} copied to the pod differs")
        if who == "ours":
            run = timed([*pod.sandmux, "cp", "-r", "box:tree", str(back)], pod.env)
        else:
            run = pod.copy(who, ":tree", back)
        down.add(who, run)
        if subprocess.run(["diff", "-rq", str(tree), str(back)]).returncode:
            sys.exit(f"the tree that {who} copied back differs")
        subprocess.run(["rm", "-rf", str(back)], check=True)
        pod.sh("rm -r /workspace/tree")
    up.say("small files up", {"cp": SMALL_GOAL}, files=files)
    down.say("small files down", {"cp": SMALL_GOAL}, files=files)


def memory(pod: Pod, temp: Path) -> None:
    source, target = temp / "source", temp / "target"
    random_file(source, MEMORY_MIB)
    for direction, ends in (("upload", (source, ":file")), ("download", (":file", target))):
        seconds, cpu, resident = pod.copy("ours", *ends)
        say(bench=f"memory of a {direction}", mib=MEMORY_MIB, seconds=round(seconds, 1), ours_cpu_s=round(cpu, 1),
            peak_mib=round(resident.peak_mib, 1), rss_mib_by_quarter=resident.by_quarter(), goal_mib=MEMORY_GOAL_MIB,
            reached=resident.peak_mib < MEMORY_GOAL_MIB)
    must_equal(source, target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mib", type=int, nargs="?", default=1024)
    parser.add_argument("rounds", type=int, nargs="?", default=3)
    parser.add_argument("--files", type=int, default=10000)
    parser.add_argument("--memory", action="store_true")
    args = parser.parse_args()
    try:
        os.setsid()  # what else runs in the caller's session takes nothing from ours
    except PermissionError:
        pass
    the_look_can_fail()
    with tempfile.TemporaryDirectory(prefix="sandmux-bench-") as temp, RealCluster(node=True) as cluster, cluster.namespace() as ns:
        wait_until(lambda: cluster.kubectl("-n", ns, "get", "serviceaccount", "default", "--ignore-not-found"), "service account")
        cluster.kubectl("apply", "-f", "-", stdin=POOLS.replace("namespace: default", f"namespace: {ns}"))
        quiet = NoListener(look=listening_by_ss)
        pod = Pod(cluster, ns, Path(temp))
        try:
            if args.memory:
                memory(pod, Path(temp))
            else:
                if args.mib:
                    large(pod, Path(temp), args.mib, args.rounds)
                if args.files:
                    small(pod, Path(temp), args.files)
        finally:
            pod.stop()
            quiet.stop()
        if quiet.seen or quiet.looks < 3:
            sys.exit(f"sandmux listens: {quiet.seen}" if quiet.seen else "nobody looked for sockets that listen")
        say(bench="listening sockets", looks=quiet.looks, seen=len(quiet.seen))
    print("1 passed, 0 failed")


main()
