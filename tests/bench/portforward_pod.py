# SPDX-License-Identifier: Apache-2.0
"""One claimed sandbox of a real cluster, with kubectl beside it: what the benches over port-forward share."""
import json
import os
import re
import subprocess
import threading
from pathlib import Path

from copies import timed
from harness.bed import need_bed
from harness.sandmux import BIN, home_env


def say(**fields) -> None:
    print(json.dumps(fields), flush=True)


def turns(rounds: int, peers):
    """Everybody is first, in the middle and last alike."""
    for n in range(rounds):
        yield from peers[n % len(peers):] + peers[:n % len(peers)]


class Pod:
    """One claimed sandbox, and the three ways to copy."""

    def __init__(self, cluster, ns: str, temp: Path):
        self.cluster, self.ns, self.env = cluster, ns, {**home_env(temp / "home"), "KUBECONFIG": cluster.kubeconfig}
        self.sandmux = [BIN, "--kubeconfig", cluster.kubeconfig, "-n", ns]
        self.kubectl = [need_bed("kubectl"), f"--kubeconfig={cluster.kubeconfig}", "-n", ns]
        timed([*self.sandmux, "create", "box", "--pool", "ready"], self.env)
        row = subprocess.run([*self.sandmux, "get", "box", "-o", "json"], capture_output=True, text=True, check=True,
                             env={**os.environ, **self.env})
        self.pod = json.loads(row.stdout)["pod"]
        # in this session: Linux shares the processor among sessions first, and another one would be another share
        self.forward = subprocess.Popen([*self.kubectl, "port-forward", self.pod, ":8080"], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        port = re.search(r":(\d+) ", self.forward.stdout.readline()).group(1)
        self.url = f"http://127.0.0.1:{port}/v1/files/"
        threading.Thread(target=self.forward.stdout.read, daemon=True).start()

    def stop(self) -> None:
        self.forward.kill()
        self.forward.wait()

    def sh(self, command: str) -> str:
        return self.cluster.kubectl("-n", self.ns, "exec", self.pod, "--", "sh", "-c", command)

    def copy(self, who: str, source, target) -> tuple:
        """One of them is a name in the pod, written ":name"."""
        os.sync()  # the daemon waits for the disk at the end of an upload: for its own bytes, not for older ones
        up = str(target).startswith(":")
        if who == "ours":
            ends = [f"box{end}" if str(end).startswith(":") else end for end in (source, target)]
            return timed([*self.sandmux, "cp", *(["-r"] if up and Path(source).is_dir() else []), *ends], self.env)
        if who == "cp":
            ends = [f"{self.pod}:/workspace/{end[1:]}" if str(end).startswith(":") else end for end in (source, target)]
            return timed([*self.kubectl, "cp", "--retries=0", *ends])
        if up:
            return timed(["curl", "-sfT", source, self.url + target[1:]], helper=self.forward.pid)
        return timed(["curl", "-sfo", target, self.url + source[1:]], helper=self.forward.pid)
