# SPDX-License-Identifier: Apache-2.0
"""scale_bench.py [--sizes 10000,20000] [--rounds 3] [--by-api 1000] [--rate 1000] [--seconds 12]
               [--idle 20]

sandmux and k9s over the same claims and Sandboxes of a real API server, in one run: start to first paint, first rows
and all rows; resident memory; idle CPU and wake-ups; CPU and key to frame during a storm of status changes. Prints a
JSON line for each figure, with the ratio, the goal, and whether it was reached. No figure passes or fails; a program
that does not show its rows, a wrong count, or a list that differs from the server after the storms does.

The control plane is its own, without a node, and its controllers are stopped: nobody else writes. It and the writer
run with a lower priority than what is measured, since in real life they have machines of their own. k9s shows one
resource, the claims; sandmux watches six and joins them. Half of the changes are of Sandboxes and half of claims, as
the real controller makes them, so that k9s sees half of the events, and sandmux all; CPU is given for the same storm
and for a thousand events that the program could see. How to read the figures: docs/internals/scale.md."""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from statistics import median

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]
from harness.cluster import RealCluster  # noqa: E402
from measure import cpu_seconds, key_to_frame, load, now, peak_rss_mib, rss_mib, set_priority, summary, wakeups  # noqa: E402
from scale_programs import K9s, Sandmux  # noqa: E402

NAMESPACE = "scale"
WRITER = [sys.executable, str(Path(__file__).resolve().parent / "scale_writer.py")]
LESS = 5
BASE = os.getpriority(os.PRIO_PROCESS, 0)
GOALS = {"first_paint": 1 / 50, "first_rows": 1 / 20, "rss": 1 / 15, "idle_cpu": 1 / 100, "storm_cpu": 1 / 5}


def say(**line) -> None:
    print(json.dumps(line), flush=True)


def compare(bench: str, unit: str, ours: float, theirs: float, goal: str = "", **more) -> None:
    line = {"bench": bench, "sandmux": round(ours, 2), "k9s": round(theirs, 2), "unit": unit, "ratio": round(ours / theirs, 4) if theirs else None}
    if goal and more["rows"] >= 10000:  # what the goals are about
        line |= {"goal": f"<= 1/{1 / GOALS[goal]:.0f}", "reached": ours <= theirs * GOALS[goal]}
    say(**line, **more)


class Server:
    """The control plane, with its objects and their writers."""

    def __init__(self, folder: Path):
        self.cluster = RealCluster(directory=folder)
        self.objects, self.changes = 0, 0
        settings = json.loads((self.cluster.dir / "settings.json").read_text())
        self.env = {**os.environ, "NAMESPACE": NAMESPACE, "CLUSTER_API": self.cluster.api, "CLUSTER_CA": self.cluster.ca,
                    "CLUSTER_TOKEN": self.cluster.token, "CLUSTER_ETCD": f"http://127.0.0.1:{settings['ports']['etcd']}"}
        for controller in "agent-sandbox-controller", "kube-controller-manager":
            os.kill(self.cluster.pid(controller), signal.SIGTERM)
        self.cluster.kubectl("create", "namespace", NAMESPACE)

    def grow(self, count: int, by_api: int) -> None:
        """The first by_api pairs as a client and the controller would make them, the others as copies of those."""
        self.priority(0)
        for end, verb, more in (min(count, by_api), "create", ()), (count, "copy", (by_api,)):
            if self.objects < end:
                say(bench=verb, **self.write(verb, self.objects, end, *more), load=load())
                self.objects = end
        self.write("ready")  # comes back when the server has seen them all
        self.priority(LESS)

    def write(self, *args) -> dict:
        r = subprocess.run([*WRITER, *map(str, args)], env=self.env, capture_output=True, text=True)
        if r.returncode:
            raise AssertionError(r.stderr)
        return json.loads(r.stdout)

    def priority(self, less: int) -> None:
        for daemon in "etcd", "kube-apiserver":
            set_priority(self.cluster.pid(daemon), BASE + less)

    def cpu(self) -> float:
        return cpu_seconds(self.cluster.pid("kube-apiserver")) + cpu_seconds(self.cluster.pid("etcd"))


