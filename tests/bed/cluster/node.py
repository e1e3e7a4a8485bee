# SPDX-License-Identifier: Apache-2.0
"""One node: scheduler, containerd, kubelet, and a bridge of its own. Needs root and
the packages of scripts/setup.sh --cluster."""
import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

import images
from control import NODE, NODE_IP, POD_FIRST, POD_NET, SERVICE_NET
from state import Cluster, bed, say, sh, wait_for

BRIDGE = "sandmux-bed0"
OWNER = Path("/run/sandmux-bed.node")  # the folder of the cluster whose node this machine is
CNI = "/usr/lib/cni"
# What a kubelet sets in the kernel; put back on the way down.
SYSCTLS = ("vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops",
           "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes")


def impossible():
    """Why this machine cannot be a node, or None."""
    if os.geteuid() != 0:
        return "a node needs root"
    missing = [p for p in ("containerd", "ctr", "runc", "ip", "busybox") if not shutil.which(p)]
    missing += [] if os.path.exists(f"{CNI}/bridge") else [f"{CNI}/bridge"]
    return f"missing {', '.join(missing)}: scripts/setup.sh --cluster" if missing else None


def take_machine(c):
    owner = Path(OWNER.read_text()) if OWNER.exists() else c.dir
    if owner != c.dir and Cluster(owner).pid("kubelet"):
        raise SystemExit(f"cluster: {owner} has a node here already, and only one fits on a machine")
    OWNER.write_text(str(c.dir))


def socket_of(c):
    return c.run / "containerd.sock"


def ctr(c, *argv, **kw):
    return sh("ctr", "--address", socket_of(c), "-n", "k8s.io", *argv, **kw)


def network(c):
    # The bridge holds the node's address, so that host and pods reach each other.
    # Pods get no default route: nothing leaves this machine.
    if not os.path.exists(f"/sys/class/net/{BRIDGE}"):
        sh("ip", "link", "add", BRIDGE, "type", "bridge")
        sh("ip", "addr", "add", f"{NODE_IP}/{POD_NET.split('/')[1]}", "dev", BRIDGE)
        sh("ip", "link", "set", BRIDGE, "up")
        sh("ip", "route", "replace", "blackhole", SERVICE_NET)
    (c.dir / "cni").mkdir(exist_ok=True)
    (c.dir / "cni/bed.conflist").write_text(json.dumps({"cniVersion": "0.4.0", "name": "bed", "plugins": [
        {"type": "bridge", "bridge": BRIDGE, "hairpinMode": True,
         "ipam": {"type": "host-local", "ranges": [[{"subnet": POD_NET, "rangeStart": POD_FIRST}]], "dataDir": f"{c.dir}/cni-state"}},
        {"type": "loopback"}]}))


def start_containerd(c):
    config = c.dir / "containerd.toml"
    config.write_text(f"""version = 2
root = "{c.dir}/containerd"
state = "{c.run}/containerd"
[grpc]
  address = "{socket_of(c)}"
[plugins."io.containerd.internal.v1.opt"]
  path = "{c.dir}/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:bed"
  disable_hugetlb_controller = true
  # Without CAP_SYS_RESOURCE nothing may lower its out-of-memory score.
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{CNI}"
    conf_dir = "{c.dir}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
""")
    c.start("containerd", "containerd", "--config", config)
    wait_for("containerd", lambda: socket_of(c).exists() and subprocess.run(
        ["ctr", "--address", socket_of(c), "version"], capture_output=True).returncode == 0, 30, f"; see {c.logs}/containerd.log")
    programs = bed("sandboxd", "sandboxd-listen", "sandbox-router")
    # The folders of the components are named by their versions.
    stamp, wanted = c.dir / "containerd/images", "\n".join(programs)
    if not stamp.exists() or stamp.read_text() != wanted:
        say("making the images")
        images.write(c.dir / "images.tar", programs)
        ctr(c, "images", "import", c.dir / "images.tar")
        (c.dir / "images.tar").unlink()
        stamp.write_text(wanted)


