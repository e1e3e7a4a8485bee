# SPDX-License-Identifier: Apache-2.0
"""What only sandmux-sandboxd has or does: tokens, passed-in sockets, an orderly end, death with
its parent, full disks, races with links, bounded memory."""
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import h2raw  # noqa: E402
import rpc  # noqa: E402
from harness.case import Case, main  # noqa: E402
from http1 import Conn, raw_request, request  # noqa: E402

PROGRAM = Path(os.environ.get("SANDMUX_BIN", "build/debug/bin/sandmux")).parent / "sandmux-sandboxd"
TOKEN = "s3cret-token"


class Daemon:
    """Started on free ports; waits for the line that says which."""

    def __init__(self, root, *args, wrap=(), **kw):
        self.proc = subprocess.Popen([*wrap, str(PROGRAM), f"--root-dir={root}", "--rest-port=0", "--grpc-port=0", *args],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **kw)
        line = self.proc.stdout.readline()
        if not line:
            raise RuntimeError(self.proc.stderr.read())
        self.rest, self.grpc = (part.split("=")[1] for part in line.split())

    def end(self, number=signal.SIGTERM, timeout=15):
        """Exit status; stderr is in self.errors."""
        if self.proc.poll() is None:
            self.proc.send_signal(number)
        try:
            _, self.errors = self.proc.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.proc.kill()
            _, self.errors = self.proc.communicate()
        return self.proc.returncode


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def wait_for(what, seconds=10):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(0.02)
    return what()


def number_in(path):
    try:
        return int(Path(path).read_text())
    except (OSError, ValueError):
        return 0


