# SPDX-License-Identifier: Apache-2.0
"""stdin_bench.py [MB] [ROUNDS]: so many MB through `cat` in a pod of a real cluster and back: `sandmux run` over port-forward
and `kubectl exec -i`, in turn in the same run; then the way there alone, with its answer a sum. Prints JSON lines. A ratio is our
time by the peer's. No figure passes or fails; what comes back otherwise than it went does."""
import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "cluster"), str(HERE)]
from cluster_case import POOLS, wait_until  # noqa: E402
from copies import better_half, random_file  # noqa: E402
from portforward_pod import Pod, say, turns  # noqa: E402
from harness.cluster import RealCluster  # noqa: E402

GOAL = 1.1
PEERS = ("ours", "exec")
WAYS = {"there and back": ["cat"], "there": ["sha256sum"]}


def through(pod: Pod, who: str, command: list, source: Path) -> tuple:
    """Seconds, and what came back."""
    start = [*pod.sandmux, "run", "box", "--"] if who == "ours" else [*pod.kubectl, "exec", "-i", pod.pod, "--"]
    began = time.monotonic()
    with source.open("rb") as file, subprocess.Popen([*start, *command], stdin=file, stdout=subprocess.PIPE, env={**os.environ, **pod.env}) as p:
        digest, n = hashlib.sha256(), 0
        while data := p.stdout.read(1 << 20):
            digest.update(data)
            n += len(data)
            last = data
    seconds = time.monotonic() - began
    if p.returncode:
        sys.exit(f"{who}: status {p.returncode}")
    return seconds, digest.hexdigest() if command == ["cat"] else last.decode().split()[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mb", type=int, nargs="?", default=200)
    parser.add_argument("rounds", type=int, nargs="?", default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sandmux-bench-") as temp, RealCluster(node=True) as cluster, cluster.namespace() as ns:
        wait_until(lambda: cluster.kubectl("-n", ns, "get", "serviceaccount", "default", "--ignore-not-found"), "service account")
        cluster.kubectl("apply", "-f", "-", stdin=POOLS.replace("namespace: default", f"namespace: {ns}"))
        pod = Pod(cluster, ns, Path(temp))
        try:
            source = Path(temp) / "source"
            random_file(source, args.mb)
            with source.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            for what, command in WAYS.items():
                seconds = {who: [] for who in PEERS}
                for who in turns(args.rounds, PEERS):
                    took, got = through(pod, who, command, source)
                    if got != digest:
                        sys.exit(f"{what}: {who} changed it")
                    seconds[who].append(took)
                best = {who: better_half(values) for who, values in seconds.items()}
                ratio = best["ours"] / best["exec"]
                say(bench=f"stdin {what}", mib=args.mb, rounds=args.rounds, **{f"{who}_s": round(best[who], 2) for who in PEERS},
                    ratio=round(ratio, 2), goal=GOAL, reached=ratio <= GOAL, load=round(os.getloadavg()[0], 1))
        finally:
            pod.stop()
    print("1 passed, 0 failed")


main()
