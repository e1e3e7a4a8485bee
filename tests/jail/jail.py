# SPDX-License-Identifier: Apache-2.0
"""A sandbox of jail_host for a test, and who starts it: root, or an ordinary user."""
import ctypes
import hashlib
import json
import os
import select
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from harness.case import CI
from harness.procs import Process
from harness.sandmux import BIN, REPO

sys.path[:0] = [str(REPO / "tests/conformance"), str(REPO / "tests/local")]
import backend as local  # noqa: E402
import h2raw  # noqa: E402
import rpc  # noqa: E402

BUILD = Path(BIN).parent
PYTHON = "/usr/bin/python3"
ATTACKS = Path(__file__).parent / "attacks.py"
TOKEN = "0123456789abcdef" * 3
TOKEN_SHA256 = hashlib.sha256(TOKEN.encode()).hexdigest()
# an ordinary one, where root runs the tests; of this program alone: the kernel counts the processes of a user
USER = 50000 + 2 * (os.getpid() % 5000)
OWNER_FIRST = 0x70000000  # local/isolation/owner.h
PROGRAMS = ("jail_host", "sandmux", "sandmux-locald", "sandmux-sandboxd", "sandmux-port-proxy")
TIMEOUT = 30

libc = ctypes.CDLL(None, use_errno=True)


class Identity:
    """Who runs the backend. A folder of his own, with copies of the programs where he may not walk to the build."""

    def __init__(self, name, uid):
        self.name, self.uid = name, uid
        self.is_root = uid == 0
        self.home = Path(tempfile.mkdtemp(prefix=f"sandmux-jail-{name}-"))
        self.home.chmod(0o711)
        self._cgroups, self._can_cgroup = [], None
        if os.getuid() != uid:
            self.bin = self.home / "bin"
            self.bin.mkdir()
            for program in PROGRAMS:
                shutil.copy(BUILD / program, self.bin / program)
            shutil.copy(ATTACKS, self.home / "attacks.py")
            self.attacks = self.home / "attacks.py"
            self.give(self.home)
        else:
            self.bin, self.attacks = BUILD, ATTACKS

    def give(self, path):
        """A file or folder becomes his."""
        if os.getuid() != self.uid:
            os.chown(path, self.uid, self.uid)

    def folder(self, prefix):
        path = Path(tempfile.mkdtemp(prefix=prefix + "-", dir=self.home))
        self.give(path)
        return path

    def program(self, path):
        """A script that he may run."""
        if os.getuid() == self.uid:
            return path
        copy = self.bin / path.name
        shutil.copy(path, copy)
        self.give(copy)
        return copy

    def argv(self, argv):
        """As he runs it."""
        if os.getuid() == self.uid:
            return list(map(str, argv))
        return ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups", "--", *map(str, argv)]

    @property
    def env(self):
        return {**{k: v for k, v in os.environ.items() if k not in ("KUBECONFIG", "SANDMUX_LOCAL_DIR") and not k.startswith("XDG_")}, "HOME": str(self.home),
                "XDG_RUNTIME_DIR": str(self.home), "TMPDIR": str(self.home)}

    def cgroup_folders(self):
        """Groups that are his to divide, as systemd delegates them; empty where we may not make any."""
        if self.is_root or self._cgroups or os.getuid() != 0:
            return self._cgroups
        root = Path("/sys/fs/cgroup")
        name = f"sandmux-test-{os.getpid()}"
        v2 = (root / "cgroup.controllers").exists()
        for parent in [root] if v2 else [root / c for c in ("memory", "pids", "cpu") if (root / c).is_dir()]:
            try:
                if v2:
                    (root / "cgroup.subtree_control").write_text("+memory +pids +cpu")
                (parent / name).mkdir()
            except OSError:
                continue
            self._cgroups.append(parent / name)
            for path in (parent / name, *(parent / name / f for f in ("cgroup.procs", "cgroup.subtree_control", "cgroup.threads", "tasks"))):
                if path.exists():
                    self.give(path)
        return self._cgroups

    def can_cgroup(self):
        """Found by trying, once: may a backend of his make groups that hold a sandbox?"""
        if self._can_cgroup is None:
            with Jail(self, cgroup=True, memory=512 << 20, pids=100, cpu_milli=10000) as jail:
                self._can_cgroup = {"memory", "pids"} <= set(jail.cgroups)
            if not self._can_cgroup and CI and os.getuid() == 0:
                raise AssertionError(f"root can make cgroups for everybody, but {self.name}'s sandbox was held by {jail.cgroups} only")
            if not self._can_cgroup:
                print(f"no cgroups for {self.name} on this machine")
        return self._can_cgroup

    def enter_cgroup(self):
        """For preexec_fn: the process begins in the delegated groups."""
        for folder in self._cgroups:
            (folder / "cgroup.procs").write_text(str(os.getpid()))

    def close(self):
        for folder in self._cgroups:
            for below in sorted(folder.glob("**/"), reverse=True):
                try:
                    below.rmdir()
                except OSError:
                    pass
        shutil.rmtree(self.home, ignore_errors=True)