class DaemonTest(Case):
    def start(self, *args, **kw):
        d = Daemon(kw.pop("root", self.tmp), *args, **kw)
        expected = -signal.SIGTERM if "wrap" in kw else 0  # a wrapper dies of the signal, and the daemon with it
        self.addCleanup(lambda: self.assertEqual(d.end(), expected, getattr(d, "errors", "")) if d.proc.poll() is None else None)
        return d

    def test_token_is_wanted_everywhere_but_for_health(self):
        hashed = hashlib.sha256(TOKEN.encode()).hexdigest()
        (self.tmp / "token").write_text(TOKEN + "\n")
        for option in (f"--auth-token-sha256={hashed}", f"--auth-token-sha256={hashed.upper()}",
                       f"--auth-token-file={self.tmp / 'token'}"):
            d = self.start(option)
            good, bad = [("Authorization", f"Bearer {TOKEN}")], [[], [("Authorization", "Bearer wrong")], [("Authorization", "Bearer ")],
                                                                  [("Authorization", TOKEN)], [("Authorization", f"Basic {TOKEN}")],
                                                                  [("Authorization", f"Bearer {TOKEN}x")]]
            self.assertEqual(request(d.rest, "GET", "/v1/health").status, 200)
            for method, target in (("GET", "/v1/metadata"), ("GET", "/v1/files/"), ("PUT", "/v1/files/x"), ("DELETE", "/v1/files/x"),
                                   ("GET", "/v1/files"), ("GET", "/v1/files/a/../b")):
                for headers in bad:
                    r = request(d.rest, method, target, headers, b"x" if method == "PUT" else b"")
                    self.assertEqual((r.status, json.loads(r.body)["code"], r.get("www-authenticate")),
                                     (401, "UNAUTHENTICATED", "Bearer"))
            self.assertFalse((self.tmp / "x").exists())
            self.assertEqual(request(d.rest, "GET", "/v1/metadata", good).status, 200)
            with h2raw.Conn(d.grpc) as c:
                for headers in bad:
                    a = rpc.unary(c, "Execute", rpc.execute_request(["true"]), extra=[(n.lower(), v) for n, v in headers])
                    self.assertEqual((a.status, a.trailers_only), (16, True))
                a = rpc.unary(c, "Execute", rpc.execute_request(["echo", "hi"]), extra=[("authorization", f"bearer {TOKEN}")])
                self.assertEqual(a.status, 0)
            self.assertEqual(d.end(), 0, d.errors)
            self.assertNotIn(TOKEN, d.errors)

    def test_sockets_are_passed_in(self):
        rest, grpc = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
        proc = subprocess.Popen([PROGRAM, f"--root-dir={self.tmp}", f"--rest-fd={rest.fileno()}", f"--grpc-fd={grpc.fileno()}"],
                                pass_fds=(rest.fileno(), grpc.fileno()))
        try:
            address = "127.0.0.1:%d" % rest.getsockname()[1]
            self.assertEqual(request(address, "GET", "/v1/health").status, 200)  # waited in the backlog
            with h2raw.Conn("127.0.0.1:%d" % grpc.getsockname()[1]) as c:
                self.assertEqual(rpc.execute(c, ["sh", "-c", "ls /proc/self/fd | tr '\\n' ' '"]).out, b"0 1 2 3 ")  # 3 is ls itself
        finally:
            proc.terminate()
            self.assertEqual(proc.wait(10), 0)
            rest.close()
            grpc.close()

    def test_wrong_options(self):
        for args in (["--rest-fd=3"], ["--rest-port=x"], ["--rest-port=70000"], ["--auth-token-sha256=abc"], ["--no-such"], ["extra"],
                     ["--shutdown-timeout=soon"], [f"--root-dir={__file__}"], [f"--root-dir={self.tmp}", "--listen-host=300.1.1.1"],
                     [f"--root-dir={self.tmp}", f"--auth-token-file={self.tmp}/none"]):
            r = subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=10)
            self.assertIn(r.returncode, (1, 2), args)
            self.assertTrue(r.stderr, args)
            self.assertNotIn("AddressSanitizer", r.stderr)

    def test_term_ends_in_order(self):
        d = self.start()
        with h2raw.Conn(d.grpc) as c, Conn(d.rest) as idle:
            idle.send(raw_request("GET", "/v1/health"))
            self.assertEqual(idle.read().status, 200)
            stubborn = rpc.Process(c, ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done"])
            polite = rpc.Process(c, ["sh", "-c", "trap 'echo bye; exit 4' TERM; echo ready; while :; do sleep 0.1; done"])
            stubborn.wait_out(b"ready")
            polite.wait_out(b"ready")
            start = time.monotonic()
            d.proc.send_signal(signal.SIGTERM)
            polite.wait()
            self.assertEqual((polite.exit, polite.out), (4, b"ready\nbye\n"))
            idle.send(raw_request("GET", "/v1/health"))
            r = idle.read()
            self.assertEqual((r.status, json.loads(r.body)), (503, {"code": "UNAVAILABLE", "message": "sandboxd is shutting down"}))
            stubborn.wait()
            self.assertEqual(stubborn.exit, -1)
            self.assertEqual(d.proc.wait(10), 0)
            self.assertLess(abs(time.monotonic() - start - 2), 1.5)
            self.assertTrue(c.goaways)
            self.assertEqual((c.goaways[0][0], c.goaways[-1][1]), (2147483647, 0))
        self.assertEqual(d.end(), 0, d.errors)

    def test_term_without_processes_is_quick(self):
        d = self.start()
        with h2raw.Conn(d.grpc), Conn(d.rest):
            start = time.monotonic()
            self.assertEqual(d.end(), 0, d.errors)
            self.assertLess(time.monotonic() - start, 1.5)

    def test_term_is_bounded(self):
        d = self.start("--shutdown-timeout=1s")
        with Conn(d.rest) as c:
            c.send(raw_request("PUT", "/v1/files/slow", [("Content-Length", "100")]) + b"x")
            wait_for(lambda: list(self.tmp.glob(".sandboxd-tmp-*")))
            self.assertEqual(d.end(timeout=5), 0, d.errors)
        self.assertEqual(list(self.tmp.iterdir()), [])

    def test_a_killed_daemon_s_uploads_are_swept(self):
        def temps():
            return sorted(p.relative_to(self.tmp).as_posix() for p in self.tmp.rglob(".sandboxd-tmp-*"))
        d = self.start()
        with Conn(d.rest) as c, Conn(d.rest) as deep:
            c.send(raw_request("PUT", "/v1/files/slow", [("Content-Length", "100")]) + b"x")
            deep.send(raw_request("PUT", "/v1/files/a/b/slow", [("Content-Length", "100")]) + b"x")
            self.assertTrue(wait_for(lambda: len(temps()) == 2))
            d.end(signal.SIGKILL)
        kept = [".sandboxd-tmp-1", ".sandboxd-tmp-0123456789abcdeX", ".sandboxd-tmp-0123456789abcdef0"]
        for name in kept:
            (self.tmp / name).write_text("no upload of ours")
        other = self.start()  # of another pod on the same volume, in the middle of an upload
        self.assertTrue(wait_for(lambda: temps() == sorted(kept)), temps())
        with Conn(other.rest) as c:
            c.send(raw_request("PUT", "/v1/files/live", [("Content-Length", "2")]) + b"x")
            self.assertTrue(wait_for(lambda: len(temps()) == len(kept) + 1))
            os.mkfifo(self.tmp / ".sandboxd-tmp-00000000000000aa")  # opening it would block for ever
            (self.tmp / ".sandboxd-tmp-00000000000000bb").write_text("dead")
            d = self.start()
            self.assertTrue(wait_for(lambda: not (self.tmp / ".sandboxd-tmp-00000000000000bb").exists()))
            c.send(b"y")
            self.assertEqual(c.read().status, 204)
        self.assertEqual((self.tmp / "live").read_bytes(), b"xy")
        self.assertEqual(d.end(), 0, d.errors)
        self.assertEqual(other.end(), 0, other.errors)

    def test_no_web_page_without_a_token(self):
        d = self.start()
        (self.tmp / "f").write_text("x")

        def status(host, daemon=d, **kw):
            with Conn(daemon.rest) as c:
                c.send(f"GET /v1/files/f HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
                return c.read().status
        for host in ("127.0.0.1", d.rest, "127.64.3.2:8080", "localhost:1", "LOCALHOST", "[::1]:80", "sandbox", "x.localhost",
                     "c1.default.svc", "c1.default.svc.cluster.local:8080"):
            self.assertEqual(status(host), 200, host)
        for host in ("evil.example.com", "evil.example.com:8080", "127.0.0.1.evil.example", "svc", ".svc", "localhost.evil.example", "a.b" * 200):
            self.assertEqual(status(host), 200 if host == "svc" else 421, host)
        token = self.start(f"--auth-token-sha256={hashlib.sha256(TOKEN.encode()).hexdigest()}")
        self.assertEqual(status("evil.example.com", token), 401)  # the token is what a page lacks

    def test_dies_with_its_parent(self):
        script = "import subprocess,sys,time\np=subprocess.Popen(sys.argv[1:],stdout=subprocess.PIPE,text=True)\n" \
                 "print(p.pid,p.stdout.readline(),flush=True)\ntime.sleep(100)"
        parent = subprocess.Popen([sys.executable, "-c", script, str(PROGRAM), f"--root-dir={self.tmp}", "--rest-port=0", "--grpc-port=0"],
                                  stdout=subprocess.PIPE, text=True)
        pid, _, grpc = parent.stdout.readline().split()
        with h2raw.Conn(grpc.split("=")[1]) as c:
            rpc.Process(c, ["sh", "-c", "echo $$ > pid; exec sleep 100"])
            child = wait_for(lambda: number_in(self.tmp / "pid"))
            parent.kill()
            parent.wait()
            parent.stdout.close()
            self.assertTrue(wait_for(lambda: not alive(pid)))
            self.assertTrue(wait_for(lambda: not alive(child)))

    def test_its_programs_die_when_it_is_killed(self):
        d = self.start()
        with h2raw.Conn(d.grpc) as c:
            rpc.Process(c, ["sh", "-c", "echo $$ > pid; exec sleep 100"])
            child = wait_for(lambda: number_in(self.tmp / "pid"))
            d.end(signal.SIGKILL)
            self.assertTrue(wait_for(lambda: not alive(child)))

    def test_limits_reach_the_programs(self):
        d = self.start("--limit-open-files=77", "--limit-file-size=1000000", "--limit-address-space=4000000000", "--limit-data=1024000000",
                       "--limit-processes=5000")
        with h2raw.Conn(d.grpc) as c:
            a = rpc.execute(c, ["sh", "-c", "ulimit -n; ulimit -f; ulimit -v; ulimit -d; head -c 2000000 /dev/zero > big; stat -c %s big"])
            self.assertEqual(a.out.split()[0], b"77")
            self.assertEqual(a.out.split()[2:], [b"3906250", b"1000000", b"1000000"])

    def test_disk_full(self):
        self.need(shutil.which("bwrap"), "bubblewrap is not installed")
        wrap = ["bwrap", "--die-with-parent", "--dev-bind", "/", "/", "--size", "2000000", "--tmpfs", str(self.tmp), "--"]
        probe = subprocess.run([*wrap, "true"], capture_output=True)
        self.need(probe.returncode == 0, "bubblewrap cannot make a small disk here: " + probe.stderr.decode())
        d = self.start(wrap=wrap)
        self.assertEqual(request(d.rest, "PUT", "/v1/files/a", body=b"a" * 1000).status, 204)
        with Conn(d.rest) as c:  # endless: the answer must come before the end
            c.send(raw_request("PUT", "/v1/files/big", [("Content-Length", str(1 << 40))]))
            try:
                for _ in range(200):
                    c.send(b"x" * 65536)
            except OSError:
                pass
            r = c.read()
            self.assertEqual((r.status, r.get("connection")), (500, "close"))
            message = json.loads(r.body)["message"]
            self.assertTrue(message.startswith("failed to write file contents: write /"), message)
            self.assertTrue(message.endswith(": no space left on device"), message)
        names = [e["name"] for e in json.loads(request(d.rest, "GET", "/v1/files/").body)["entries"]]
        self.assertEqual(names, ["a"])
        self.assertEqual(request(d.rest, "PUT", "/v1/files/b", body=b"b" * 1000).status, 204)

    def test_links_that_change_meanwhile(self):
        """A folder and a link out of the root change places; nothing from outside is ever read or written."""
        outside, root = self.tmp / "outside", self.tmp / "root"
        outside.mkdir()
        (root / "swap").mkdir(parents=True)
        (outside / "f").write_text("outside")
        (root / "swap/f").write_text("inside")
        os.symlink("../outside", root / "link")
        d = self.start(root=root)
        stop = threading.Event()

        def swap():
            while not stop.is_set():
                for a, b in (("swap", "tmp"), ("link", "swap"), ("swap", "link"), ("tmp", "swap")):
                    try:
                        os.rename(root / a, root / b)
                    except OSError:
                        pass

        th = threading.Thread(target=swap)
        th.start()
        try:
            with Conn(d.rest) as c:
                for i in range(1500):
                    c.send(raw_request("GET", "/v1/files/swap/f"))
                    self.assertNotEqual(c.read().body, b"outside")
                    c.send(raw_request("PUT", f"/v1/files/swap/new{i % 3}", body=b"x"))
                    c.read()
                    c.send(raw_request("DELETE", "/v1/files/swap/f?recursive=true" if i == 1499 else "/v1/files/swap/nope"))
                    c.read()
        finally:
            stop.set()
            th.join()
        self.assertEqual(os.listdir(outside), ["f"])

    def test_memory_stays_flat(self):
        d = self.start()

        def peak():
            return int([line for line in Path(f"/proc/{d.proc.pid}/status").read_text().splitlines() if line.startswith("VmRSS")][0].split()[1])

        request(d.rest, "PUT", "/v1/files/warm", body=b"x" * (1 << 20))
        before = peak()
        with Conn(d.rest) as c:
            c.send(raw_request("PUT", "/v1/files/big", [("Content-Length", str(200 << 20))]))
            for _ in range(200):
                c.send(b"x" * (1 << 20))
            self.assertEqual(c.read().status, 204)
        with h2raw.Conn(d.grpc, window_update=False) as c:
            for _ in range(10):
                rpc.Process(c, ["yes"])
            c.pump(2)
            with Conn(d.rest) as slow:
                slow.send(raw_request("GET", "/v1/files/big"))
                time.sleep(0.5)
                self.assertLess(peak() - before, 40 << 10)

    def test_a_flood_does_not_hold_up_keys(self):
        d = self.start()
        with h2raw.Conn(d.grpc) as c, h2raw.Conn(d.grpc) as keys:
            floods = [rpc.Process(c, ["yes"]) for _ in range(3)]
            stop = threading.Event()
            th = threading.Thread(target=lambda: [c.pump(0.1) and None for _ in iter(lambda: stop.is_set(), True)])
            th.start()
            try:
                p = rpc.Process(keys, ["cat"])
                p.pid
                slowest = 0
                for i in range(30):
                    start = time.monotonic()
                    p.write(b"%04d" % i)
                    p.wait_out(b"%04d" % i)
                    slowest = max(slowest, time.monotonic() - start)
                self.assertLess(slowest, 2)
            finally:
                stop.set()
                th.join()
            self.assertTrue(all(f.out for f in floods))

    def test_slow_and_silent_clients_are_let_go(self):
        d = self.start("--http-idle-timeout=1s")
        with Conn(d.rest) as c:
            c.send(raw_request("GET", "/v1/health"))
            self.assertEqual(c.read().status, 200)
            start = time.monotonic()
            self.assertTrue(c.at_end(5))
            self.assertLess(abs(time.monotonic() - start - 1), 0.9)
        with Conn(d.rest) as c:
            c.send(b"GET /v1/hea")
            start = time.monotonic()
            self.assertTrue(c.at_end(14))
            self.assertLess(abs(time.monotonic() - start - 10), 2)

    def test_many_connections(self):
        d = self.start()
        conns = [Conn(d.rest) for _ in range(300)]
        for c in conns:
            c.send(raw_request("GET", "/v1/health"))
        self.assertEqual({c.read().status for c in conns}, {200})
        for c in conns:
            c.sock.close()


if __name__ == "__main__":
    main()
