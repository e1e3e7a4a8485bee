# SPDX-License-Identifier: Apache-2.0
"""One cluster's folder: its settings, its daemons by pid, its certificates."""
import base64
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import time
from functools import lru_cache
from pathlib import Path

BED = Path(__file__).resolve().parent.parent
PORTS = ("etcd", "etcd_peer", "api", "kcm", "scheduler", "kubelet", "kubelet_health", "controller_probe")


def say(text):
    print(f"cluster: {text}", file=sys.stderr, flush=True)


def sh(*argv, stdin=None, check=True, **kw):
    """Runs a command; its output, or an error that shows its stderr."""
    r = subprocess.run([str(a) for a in argv], input=stdin, capture_output=True, text=True, **kw)
    if check and r.returncode:
        raise SystemExit(f"cluster: {' '.join(map(str, argv))}: exit {r.returncode}\n{r.stdout}{r.stderr}")
    return r.stdout


def build(*names):
    if subprocess.run([BED / "build.sh", *names], stdout=subprocess.DEVNULL).returncode:
        raise SystemExit(1)


@lru_cache(maxsize=None)
def bed(*names):
    """The paths of components (tests/bed)."""
    return sh(BED / "env.sh", *names).split()


def wait_for(what, check, seconds=60, hint=""):
    end = time.monotonic() + seconds
    while not check():
        if time.monotonic() > end:
            raise SystemExit(f"cluster: {what} did not come up{hint}")
        time.sleep(0.1)


def free_ports(n):
    """Below those that the kernel gives to whoever asks for any: a server that starts again finds its port free."""
    ports = []
    while len(ports) < n:
        port = random.randrange(12000, 20000)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        if port not in ports:
            ports.append(port)
    return ports


def start_time(pid):
    """What tells a process from a later one with the same number; None when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


class Cluster:
    def __init__(self, folder):
        self.dir = Path(folder).resolve()
        self.pki, self.logs, self.run = self.dir / "pki", self.dir / "log", self.dir / "run"
        self.settings = self.dir / "settings.json"

    def open(self, node):
        """Makes the folder, or takes it as it was: the ports stay."""
        for d in (self.pki, self.logs, self.run):
            d.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self.settings.exists():
            ports = dict(zip(PORTS, free_ports(len(PORTS))))
            self.settings.write_text(json.dumps({"ports": ports, "token": secrets.token_hex(24), "node": False}))
        self.load()
        if node and not self.node:
            self.data["node"] = True
            self.settings.write_text(json.dumps(self.data))
        return self

    def load(self):
        self.data = json.loads(self.settings.read_text())
        return self

    @property
    def node(self):
        return self.data["node"]

    @property
    def ports(self):
        return self.data["ports"]

    @property
    def api(self):
        return f"https://127.0.0.1:{self.ports['api']}"

    @property
    def kubeconfig(self):
        return self.dir / "kubeconfig"

    def kubectl(self, *argv, **kw):
        return sh(bed("kubectl")[0], f"--kubeconfig={self.kubeconfig}", *argv, **kw)

    def kubectl_ok(self, *argv):
        r = subprocess.run([bed("kubectl")[0], f"--kubeconfig={self.kubeconfig}", *argv], capture_output=True, text=True)
        return r.returncode == 0 and (r.stdout or True)

    # --- daemons ------------------------------------------------------------
    def pid(self, name):
        """The pid of a daemon that runs and is ours, else None."""
        try:
            pid, started = (self.run / f"{name}.pid").read_text().split()
        except (OSError, ValueError):
            return None
        return int(pid) if start_time(pid) == started else None

    def start(self, name, *argv):
        if self.pid(name):
            return
        say(f"starting {name}")
        env = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        with open(self.logs / f"{name}.log", "ab") as log:
            p = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                 env=env, cwd="/", start_new_session=True)
        (self.run / f"{name}.pid").write_text(f"{p.pid} {start_time(p.pid)}")
        p.returncode = 0  # it outlives us: no warning about a child not waited for

    def stop(self, name, seconds=10):
        pid = self.pid(name)
        if pid:
            say(f"stopping {name}")
            for sig, wait in ((signal.SIGTERM, seconds), (signal.SIGKILL, 5)):
                os.kill(pid, sig)
                end = time.monotonic() + wait
                while self.pid(name) and time.monotonic() < end:
                    time.sleep(0.05)
                if not self.pid(name):
                    break
        (self.run / f"{name}.pid").unlink(missing_ok=True)

    # --- certificates ---------------------------------------------------------
    def certificate(self, name, subject, san=None):
        """A key and a certificate by the cluster's own authority; the first made is the authority."""
        crt = self.pki / f"{name}.crt"
        if crt.exists():
            return
        argv = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650",
                "-subj", subject, "-keyout", self.pki / f"{name}.key", "-out", f"{crt}.part"]
        if name == "ca":
            argv += ["-addext", "keyUsage=critical,keyCertSign,cRLSign,digitalSignature"]
        else:
            argv += ["-CA", self.pki / "ca.crt", "-CAkey", self.pki / "ca.key", "-addext", "basicConstraints=critical,CA:FALSE",
                     "-addext", "keyUsage=critical,digitalSignature", "-addext", "extendedKeyUsage=serverAuth,clientAuth"]
            if san:
                argv += ["-addext", f"subjectAltName={san}"]
        sh(*argv)
        Path(f"{crt}.part").rename(crt)

    def kubeconfig_for(self, path, user, certificate=None, token=None):
        def data(f):
            return base64.b64encode((self.pki / f).read_bytes()).decode()
        auth = {"token": token} if token else {"client-certificate-data": data(f"{certificate}.crt"),
                                               "client-key-data": data(f"{certificate}.key")}
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "bed",
            "clusters": [{"name": "bed", "cluster": {"server": self.api, "certificate-authority-data": data("ca.crt")}}],
            "users": [{"name": user, "user": auth}],
            "contexts": [{"name": "bed", "context": {"cluster": "bed", "user": user, "namespace": "default"}}]}, indent=1))
        path.chmod(0o600)