def identity_of(who):
    """"root" or "user"; None where it cannot be: an ordinary user can only be himself."""
    if os.getuid() != 0:
        return Identity("user", os.getuid()) if who == "user" else None
    return Identity(who, 0 if who == "root" else USER)


def parse(line):
    """What attacks.py has printed: is it through, and the sign or the reason."""
    word, _, rest = line.strip().partition(" ")
    if word not in ("through", "refused"):
        raise AssertionError(f"the attack broke: {line!r}")
    return word == "through", rest


def attack_bare(identity, has_capabilities, name, *args):
    """Without any sandbox, as who runs the backend: what the kernel itself says to it. In a sandbox root has no
    capabilities, whatever guards are off."""
    drop = [] if has_capabilities or os.getuid() else ["setpriv", "--bounding-set=-all", "--"]
    r = subprocess.run(identity.argv([*drop, PYTHON, identity.attacks, name, *args]), capture_output=True, text=True, timeout=TIMEOUT, env=identity.env,
                       cwd=identity.home)
    if r.returncode:
        raise AssertionError(f"the attack broke: {r.stdout}{r.stderr}")
    return parse(r.stdout)


def attack_bare_many(identity, rows):
    """[(name, *args), …]: what attack_bare() says of each, in one go. None where the attack broke."""
    r = subprocess.run(identity.argv([PYTHON, identity.attacks, "many", json.dumps([list(map(str, row)) for row in rows])]), capture_output=True,
                       text=True, timeout=4 * TIMEOUT, env=identity.env, cwd=identity.home)
    lines = r.stdout.splitlines()
    if r.returncode or len(lines) != len(rows):
        raise AssertionError(f"the attacks broke: {r.stdout}{r.stderr}")
    return [parse(line) if line else None for line in lines]


def add_session_key(name):
    """For preexec_fn: a session keyring with one key in it."""
    libc.syscall.restype = ctypes.c_long
    add_key, keyctl = (248, 250) if os.uname().machine == "x86_64" else (217, 219)
    if libc.syscall(keyctl, 1, None) < 0 or libc.syscall(add_key, b"user\0", name.encode() + b"\0", b"secret", 6, -3) < 0:
        raise OSError(ctypes.get_errno(), "keyring")


