# SPDX-License-Identifier: Apache-2.0
"""A real cluster (tests/bed/cluster). One that runs already is used and left running;
else it is started, and wiped at the end."""
import json
import shlex
import subprocess
import sys
import uuid
from pathlib import Path

from .bed import BED, need_bed

PROGRAM = [sys.executable, str(BED / "cluster/cluster.py")]


def node_impossible() -> str:
    """Why this machine cannot run pods, or ""."""
    return subprocess.run([*PROGRAM, "can-node"], capture_output=True, text=True).stderr.strip()


class RealCluster:
    """kubeconfig, api, ca, token, kubectl(*args), namespace(). With a directory it is one of the caller's own: for
    tests that stop and break its parts, or give flags to `cluster.py up`."""

    def __init__(self, node: bool = False, directory=None, flags=()):
        self._flags = flags
        self._program = [*PROGRAM, *(["--dir", str(directory)] if directory else [])]
        self._ours = subprocess.run([*self._program, "status"], capture_output=True).returncode != 0
        try:
            self.up(node)  # also over a running one: it may lack the node
        except RuntimeError:
            self.stop()
            raise
        lines = subprocess.run([*self._program, "env"], capture_output=True, text=True, check=True).stdout.splitlines()
        env = dict(shlex.split(line)[1].split("=", 1) for line in lines)
        self.kubeconfig, self.api = env["KUBECONFIG"], env["CLUSTER_API"]
        self.ca, self.token, self.dir = env["CLUSTER_CA"], env["CLUSTER_TOKEN"], Path(env["CLUSTER_DIR"])

    def up(self, node: bool = False):
        """Starts what does not run."""
        r = subprocess.run([*self._program, "up", "--no-build", *self._flags, *(["--node"] if node else [])], capture_output=True, text=True)
        if r.returncode:
            raise RuntimeError(f"the cluster did not come up:\n{r.stderr[-4000:]}")

    def pid(self, daemon: str) -> int:
        return int((self.dir / "run" / f"{daemon}.pid").read_text().split()[0])

    def kubectl(self, *args, stdin: str = None, check: bool = True) -> str:
        r = subprocess.run([need_bed("kubectl"), f"--kubeconfig={self.kubeconfig}", *map(str, args)],
                           input=stdin, capture_output=True, text=True)
        if check and r.returncode:
            raise AssertionError(f"kubectl {' '.join(map(str, args))}: {r.stderr}")
        return r.stdout

    def get(self, *args):
        return json.loads(self.kubectl("get", "-o", "json", *args))

    def namespace(self) -> "Namespace":
        """A fresh namespace, deleted at the end of the `with`."""
        return Namespace(self)

    def stop(self):
        if self._ours:
            subprocess.run([*self._program, "down", "--wipe"], capture_output=True, check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Namespace(str):
    def __new__(cls, cluster):
        return super().__new__(cls, f"test-{uuid.uuid4().hex[:8]}")

    def __init__(self, cluster):
        self.cluster = cluster
        cluster.kubectl("create", "namespace", self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cluster.kubectl("delete", "namespace", self, "--wait=false")
