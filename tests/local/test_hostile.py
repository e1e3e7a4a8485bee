# SPDX-License-Identifier: Apache-2.0
"""Whoever answers for a sandbox, and whoever connects to the backend, gets neither its memory nor its time."""
import os
import socket
import subprocess
import sys
import tempfile
import time

from harness.case import Case, main

from backend import CLAIMS, PODS, Backend, claim, condition, wait_for

# memory that the address sanitizer holds back after it was freed is not the backend's
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=4"

# A "daemon" that listens where the real one would and answers as told by the file `mode` beside it.
DAEMON = r'''#!/usr/bin/env python3
import os, socket, sys, threading, time
here = os.path.dirname(os.path.abspath(__file__))
fd = int(sys.argv[sys.argv.index("--rest-fd") + 1])
s = socket.socket(fileno=fd)
s.setblocking(True)
def serve(c):
    seen = c.recv(65536)
    with open(here + "/seen", "ab") as f:
        f.write(seen + b"\n")
    mode = open(here + "/mode").read().strip()
    block = b"x" * 65536
    try:
        if mode == "well":
            c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        elif mode == "endless body":
            c.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                c.sendall(block)
        elif mode == "endless head":
            c.sendall(b"HTTP/1.1 200 OK\r\n")
            while True:
                c.sendall(b"X-A: " + block + b"\r\n")
        elif mode == "endless line":
            c.sendall(b"HTTP/1.1 ")
            while True:
                c.sendall(block)
        elif mode == "continue":
            while True:
                c.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)
        elif mode == "drip":
            for b in b"HTTP/1.1 200 OK\r\n" * 100:
                c.sendall(bytes([b]))
                time.sleep(0.5)
        elif mode == "redirect":
            c.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")
        elif mode == "silent":
            time.sleep(60)
        elif mode == "log":
            c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            end = time.monotonic() + 2
            while time.monotonic() < end:
                os.write(2, (b"y" * 100 + b"\n") * 500)
    except OSError:
        pass
    c.close()
while True:
    c, _ = s.accept()
    threading.Thread(target=serve, args=(c,), daemon=True).start()
'''


