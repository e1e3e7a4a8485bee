# SPDX-License-Identifier: Apache-2.0
"""jail_bench.py [--before FOLDER] [--mib N] [--rounds N]: what the jail of the local backend costs.

A sandbox of this build, one of the same build without isolation, and with --before one of an older build (a folder with its
programs), side by side and in turn. Prints JSON lines: a file each way by curl, a small REST request on a connection that
stays, `run -- true`, create to Ready, and the memory of one sandbox (its share of each page, all its processes). Ratios
are this build's cost over the other's: 1 is the same. No figure passes or fails."""
import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]
from copies import better_half, must_equal, random_file  # noqa: E402
from harness.sandmux import BIN, home_env  # noqa: E402
from measure import load, now  # noqa: E402


class Side:
    """A backend of one build, with a sandbox called `box`."""

    def __init__(self, name: str, folder: Path, home: Path, *flags):
        self.name, self.bin, self.env = name, folder, {**os.environ, **home_env(home)}
        self.env.pop("KUBECONFIG")
        self.state = home / "state/sandmux/local"
        self.sm("local", "up", *flags)  # from here on there is something to close
        self.sm("create", "box", "--pool", "local", "--timeout", "60s")
        claim = json.loads(self.kube("/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/default/sandboxclaims/box"))
        pod = json.loads(self.kube(f"/api/v1/namespaces/default/pods/{claim['status']['sandbox']['name']}"))
        self.address = pod["status"]["podIP"]
        token = self.state / "pods" / pod["metadata"]["uid"] / "daemon-token"
        self.token = (token if token.exists() else self.state / "daemon-token").read_text()

    def sm(self, *args) -> str:
        r = subprocess.run([self.bin / "sandmux", *args], env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if r.returncode:
            sys.exit(f"{self.name}: sandmux {' '.join(args)}: {r.stderr}")
        return r.stdout

    def kube(self, path: str) -> str:
        config = (self.state / "kubeconfig").read_text()
        server = re.search(r"server: (\S+)", config).group(1)
        token = (self.state / "token").read_text()
        return subprocess.run(["curl", "-sf", "--cacert", self.state / "tls/ca.pem", "-H", f"Authorization: Bearer {token}", server + path],
                              capture_output=True, text=True, check=True).stdout

    def backend(self) -> int:
        return int((self.state / "pid").read_text().split()[0])

    def curl(self, *args) -> float:
        start = now()
        subprocess.run(["curl", "-sf", "-H", f"Authorization: Bearer {self.token}", *args], check=True, stdout=subprocess.DEVNULL)
        return now() - start

    def url(self, name: str) -> str:
        return f"http://{self.address}:8080/v1/files/{name}"

    def requests(self, count: int) -> float:
        """Seconds of one small request."""
        connection = http.client.HTTPConnection(self.address, 8080)
        start = now()
        for _ in range(count):
            connection.request("GET", "/v1/health")
            connection.getresponse().read()
        return (now() - start) / count

    def timed(self, *args) -> float:
        start = now()
        self.sm(*args)
        return now() - start

    def memory_kib(self) -> int:
        """The share of memory of all that lives below the backend, for each sandbox."""
        children, parents = [], {}
        for status in Path("/proc").glob("[0-9]*/status"):
            try:
                parents[int(status.parent.name)] = int(re.search(r"PPid:\s+(\d+)", status.read_text()).group(1))
            except OSError:
                pass
        for pid in parents:
            at = pid
            while at > 1 and at != self.backend():
                at = parents.get(at, 0)
            if at == self.backend() and pid != at:
                children.append(pid)
        total = sandboxes = 0
        for pid in children:
            try:
                total += int(re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M).group(1))
                sandboxes += parents[pid] == self.backend() and "port-proxy" not in Path(f"/proc/{pid}/cmdline").read_text()
            except OSError:
                pass
        return total // max(sandboxes, 1)

    def close(self):
        self.sm("local", "down")


def tell(what: str, sides: list, values: dict, unit: str, scale: float = 1) -> None:
    best = {name: better_half(v) * scale for name, v in values.items()}
    ours = best[sides[0].name]
    print(json.dumps({"bench": what, "unit": unit, **{name: round(v, 3) for name, v in best.items()},
                      **{f"ratio to {name}": round(ours / v, 2) for name, v in best.items() if name != sides[0].name}, "load": load()}), flush=True)


def in_turn(what: str, sides: list, rounds: int, one, unit: str, scale: float = 1) -> None:
    values = {side.name: [] for side in sides}
    for n in range(rounds):
        for side in sides if n % 2 else reversed(sides):
            values[side.name].append(one(side, n))
    tell(what, sides, values, unit, scale)


def compare(sides: list, options, temp: Path) -> None:
    source, target = temp / "source", temp / "target"
    random_file(source, options.mib)

    def download(side, n):
        seconds = side.curl("-o", str(target), side.url("file"))
        must_equal(source, target)
        return seconds

    def create(side, n):
        """Cold: the environment is an own one, so that no warm sandbox fits."""
        seconds = side.timed("create", f"c{n}", "--pool", "local", "-e", "A=1", "--timeout", "60s")
        side.sm("rm", f"c{n}", "--yes")
        return seconds

    in_turn("curl upload", sides, options.rounds, lambda side, n: side.curl("-T", str(source), side.url("file")), "s")
    in_turn("curl download", sides, options.rounds, download, "s")
    in_turn("small REST request", sides, options.rounds, lambda side, n: side.requests(1000), "us", 1e6)
    in_turn("run -- true", sides, 3 * options.rounds, lambda side, n: side.timed("run", "box", "--", "true"), "ms", 1e3)
    for side in sides:
        side.sm("rm", "box", "--yes")
    in_turn("create to Ready, cold", sides, 2 * options.rounds, create, "ms", 1e3)
    time.sleep(1)  # what was deleted ends, and is not counted below
    tell("memory of a sandbox", sides, {side.name: [side.memory_kib()] for side in sides}, "KiB")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", type=Path)
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    here = Path(BIN).resolve().parent
    with tempfile.TemporaryDirectory(prefix="sandmux-bench-") as temp:
        temp, sides = Path(temp), []
        try:
            sides.append(Side("jail", here, temp / "jail"))
            sides.append(Side("plain", here, temp / "plain", "--isolation", "none"))
            if options.before:
                sides.append(Side("before", options.before.resolve(), temp / "before"))
            compare(sides, options, temp)
        finally:
            for side in sides:
                side.close()
    print("1 passed, 0 failed")


main()
