# SPDX-License-Identifier: Apache-2.0
"""The bed tested with the official client: a whole cluster, claims, and both ways to a pod.

  tests/bed/build.sh default control-plane node && scripts/setup.sh --cluster
  python3 tests/bed/selftest.py
"""
import json
import os
import signal
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from harness import Case, RealCluster, bed_path, main
from harness.cluster import PROGRAM, node_impossible

CLIENT = """
import sys
from k8s_agent_sandbox import SandboxClient
from k8s_agent_sandbox.models import SandboxdInClusterConnectionConfig, SandboxdPodTunnelConnectionConfig
pool, way = sys.argv[1:]
config = SandboxdPodTunnelConnectionConfig() if way == "tunnel" else SandboxdInClusterConnectionConfig(mode="in-cluster-pod-ip")
sandbox = SandboxClient(connection_config=config).create_sandbox(warmpool=pool, namespace="default")
try:
    r = sandbox.commands.run("id -un; echo $SANDBOX_KIND; echo err >&2; exit 3")
    assert (r.stdout, r.stderr, r.exit_code) == (f"agent\\n{pool}\\n", "err\\n", 3), r
    sandbox.files.write("a.txt", "hello")
    assert sandbox.files.read("a.txt") == b"hello"
    assert [e.name for e in sandbox.files.list("")] == ["a.txt"]
finally:
    sandbox.terminate()
"""


class ClusterTest(Case):
    @classmethod
    def setUpClass(cls):
        parts = "etcd", "kube-apiserver", "kube-controller-manager", "agent-sandbox-controller", "kubelet", "kube-scheduler", "kubectl"
        cls.why = node_impossible() or next((f"{p} is not built" for p in parts if not bed_path(p)), None)
        if not cls.why:
            cls.cluster = RealCluster(node=True)
            cls.addClassCleanup(cls.cluster.stop)

    def setUp(self):
        self.need(not self.why, self.why)

    def client(self, pool, way):
        self.need_bed("python")
        env = {**os.environ, "KUBECONFIG": self.cluster.kubeconfig,
               "PATH": os.path.dirname(bed_path("kubectl")) + ":" + os.environ["PATH"]}
        r = subprocess.run([bed_path("python"), "-c", CLIENT, pool, way], env=env, capture_output=True, text=True, timeout=120)
        self.assertEqual(r.returncode, 0, r.stderr)

    def test_warm_claim_by_tunnel(self):
        self.client("ready", "tunnel")

    def test_warm_claim_by_pod_ip(self):
        self.client("ready", "pod-ip")

    def test_released_daemon_by_tunnel(self):
        self.client("loopback", "tunnel")

    def test_rights_are_checked(self):
        c = self.cluster
        with c.namespace() as ns:
            c.kubectl("create", "serviceaccount", "small", "-n", ns)
            token = c.kubectl("create", "token", "small", "-n", ns).strip()
            request = urllib.request.Request(f"{c.api}/api/v1/namespaces/{ns}/pods", headers={"Authorization": f"Bearer {token}"})
            with self.assertRaises(urllib.error.HTTPError) as e:
                urllib.request.urlopen(request, context=ssl.create_default_context(cafile=c.ca))
            self.assertEqual(e.exception.code, 403)
            self.assertEqual(json.load(e.exception)["reason"], "Forbidden")
            e.exception.close()

    def test_zz_recovers_from_kill(self):
        status = subprocess.run([*PROGRAM, "status"], capture_output=True, text=True, check=True).stdout
        for line in status.splitlines():
            os.kill(int(line.split()[1]), signal.SIGKILL)
        subprocess.run([*PROGRAM, "up", "--no-build"], check=True, capture_output=True, timeout=120)
        self.client("ready", "pod-ip")


if __name__ == "__main__":
    main()