def rss_kib(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS:"):
            return int(line.split()[1])


class HostileDaemon(Case):
    def setUp(self):
        self.daemon = self.tmp / "daemon"
        self.mode("silent")
        self.daemon.write_text(DAEMON)
        self.daemon.chmod(0o755)
        self.b = Backend(self.tmp / "state", "--sandboxd", str(self.daemon), isolation="none", warm=0)
        self.addCleanup(self.b.stop)

    def mode(self, text):
        (self.tmp / "mode").write_text(text)

    def seen(self):
        try:
            return (self.tmp / "seen").read_bytes()
        except FileNotFoundError:
            return b""

    def pod(self, name):
        pods = self.b.get(PODS).json["items"]
        return next((p for p in pods if p["metadata"]["name"] == name), None)

    def start(self, name, mode):
        self.mode(mode)
        self.assertEqual(self.b.create(CLAIMS, claim(name)).code, 201)
        return wait_for("its pod", lambda: next((p for p in self.b.get(PODS).json["items"] if p.get("status", {}).get("podIP")), None))["metadata"]["name"]

    def is_pod_ready(self, name):
        return condition(self.pod(name)).get("status") == "True"

    def test_no_token_is_sent(self):
        name = self.start("c1", "well")
        wait_for("it is ready", lambda: self.is_pod_ready(name))
        self.assertIn(b"GET /v1/health", self.seen())
        self.assertNotIn(b"uthorization", self.seen())

    def test_endless_answers_cost_nothing(self):
        before = rss_kib(self.b.pid)
        for i, (mode, ready) in enumerate((("endless line", False), ("continue", False), ("redirect", False), ("endless body", True), ("endless head", True))):
            with self.subTest(mode):
                name = self.start(f"c{i}", mode)
                if ready:  # the status line said 200: that is all that counts
                    wait_for("it is ready", lambda: self.is_pod_ready(name))
                else:
                    n = len(self.seen())
                    wait_for("it was asked again and again", lambda: self.seen().count(b"GET ") >= 4 and len(self.seen()) > n)
                    self.assertFalse(self.is_pod_ready(name))
                self.b.call("DELETE", f"{CLAIMS}/c{i}")
                wait_for("it is gone", lambda: not self.b.get(PODS).json["items"])
                (self.tmp / "seen").unlink()
        self.assertLess(rss_kib(self.b.pid) - before, 64 << 10)

    def test_a_dripping_answer_ends_at_the_deadline(self):
        name = self.start("c1", "drip")
        # a question every few seconds at most: with an idle timeout the first one would still be going on
        wait_for("it was asked again", lambda: self.seen().count(b"GET ") >= 3, timeout=20)
        self.assertFalse(self.is_pod_ready(name))

    def test_a_flood_of_log_lines_stays_small(self):
        name = self.start("c1", "log")
        wait_for("it is ready", lambda: self.is_pod_ready(name))
        folder = self.b.state / "pods" / self.pod(name)["metadata"]["uid"]
        wait_for("lines were dropped", lambda: "lines dropped" in (folder / "log").read_text(errors="replace"), timeout=20)
        self.assertLess(sum(f.stat().st_size for f in folder.glob("log*")), 9 << 20)


class Strangers(Case):
    """Whoever has no token can connect, and that is all."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="sandmux-test-", ignore_cleanup_errors=True)
        cls.b = Backend(cls.folder.name + "/state", isolation="none", warm=0)

    @classmethod
    def tearDownClass(cls):
        cls.b.stop()
        cls.folder.cleanup()

    def setUp(self):
        self.open = []
        self.addCleanup(lambda: [s.close() for s in self.open])

    def connect(self):
        raw = socket.create_connection(("127.0.0.1", self.b.port), 10)
        s = self.b.context.wrap_socket(raw, server_hostname="127.0.0.1")
        self.open.append(s)
        return s

    def head(self, length, token=None, host="127.0.0.1"):
        auth = f"Authorization: Bearer {token}\r\n" if token else ""
        return f"POST {CLAIMS} HTTP/1.1\r\nHost: {host}\r\n{auth}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n".encode()

    def flood(self, s, limit):
        """How many bytes of a body it took, and what it answered."""
        sent = 0
        try:
            while sent < limit:
                s.sendall(b" " * 16384)
                sent += 16384
            return sent, s.recv(1000)
        except OSError:
            return sent, b""

    def connections(self):
        n = 0
        for fd in os.listdir(f"/proc/{self.b.pid}/fd"):
            try:
                n += os.readlink(f"/proc/{self.b.pid}/fd/{fd}").startswith("socket:")
            except OSError:
                pass
        return n

    def answers(self):
        self.assertEqual(self.b.get(PODS).code, 200)

    def test_bodies_of_strangers_are_not_kept(self):
        size = 5 << 20
        s = self.connect()  # the control: with the token all of it is read
        s.sendall(self.head(size, self.b.token))
        sent, answer = self.flood(s, size)
        self.assertEqual(sent, size)
        self.assertIn(b" 413 ", answer)
        before = rss_kib(self.b.pid)
        for token in (None, "wrong", self.b.token + "x"):
            for length in (f"{size}", "0\r\nTransfer-Encoding: chunked"):
                s = self.connect()
                s.sendall(self.head(length, token))
                if "chunked" in length:
                    s.sendall(b"500000\r\n")
                sent, answer = self.flood(s, size)
                self.assertLess(sent, 3 << 20, "what lies in the sockets' buffers")
                self.assertEqual(answer, b"")
        self.assertLess(rss_kib(self.b.pid) - before, 24 << 10)
        self.assertEqual(self.b.call("POST", CLAIMS, {"x": "y" * 10000}, headers={"Authorization": "Bearer wrong"}).code, 401)
        self.answers()

    def test_heads_of_strangers_have_an_end(self):
        s = self.connect()
        s.sendall(b"GET / HTTP/1.1\r\n")
        sent, answer = self.flood(s, 5 << 20)
        self.assertLess(sent, 3 << 20)
        self.answers()

    def test_who_drips_is_gone_in_time(self):
        s, silent = self.connect(), self.connect()
        plain = socket.create_connection(("127.0.0.1", self.b.port), 10)  # never begins TLS
        self.open.append(plain)
        watch = self.b.watch(PODS)  # has the token, and is as quiet
        start = time.monotonic()
        for x in (silent, plain):
            x.settimeout(30)
        try:
            s.sendall(b"GET / HTTP/1.1\r\nX: ")
            while time.monotonic() - start < 30:
                s.sendall(b"x")
                time.sleep(0.2)
        except OSError:
            pass
        self.assertLess(time.monotonic() - start, 20)
        for x in (silent, plain):
            try:
                self.assertEqual(x.recv(100), b"")
            except OSError:
                pass
        self.assertLess(time.monotonic() - start, 25)
        self.assertFalse(watch.ended.is_set())
        watch.close()

    def test_those_with_the_token_keep_their_places(self):
        watch = self.b.watch(PODS)
        before = self.connections()
        held = 0
        for _ in range(300):
            try:
                self.connect()
                held += 1
            except OSError:
                pass
        self.assertGreater(held, 100, "newcomers are let in")
        self.answers()
        wait_for("most are shown out", lambda: self.connections() - before <= 24 + 8)
        self.answers()
        self.assertFalse(watch.ended.is_set())
        watch.close()

    def test_one_user_leaves_places_for_others(self):
        self.need(os.geteuid() == 0, "becoming somebody else needs root")
        mine = [self.connect() for _ in range(20)]
        script = ("import socket,sys,time\nc=[]\n"
                  f"for _ in range(200): c.append(socket.create_connection(('127.0.0.1',{self.b.port})))\n"
                  "print('held',flush=True)\ntime.sleep(60)")
        other = subprocess.Popen(["setpriv", "--reuid", "65534", "--clear-groups", sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        self.addCleanup(other.communicate)
        self.addCleanup(other.kill)
        self.assertEqual(other.stdout.readline(), "held\n")
        self.answers()
        for s in mine:  # older than all of the others, and still there
            s.sendall(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            self.assertIn(b"200 OK", s.recv(1000))

    def test_names_of_web_pages(self):
        for host in ("127.0.0.1", f"127.0.0.1:{self.b.port}", "localhost:1", "[::1]:6443"):
            self.assertEqual(self.b.call("GET", "/readyz", headers={"Host": host}).code, 200, host)
        for host in ("evil.example.com", "127.0.0.1.evil.example.com", "localhostx", f"evil.example.com:{self.b.port}"):
            for path in ("/readyz", PODS):
                self.assertEqual(self.b.call("GET", path, headers={"Host": host}).code, 421, host)


if __name__ == "__main__":
    main()