def start_kubelet(c):
    scheduler, kubelet = bed("kube-scheduler", "kubelet")
    auth = c.pki / "scheduler.kubeconfig"
    c.start("kube-scheduler", scheduler, f"--kubeconfig={auth}", f"--authentication-kubeconfig={auth}",
            f"--authorization-kubeconfig={auth}", "--bind-address=127.0.0.1", f"--secure-port={c.ports['scheduler']}", "--leader-elect=false")
    if not (c.dir / "sysctl.json").exists():
        now = {f: Path("/proc/sys", f).read_text() for f in SYSCTLS if os.path.exists(f"/proc/sys/{f}")}
        (c.dir / "sysctl.json").write_text(json.dumps(now))
    (c.dir / "pod-logs").mkdir(exist_ok=True)
    config = c.dir / "kubelet.json"
    config.write_text(json.dumps({
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "address": NODE_IP, "port": c.ports["kubelet"], "healthzPort": c.ports["kubelet_health"], "healthzBindAddress": "127.0.0.1",
        "tlsCertFile": f"{c.pki}/kubelet.crt", "tlsPrivateKeyFile": f"{c.pki}/kubelet.key",
        "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True}, "x509": {"clientCAFile": f"{c.pki}/ca.crt"}},
        "authorization": {"mode": "Webhook"}, "containerRuntimeEndpoint": f"unix://{socket_of(c)}",
        "cgroupDriver": "cgroupfs", "failCgroupV1": False, "enforceNodeAllocatable": [], "makeIPTablesUtilChains": False,
        "failSwapOn": False, "localStorageCapacityIsolation": False, "imageGCHighThresholdPercent": 100, "resolvConf": "",
        "evictionHard": {"memory.available": "50Mi", "nodefs.available": "0%", "nodefs.inodesFree": "0%", "imagefs.available": "0%"},
        "podLogsDir": f"{c.dir}/pod-logs", "syncFrequency": "5s", "nodeStatusUpdateFrequency": "5s"}))
    c.start("kubelet", kubelet, f"--config={config}", f"--kubeconfig={c.pki}/kubelet.kubeconfig", f"--root-dir={c.dir}/kubelet",
            f"--cert-dir={c.pki}", f"--hostname-override={NODE}", f"--node-ip={NODE_IP}")
    wait_for("the node", lambda: c.kubectl_ok("wait", "--for=condition=Ready", f"node/{NODE}", "--timeout=1s"), 90,
             f"; see {c.logs}/kubelet.log")


def pool_ready(c):
    return c.kubectl("get", "sandboxwarmpool", "ready", "-o", "jsonpath={.status.readyReplicas}") == "1"


def stop(c):
    """Ends kubelet, pods and containerd, and removes what they left on the machine."""
    if not OWNER.exists() or OWNER.read_text() != str(c.dir):
        return
    c.stop("kubelet")
    if c.pid("containerd"):
        for task in ctr(c, "tasks", "ls", "-q", check=False).split():
            ctr(c, "tasks", "rm", "-f", task, check=False)
        for container in ctr(c, "containers", "ls", "-q", check=False).split():
            ctr(c, "containers", "rm", container, check=False)
    c.stop("kube-scheduler")
    c.stop("containerd")
    for mount in sorted((line.split()[1] for line in open("/proc/mounts") if line.split()[1].startswith(f"{c.dir}/")), reverse=True):
        sh("umount", "-l", mount, check=False)
    ours = NODE_IP.rpartition(".")[0]
    for name in sh("ip", "netns", "list", check=False).split("\n"):
        name = name.split(" ")[0]
        if name.startswith("cni-") and f"inet {ours}." in sh("ip", "netns", "exec", name, "ip", "-4", "addr", check=False):
            sh("ip", "netns", "del", name, check=False)
    if os.path.exists(f"/sys/class/net/{BRIDGE}"):
        sh("ip", "link", "del", BRIDGE, check=False)
        sh("ip", "route", "del", "blackhole", SERVICE_NET, check=False)
    for top in (*Path("/sys/fs/cgroup").glob("*/kubepods"), *Path("/sys/fs/cgroup").glob("kubepods")):
        if stat.S_ISDIR(top.lstat().st_mode):
            for d, _, _ in os.walk(top, topdown=False):
                try:
                    os.rmdir(d)
                except OSError:
                    pass
    for link in Path("/var/log/containers").glob("*"):
        if link.is_symlink() and os.readlink(link).startswith(f"{c.dir}/"):
            link.unlink()
    shutil.rmtree(c.dir / "cni-state", ignore_errors=True)
    if (c.dir / "sysctl.json").exists():
        for f, value in json.loads((c.dir / "sysctl.json").read_text()).items():
            Path("/proc/sys", f).write_text(value)
        (c.dir / "sysctl.json").unlink()
    OWNER.unlink()
