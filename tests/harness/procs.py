# SPDX-License-Identifier: Apache-2.0
"""Servers for tests: started on free loopback ports, waited for, logged, and
stopped by process group, also when the test itself dies."""
import atexit
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from .bed import need_bed
from .screen import TIMEOUT

_taken = []


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on now, and that is this program's as long as it runs: below those that the kernel
    gives to whoever asks for any, and no other program of tests gets it, for a name says that it is taken."""
    while True:
        port = random.randrange(20000, 32000)
        name = socket.socket(socket.AF_UNIX)
        try:
            name.bind(f"\0sandmux-test-port-{port}")
            with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as s:
                s.bind((host, port))
        except OSError:
            name.close()
            continue
        _taken.append(name)
        return port


def listens(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), 1).close()
        return True
    except OSError:
        return False


def http_ok(url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=2) as r:
            return r.status == 200
    except OSError:
        return False


class Process:
    """A program in a process group of its own. `ready` is polled until it is true."""

    def __init__(self, argv, ready=None, env=None, cwd=None, name=None, timeout=None):
        self.argv = [str(a) for a in argv]
        self.name = name or Path(self.argv[0]).name
        self._log = tempfile.NamedTemporaryFile(prefix=self.name + "-", suffix=".log")
        # The program gets SIGTERM when this process dies before it stops it, and is not
        # started at all when that has happened before the signal was asked for. The programs of that are found whatever
        # PATH is in env.
        self.proc = subprocess.Popen([shutil.which("setpriv"), "--pdeathsig", "TERM", "--", "/bin/sh", "-c",
                                      '[ "$PPID" = "$0" ] && exec "$@"', str(os.getpid()), *self.argv],
                                     stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log, cwd=cwd,
                                     start_new_session=True, env={**os.environ, **(env or {})})
        self.pid = self.proc.pid
        atexit.register(self.stop)
        end = time.monotonic() + (timeout or TIMEOUT)
        while ready and not ready():
            if self.proc.poll() is not None or time.monotonic() > end:
                log, rc = self.log(), self.proc.poll()
                self.stop()
                raise RuntimeError(f"{self.name} {'did not get ready' if rc is None else f'ended with {rc}'}:\n{log[-4000:]}")
            time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def log(self) -> str:
        return Path(self._log.name).read_text(errors="replace")

    @property
    def alive(self) -> bool:
        return self.proc.poll() is None

    def signal(self, sig: int):
        os.killpg(self.pid, sig)

    def stop(self, timeout: float = 5) -> int:
        """SIGTERM, then SIGKILL, to the whole group. Its exit status. Safe to call again."""
        atexit.unregister(self.stop)
        for sig in (signal.SIGTERM, signal.SIGKILL):
            if self.proc.returncode is not None:
                break
            try:
                os.killpg(self.pid, sig)
                self.proc.wait(timeout)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass
        rc = self.proc.wait()
        self._log.close()
        return rc


class RealSandboxd:
    """The real sandboxd on 127.0.0.1, or with listen_host sandboxd-listen on that address.

    rest_url, grpc ("host:port"), root (a fresh directory unless given), log()."""

    def __init__(self, listen_host: str = None, root=None, env=None, args=()):
        self.host = listen_host or "127.0.0.1"
        self._temp = None if root else tempfile.mkdtemp(prefix="sandboxd-root-")
        self.root = Path(root or self._temp)
        self._argv = [need_bed("sandboxd-listen" if listen_host else "sandboxd")]
        if listen_host:
            self._argv.append(f"--listen-host={listen_host}")
        self._argv += [f"--root-dir={self.root}", "--shutdown-timeout=100ms", *args]  # which it always waits out
        self._env = env
        self.proc = None
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self):
        """Starts it (again, after stop_daemon or a crash) on new ports."""
        for attempt in range(3):
            rest, grpc = free_port(self.host), free_port(self.host)
            netloc = f"[{self.host}]" if ":" in self.host else self.host
            self.rest_url, self.grpc = f"http://{netloc}:{rest}", f"{netloc}:{grpc}"
            try:
                self.proc = Process([*self._argv, f"--rest-port={rest}", f"--grpc-port={grpc}"], env=self._env,
                                    ready=lambda: http_ok(self.rest_url + "/v1/health") and listens(self.host, grpc))
                return self
            except RuntimeError as e:
                if "address already in use" not in str(e) or attempt == 2:
                    raise

    @property
    def pid(self) -> int:
        return self.proc.pid

    def log(self) -> str:
        return self.proc.log()

    def stop_daemon(self):
        if self.proc:
            self.proc.stop()

    def stop(self):
        self.stop_daemon()
        if self._temp:
            shutil.rmtree(self._temp, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