class Jail:
    """One sandbox. off: the guards that are switched off; mode: it has hostile_daemon.py, which does that."""
    _numbers = 0

    def __init__(self, identity, off=(), plain=False, cgroup=False, key=None, daemon=None, mode=None, env=(), **limits):
        Jail._numbers += 1
        number = Jail._numbers
        self.identity, self.off = identity, tuple(off)
        self.workspace = identity.folder("workspace")
        self.host_uid = (OWNER_FIRST + 0x100000 + os.getpid() % 0x8000 * 0x100 + number) if identity.is_root else identity.uid
        shutil.copy(ATTACKS, self.workspace / "attacks.py")
        (self.workspace / "attacks.py").chmod(0o644)
        if mode:
            (self.workspace / "mode").write_text(mode)
            daemon = identity.program(Path(__file__).parent / "hostile_daemon.py")
        self.log = identity.folder("log") / "log"
        argv = [identity.bin / "jail_host", "--address", f"127.77.{os.getpid() % 200}.{number % 250 + 1}", "--token-sha256", TOKEN_SHA256, "--log", self.log]
        argv += [w for guard in off for w in ("--off", guard)] + [w for e in env for w in ("--env", e)]
        argv += [w for name, value in limits.items() for w in ("--" + name.replace("_", "-"), value)]
        argv += ["--plain"] if plain else []
        argv += ["--cgroup", f"sandmux-jail-test-{os.getpid()}-{number}"] if cgroup else []
        argv += ["--host-uid", self.host_uid] if identity.is_root else []
        argv += ["--daemon", daemon or identity.bin / "sandmux-sandboxd"]

        def before():
            if cgroup:
                identity.enter_cgroup()
            if key:
                add_session_key(key)
        if cgroup:
            identity.cgroup_folders()
        self.host = subprocess.Popen(identity.argv([*argv, self.workspace]), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                     env=identity.env, preexec_fn=before)
        line = self._line()
        if not line:
            raise AssertionError(f"no sandbox: {self.host.communicate()[1].decode()}{self.log_text()}")
        told = json.loads(line)
        if "address" not in told:
            raise AssertionError(f"no sandbox: {told} {self.log_text()}")
        self.address, self.rest, self.grpc = told["address"], told["rest"], told["grpc"]
        self.pid, self.daemon, self.cgroups = told["pid"], told["daemon"], told["cgroups"]
        self.has_pids = not plain and "pids" not in off

    def _line(self):
        if not select.select([self.host.stdout], [], [], TIMEOUT)[0]:
            self.close()
            raise AssertionError("jail_host says nothing")
        return self.host.stdout.readline()

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    @property
    def inner_daemon(self):
        """The pid of the daemon, as its jobs see it."""
        return 1 if self.has_pids else self.daemon

    def children(self):
        """Of jail_host: the port proxy and bubblewrap, by name."""
        found = {}
        for pid in Path(f"/proc/{self.host_pid}/task/{self.host_pid}/children").read_text().split():
            found[Path(f"/proc/{pid}/comm").read_text().strip()] = int(pid)
        return found

    @property
    def host_pid(self):
        return self.host.pid

    @property
    def proxy(self):
        return self.children()["sandmux-port-pr"]

    def connect(self):
        return h2raw.Conn(f"{self.address}:{self.grpc}")

    def execute(self, *argv, seconds=TIMEOUT):
        """Exit status, output, errors."""
        with self.connect() as conn:
            a = rpc.unary(conn, "Execute", rpc.execute_request([str(w) for w in argv]), [("authorization", f"Bearer {TOKEN}")], seconds=seconds)
        if a.status != 0:
            raise AssertionError(f"execute: {a!r}\n{self.log_text()}")
        fields = dict(rpc.parse(a.messages[0]))
        return rpc.int32(fields.get(1, 0)), fields.get(2, b"").decode(errors="replace"), fields.get(3, b"").decode(errors="replace")

    def attack(self, name, *args):
        """Is it through, and the sign or the reason."""
        code, out, err = self.execute(PYTHON, "attacks.py", name, *args)
        if code:
            raise AssertionError(f"the attack broke: exit {code}\n{out}{err}")
        return parse(out)

    def attack_many(self, rows):
        """[(name, *args), …]: what attack() says of each, in one go. None where the attack broke."""
        code, out, err = self.execute(PYTHON, "attacks.py", "many", json.dumps([list(map(str, row)) for row in rows]), seconds=4 * TIMEOUT)
        lines = out.splitlines()
        if code or len(lines) != len(rows):
            raise AssertionError(f"the attacks broke: exit {code}\n{out}{err}")
        return [parse(line) if line else None for line in lines]

    def start(self, name, *args):
        """An attack that goes on: an rpc.Process."""
        conn = self.connect()
        return rpc.Process(conn, [PYTHON, "attacks.py", name, *map(str, args)], extra=[("authorization", f"Bearer {TOKEN}")])

    def http(self, method="GET", path="/v1/health", token=None, timeout=TIMEOUT):
        """The status of one request."""
        with socket.create_connection((self.address, self.rest), timeout) as s:
            s.sendall(f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n"
                      f"{f'Authorization: Bearer {token}{chr(13)}{chr(10)}' if token else ''}\r\n".encode())
            words = s.makefile("rb").readline().split()
            return int(words[1]) if len(words) > 1 else 0

    @property
    def is_alive(self):
        return self.host.poll() is None and self.http() == 200

    def ended(self):
        """What jail_host says of its end."""
        return json.loads(self._line())

    def close(self):
        if self.host.poll() is None:
            self.host.stdin.close()
            try:
                self.host.wait(TIMEOUT)
            except subprocess.TimeoutExpired:
                self.host.kill()
                self.host.wait()
        for stream in (self.host.stdout, self.host.stderr, self.host.stdin):
            stream.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Greeter:
    """A listener of the test, in its own network namespace, that greets whoever comes."""

    def __init__(self, family=socket.AF_INET, address=("127.0.0.1", 0), kind=socket.SOCK_STREAM):
        self.socket = socket.socket(family, kind)
        self.socket.bind(address)
        self.kind = kind
        if kind == socket.SOCK_STREAM:
            self.socket.listen(64)
        self.port = self.socket.getsockname()[1] if family != socket.AF_UNIX else 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        try:
            while True:
                if self.kind == socket.SOCK_DGRAM:
                    _, whom = self.socket.recvfrom(64)
                    self.socket.sendto(b"greetings", whom)
                else:
                    client, _ = self.socket.accept()
                    with client:
                        client.sendall(b"greetings\n")
        except OSError:
            pass

    def close(self):
        self.socket.close()


class JailBackend(local.Backend):
    """sandmux-locald with its sandboxes in jails, run by an identity."""

    def __init__(self, identity, *flags, env=None, state=None, **kw):
        self.identity = identity
        super().__init__(state or identity.folder("state"), *flags, isolation="bwrap", env={**identity.env, **(env or {})}, **kw)

    def start(self):
        argv = [self.identity.bin / "sandmux-locald", "--state-dir", self.state, "--stderr", *self.flags]
        self.proc = Process(self.identity.argv(argv), env=self.env, ready=self._serves, timeout=TIMEOUT)
        self.token = (self.state / "token").read_text()
        self.headers = {"Authorization": f"Bearer {self.token}"}
        self.context = ssl.create_default_context(cafile=str(self.state / "tls/ca.pem"))
        return self

    def pod(self, name):
        return self.object(f"{local.PODS}/{name}") or {}

    def workspace(self, name):
        """The host's folder of a pod's volume."""
        volume = next(v for v in self.pod(name)["spec"]["volumes"] if "persistentVolumeClaim" in v)
        claim = self.object(f"/api/v1/namespaces/default/persistentvolumeclaims/{volume['persistentVolumeClaim']['claimName']}")
        return self.state / "volumes" / claim["metadata"]["uid"]
