# SPDX-License-Identifier: Apache-2.0
"""Whoever answers for a sandbox, and whoever connects to the backend, gets neither its memory nor its time."""
import os

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


if __name__ == "__main__":
    main()