class Storm:
    """Prepared by the constructor, begun by go()."""

    def __init__(self, server: Server, way: str, rate: int, seconds: float, objects: int):
        count = int(rate * seconds) // 2 * 2
        self.proc = subprocess.Popen([*WRITER, "storm", way, *map(str, (server.changes, count, objects, rate))], env=server.env,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        set_priority(self.proc.pid, BASE + LESS)
        server.changes += count
        if self.proc.stdout.readline() != "ready\n":
            raise AssertionError("the writer did not get ready")

    def go(self):
        self.proc.stdin.write("go\n")
        self.proc.stdin.flush()

    def end(self) -> dict:
        out, _ = self.proc.communicate(timeout=120)
        if self.proc.returncode:
            raise AssertionError(f"the writer ended with {self.proc.returncode}")
        return json.loads(out)


def starts(programs, rows: int, rounds: int) -> None:
    """The programs take turns, so that a machine that becomes slower hits both."""
    times = {p.name: [] for p in programs}
    for _ in range(rounds):
        for p in programs:
            scr, t = p.start(rows)
            p.stop(scr)
            times[p.name].append(t)
            time.sleep(1)
    for what in "first_paint", "first_rows", "all_rows":
        ours, theirs = (median(t[what] for t in times[p.name]) * 1000 for p in programs)
        compare(what, "ms", ours, theirs, what if what in GOALS else "", rows=rows, rounds=rounds, load=load())


def storm(server: Server, program, scr, way: str, rate: int, seconds: float, objects: int) -> dict:
    storm_ = Storm(server, way, rate, seconds, objects)
    cpu, began = cpu_seconds(scr.pid), now()
    try:
        storm_.go()
        time.sleep(0.5)
        keys = key_to_frame(scr, seconds - 1.5)
        out = storm_.end()
    finally:
        storm_.proc.kill()
    server.write("ready")  # comes back when the server has caught up, and then so have its watches
    time.sleep(1)
    used, took = cpu_seconds(scr.pid) - cpu, now() - began
    seen = out["events"] if program.sees_all else out["events"] / 2
    return {**out, "cpu_percent": used / took * 100, "cpu_ms_per_1000": used * 1e6 / seen, "keys": summary(keys), "rss": rss_mib(scr.pid)}


def live(server: Server, program, rows: int, args) -> dict:
    """One program alone: at rest, then in both storms."""
    scr, _ = program.start(rows)
    try:
        time.sleep(min(10, args.idle))
        out = {"rss": rss_mib(scr.pid)}
        cpu, woken, served, began = cpu_seconds(scr.pid), wakeups(scr.pid), server.cpu(), now()
        time.sleep(args.idle)
        took = now() - began
        out |= {"idle_cpu": (cpu_seconds(scr.pid) - cpu) / took * 100, "wakeups": (wakeups(scr.pid) - woken) / took,
                "server_cpu": (server.cpu() - served) / took * 100, "keys": summary(key_to_frame(scr, min(8, args.seconds)))}
        for way in "api", "store":
            out[way] = storm(server, program, scr, way, args.rate, args.seconds, min(args.sizes))
        out["peak"] = peak_rss_mib(scr.pid)
        program.check_after_storm(scr, server)
        program.stop(scr)
    finally:
        scr.stop()
    return out


def report(rows: int, ours: dict, theirs: dict) -> None:
    at = {"rows": rows, "load": load()}
    compare("rss", "MiB", ours["rss"], theirs["rss"], "rss", **at)
    compare("idle_cpu", "% of a core", ours["idle_cpu"], theirs["idle_cpu"], "idle_cpu", **at)
    compare("idle_wakeups", "1/s", ours["wakeups"], theirs["wakeups"], **at, absolute_goal="< 2", absolute_reached=ours["wakeups"] < 2)
    compare("idle_server_cpu", "% of a core", ours["server_cpu"], theirs["server_cpu"], **at)
    compare("key_to_frame_rest_p50", "ms", ours["keys"]["p50_ms"], theirs["keys"]["p50_ms"], **at)
    compare("key_to_frame_rest_p99", "ms", ours["keys"]["p99_ms"], theirs["keys"]["p99_ms"], **at)
    for way in "api", "store":
        a, b = ours[way], theirs[way]
        at |= {"way": way, "events_per_s": [a["events_per_s"], b["events_per_s"]]}
        compare("storm_cpu", "% of a core", a["cpu_percent"], b["cpu_percent"], "storm_cpu", **at)
        compare("storm_cpu_per_1000_events_seen", "ms", a["cpu_ms_per_1000"], b["cpu_ms_per_1000"], "storm_cpu", **at)
        compare("key_to_frame_storm_p50", "ms", a["keys"]["p50_ms"], b["keys"]["p50_ms"], **at)
        compare("key_to_frame_storm_p99", "ms", a["keys"]["p99_ms"], b["keys"]["p99_ms"], **at,
                absolute_goal="<= 16 ms", absolute_reached=a["keys"]["p99_ms"] <= 16)
        compare("storm_rss", "MiB", a["rss"], b["rss"], **at)
    compare("peak_rss", "MiB", ours["peak"], theirs["peak"], rows=rows, load=load())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=lambda text: sorted(map(int, text.split(","))), default=[10000, 20000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--by-api", type=int, default=1000, help="pairs that are created through the API; the others are copies in the store")
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=12, help="of each storm")
    parser.add_argument("--idle", type=float, default=20, help="seconds")
    args = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "cluster")
        try:
            programs = [kind(server.cluster.kubeconfig, NAMESPACE, Path(folder) / kind.name) for kind in (Sandmux, K9s)]
            for rows in args.sizes:
                server.grow(rows, args.by_api)
                starts(programs, rows, args.rounds)
                report(rows, *(live(server, p, rows, args) for p in programs))
                passed += 1
        except Exception:
            traceback.print_exc(file=sys.stdout)
            failed = 1
        finally:
            server.cluster.stop()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed)


main()
