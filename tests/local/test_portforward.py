# SPDX-License-Identifier: Apache-2.0
"""pods/portforward of the local backend: the three wires, what is refused and with which words, several connections at the
same time, half-close, memory, and the real kubectl."""
import json
import os
import re
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from harness.bed import need_bed
from harness.case import Case, main

from backend import CLAIMS, PODS, Backend, wait_for
from streams import CHANNELS, DICTIONARY, TUNNEL, Connection, Refusal, Spdy, WebSocket, spdy_post

MIB = 1 << 20


def request(method, path, body=b"", close=True):
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    return (head + ("Connection: close\r\n" if close else "") + "\r\n").encode() + body


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


class PortForward(Case):
    @classmethod
    def setUpClass(cls):
        import tempfile
        cls.folder = tempfile.TemporaryDirectory(prefix="sandmux-test-")
        cls.addClassCleanup(cls.folder.cleanup)
        # what is freed is given back, so that memory can be measured
        options = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1:thread_local_quarantine_size_kb=64"
        cls.backend = Backend(Path(cls.folder.name) / "state", daemon_auth="off", warm=0, env={**os.environ, "ASAN_OPTIONS": options})
        cls.addClassCleanup(cls.backend.stop)
        cls.pod = cls.backend.ready_claim("c1")["status"]["sandbox"]["name"]
        cls.uid = cls.backend.get(f"{PODS}/{cls.pod}").json["metadata"]["uid"]
        cls.path = f"{PODS}/{cls.pod}/portforward"

    def ws(self, path, *protocols, **kw):
        connection = WebSocket(self.backend, path, *protocols, **kw)
        self.addCleanup(connection.close)
        return connection

    def tunnel(self):
        return Spdy(self.ws(self.path, TUNNEL, CHANNELS))

    def refusal(self, make, *args, **kw):
        with self.assertRaises(Refusal) as caught:
            make(*args, **kw)
        return caught.exception

    # ---- the three wires ----

    def test_channels(self):
        for offered in ((CHANNELS,), ("nonsense", CHANNELS), ()):
            ws = self.ws(self.path + "?ports=8080", *offered)
            self.assertEqual(ws.protocol, CHANNELS if offered else "")
            ws.send(b"\0" + request("GET", "/v1/health"))
            got = ws.channels()
            self.assertEqual((got[0][:2], got[1]), (b"\x90\x1f", b"\x90\x1f"))
            self.assertIn(b"200 OK", got[0])
            self.assertEqual(ws.close_code, 1000)

    def test_several_ports(self):
        ws = self.ws(self.path + "?ports=8080,9090&ports=7777", CHANNELS)
        ws.send(b"\0" + request("GET", "/v1/health"))
        got = {}
        while b"ok" not in got.get(0, b"") or b"refused" not in got.get(5, b""):
            opcode, payload = ws.message()
            self.assertEqual(opcode, 2)
            got[payload[0]] = got.get(payload[0], b"") + payload[1:]
        self.assertEqual({c: bytes(b[:2]) for c, b in got.items()},
                         {0: b"\x90\x1f", 1: b"\x90\x1f", 2: b"\x82\x23", 3: b"\x82\x23", 4: b"\x61\x1e", 5: b"\x61\x1e"})
        ws.frame(b"hello", opcode=9)  # the others live: a ping is answered
        while True:
            opcode, payload = ws.message()
            if opcode == 10:
                break
        self.assertEqual(payload, b"hello")

    def test_tunnel_and_spdy(self):
        for dictionary in (True, False):
            for connection in (self.ws(self.path, TUNNEL, CHANNELS), spdy_post(self.backend, self.path)):
                self.addCleanup(connection.close)
                spdy = Spdy(connection, dictionary)
                error, data = spdy.pair(8080, 0)
                spdy.data(data, request("GET", "/v1/health"))
                self.assertEqual([spdy.frame(), spdy.frame()], [("reply", error), ("reply", data)])
                got = spdy.until_fin(error, data)
                self.assertIn(b"200 OK", got[data])
                self.assertEqual(got[error], b"")
                spdy.control(6, b"\0\0\0\x07")
                self.assertEqual(spdy.frame(), ("ping", 7))
        self.assertEqual(spdy_post(self.backend, self.path).headers["x-stream-protocol-version"], "portforward.k8s.io")

    def test_bytes_cut_anywhere(self):
        ws = self.ws(self.path, TUNNEL)
        spdy = Spdy(ws)
        whole = bytearray()
        ws.send = whole.extend
        error, data = spdy.pair(8080, 5)
        spdy.data(data, request("GET", "/v1/health"))
        for i in range(0, len(whole), 3):
            ws.frame(bytes(whole[i:i + 3]))
        self.assertIn(b"200 OK", spdy.until_fin(error, data)[data])
        # and a message of channels in fragments
        ws = self.ws(self.path + "?ports=8080", CHANNELS)
        message = b"\0" + request("GET", "/v1/health")
        ws.frame(message[:1], fin=False)
        for byte in message[1:-1]:
            ws.frame(bytes([byte]), opcode=0, fin=False)
        ws.frame(message[-1:], opcode=0)
        self.assertIn(b"200 OK", ws.channels()[0])

    def test_many_connections_in_one_tunnel(self):
        spdy = self.tunnel()
        pairs = [spdy.pair(8080, i) for i in range(40)]
        for i, (_, data) in enumerate(pairs):
            spdy.data(data, request("PUT", f"/v1/files/many-{i}", str(i).encode() * 1000))
        got = spdy.until_fin(*[s for p in pairs for s in p])
        for error, data in pairs:
            self.assertRegex(got[data][:20], rb"HTTP/1.1 20\d")
            self.assertEqual(got.get(error, b""), b"")
        again = spdy.pair(8080, 1000)
        spdy.data(again[1], request("GET", "/v1/files/many-39?op=read"))
        self.assertIn(b"39" * 1000, spdy.until_fin(*again)[again[1]])

    # ---- ends ----

    def test_half_close(self):
        """What the client ends, the daemon hears; its answer still comes."""
        spdy = self.tunnel()
        error, data = spdy.pair(8080, 0)
        spdy.data(data, request("GET", "/v1/health", close=False), fin=True)
        got = spdy.until_fin(error, data)
        self.assertIn(b"200 OK", got[data])

    def test_reset_and_end_leave_nothing(self):
        where = f"{int.from_bytes(socket.inet_aton(self.address()), 'little'):08X}:1F90"

        def connections():
            fields = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
            return sum(f[1] == where and f[3] == "01" for f in fields)
        wait_for("quiet", lambda: connections() == 0)
        spdy = self.tunnel()
        pairs = [spdy.pair(8080, i) for i in range(5)]
        wait_for("five are there", lambda: connections() == 5)
        spdy.reset(pairs[0][1])
        wait_for("one has gone", lambda: connections() == 4)
        spdy.connection.close()
        wait_for("all have gone", lambda: connections() == 0)

    def test_deleted_pod_ends_it(self):
        pod = self.backend.ready_claim("short")["status"]["sandbox"]["name"]
        ws = self.ws(f"{PODS}/{pod}/portforward?ports=8080", CHANNELS)
        wait_for("it is there", lambda: ws.message()[1][:1] == b"\1")
        self.backend.call("DELETE", f"{CLAIMS}/short")
        ws.channels()
        self.assertIn(ws.close_code, (1000, None))

    # ---- refusals ----

    def test_handshakes_that_are_refused(self):
        r = self.refusal(self.ws, self.path, "v5.channel.k8s.io", "portforward.k8s.io")
        self.assertEqual((r.code, r.headers.get("connection"), r.body), (403, "close", b""))
        r = self.refusal(self.ws, self.path, CHANNELS)
        self.assertEqual((r.code, r.body.strip()), (400, b'query parameter "port" is required'))
        for ports in ("0", "65536", "x", "8080,", "8080,-1", ",".join(["8080"] * 33)):
            code = 101 if ports == "8080," else 400
            try:
                self.ws(f"{self.path}?ports={ports}", CHANNELS)
                got = 101
            except Refusal as e:
                got = e.code
            self.assertEqual(got, code, ports)
        r = self.refusal(Connection, self.backend, self.path)
        self.assertEqual((r.code, json.loads(r.body)["message"]), (400, "Upgrade request required"))
        r = self.refusal(Connection, self.backend, self.path, headers=["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 8",
                                                                         "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="])
        self.assertEqual((r.code, r.headers["sec-websocket-version"]), (400, "13"))
        r = self.refusal(Connection, self.backend, self.path, headers=["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                                                                         "Sec-WebSocket-Key: short"])
        self.assertEqual(r.code, 400)
        r = self.refusal(spdy_post, self.backend, self.path, version=None)
        self.assertEqual(r.code, 400)
        r = self.refusal(spdy_post, self.backend, self.path, version="v9.x")
        self.assertEqual((r.code, r.headers["x-accepted-stream-protocol-versions"]), (403, "portforward.k8s.io"))
        self.assertEqual(r.body.strip(), b"unable to upgrade: unable to negotiate protocol: client supports [v9.x], server accepts [portforward.k8s.io]")
        r = self.refusal(self.ws, self.path + "?ports=0", CHANNELS)
        self.assertEqual((r.code, r.body), (400, b'port "0" must be > 0'))
        r = self.refusal(self.ws, f"{PODS}/nope/portforward", TUNNEL)
        self.assertEqual((r.code, json.loads(r.body)["message"]), (404, 'pods "nope" not found'))
        r = self.refusal(self.ws, self.path, TUNNEL, token="wrong")
        self.assertEqual(r.code, 401)
        self.assertEqual(self.backend.call("DELETE", self.path).code, 405)

    def test_a_pod_that_does_not_run(self):
        self.backend.create(PODS, {"metadata": {"name": "idle"}, "spec": {"restartPolicy": "Never", "containers": [
            {"name": "c", "image": "i"}]}})
        self.addCleanup(self.backend.call, "DELETE", f"{PODS}/idle")
        wait_for("it runs", lambda: self.backend.object(f"{PODS}/idle")["status"].get("phase") == "Running")
        for pid in filter(self.is_of_idle, [p for p in Path("/proc").iterdir() if p.name.isdigit()]):
            os.kill(int(pid.name), 9)
        wait_for("it failed", lambda: self.backend.object(f"{PODS}/idle")["status"].get("phase") == "Failed")
        r = self.refusal(self.ws, f"{PODS}/idle/portforward", TUNNEL)
        self.assertEqual((r.code, json.loads(r.body)["reason"]), (500, "InternalError"))
        self.assertIn("is not running", json.loads(r.body)["message"])

    @staticmethod
    def is_of_idle(proc):
        """The process that stands for the sandbox: its host name is that of the pod."""
        try:
            return b"\0--hostname\0idle\0" in (proc / "cmdline").read_bytes()
        except OSError:
            return False

    def test_ports_that_are_not_the_daemons(self):
        """Not one of the host's either, although somebody listens there on every address."""
        with socket.create_server(("0.0.0.0", 0)) as host:
            port = host.getsockname()[1]
            for wanted in (port, 22, 7777):
                ws = self.ws(f"{self.path}?ports={wanted}", CHANNELS)
                ws.send(b"\0hello")
                got = ws.channels()
                text = got[1][2:].decode()
                self.assertTrue(text.startswith(f"error forwarding port {wanted} to pod {self.pod}, uid {self.uid}: "), text)
                self.assertTrue(text.endswith("connect: connection refused"), text)
                self.assertEqual((ws.close_code, got[0][2:]), (1000, b""))
            spdy = self.tunnel()
            error, data = spdy.pair(port, 0)
            spdy.data(data, b"hello")
            frames = [spdy.frame() for _ in range(5)]
            self.assertEqual([f[:3] for f in frames], [("reply", error), ("reply", data), ("data", data, True), ("data", error, False),
                                                       ("data", error, True)])
            self.assertIn(b"connection refused", frames[3][3])
            # the tunnel lives on
            pair = spdy.pair(8080, 1)
            spdy.data(pair[1], request("GET", "/v1/health"))
            self.assertIn(b"200 OK", spdy.until_fin(*pair)[pair[1]])
            host.settimeout(0.2)
            with self.assertRaises(TimeoutError):
                host.accept()

    def test_an_address_from_the_status_is_not_believed(self):
        """A client may write the status of a pod; where its daemon is does not come from there."""
        with socket.create_server(("127.0.0.1", 0)) as host:
            r = self.backend.call("PATCH", f"{PODS}/{self.pod}/status", {"status": {"podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}]}},
                                  "application/merge-patch+json")
            self.assertEqual(r.code, 200)
            spdy = self.tunnel()
            pair = spdy.pair(8080, 1)
            spdy.data(pair[1], request("GET", "/v1/health"))
            self.assertIn(b"200 OK", spdy.until_fin(*pair)[pair[1]])
            host.settimeout(0.2)
            with self.assertRaises(TimeoutError):
                host.accept()

    def test_wrong_frames(self):
        for wrong in (b"\x80\x02\x00\x01\x00\x00\x00\x00",  # SPDY/2
                      b"\x80\x03\x00\x01\x00\xff\xff\xff",  # a header block without end
                      b"\x80\x03\x00\x01\x00\x00\x00\x04\x00\x00\x00\x01",
                      b"\x80\x03\x00\x01\x00\x00\x00\x0e\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00junk"):
            connection = spdy_post(self.backend, self.path)
            self.addCleanup(connection.close)
            connection.send(wrong)
            self.assertIsNone(Spdy(connection).frame())
        ws = self.ws(self.path, TUNNEL)
        ws.frame(b"hello", masked=False)
        self.assertIn(ws.message()[0], (8, None))
        spdy = self.tunnel()
        for headers in ({"streamtype": "data", "port": "0"}, {"streamtype": "data"}, {"streamtype": "other", "port": "8080"},
                        {"streamtype": "data", "port": "99999"}):
            stream = spdy.syn(headers)
            self.assertEqual(spdy.frame(), ("reset", stream, 5))
        error, data = spdy.pair(8080, 9)
        self.assertEqual([spdy.frame(), spdy.frame()], [("reply", error), ("reply", data)])
        twice = spdy.syn({"streamtype": "data", "port": "8080", "requestid": "9"})
        self.assertEqual(spdy.frame(), ("reset", twice, 5))
        self.assertEqual(self.backend.get("/healthz").code, 200)

    def test_number_of_connections(self):
        spdy = self.tunnel()
        refused = 0
        for i in range(140):
            spdy.syn({"streamtype": "error", "port": "8080", "requestid": str(i)}, fin=True)
        for _ in range(140):
            refused += spdy.frame()[0] == "reset"
        self.assertEqual(refused, 12)

    # ---- memory ----

    def memory(self):
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.backend.pid}/status").read_text())[1]) << 10

    def test_a_reader_that_does_not_read(self):
        r = self.backend.daemon(self.address(), "PUT", "/v1/files/big", b"x" * (48 * MIB))
        self.assertLess(r.code, 300)
        before = self.memory()
        spdy = self.tunnel()
        pairs = [spdy.pair(8080, i) for i in range(4)]
        for _, data in pairs:
            spdy.data(data, request("GET", "/v1/files/big?op=read"))
        time.sleep(2)  # it would have come
        self.assertLess(self.memory() - before, 12 * MIB)
        got = spdy.until_fin(*[s for p in pairs for s in p])
        for _, data in pairs:
            self.assertGreater(len(got[data]), 48 * MIB)

    def address(self):
        """Of the pod, as its own daemon was bound: the status may have been written by another test."""
        return re.search(r"daemon on (127\S+)", "".join(e["message"] for e in self.backend.get(
            "/api/v1/namespaces/default/events", fieldSelector=f"involvedObject.uid={self.uid}").json["items"]))[1]

    def test_a_daemon_that_does_not_read(self):
        """The other direction: a job that fills its pipe, and a client that sends on."""
        before = self.memory()
        spdy = Spdy(spdy_post(self.backend, self.path))
        self.addCleanup(spdy.connection.close)
        error, data = spdy.pair(9090, 0)  # HTTP/2 takes no more than its window from somebody who says nothing
        spdy.connection.sock.settimeout(3)
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"
        ping = b"\0\0\x08\x06\0\0\0\0\0" + b"12345678"
        sent = 0
        try:
            spdy.data(data, preface)
            while sent < 64 * MIB:  # answers that nobody reads: it must stop to take
                spdy.data(data, ping * 3000)
                sent += 17 * 3000
        except (TimeoutError, OSError):
            pass
        self.assertLess(sent, 64 * MIB)
        self.assertLess(self.memory() - before, 16 * MIB)
        self.assertEqual(self.backend.get("/healthz").code, 200)

    # ---- clients ----

    def test_our_own(self):
        where = ("--kubeconfig", self.backend.kubeconfig, "--connectivity", "port-forward")
        r = self.sandmux(*where, "run", "c1", "--", "sh", "-c", "cat; exit 3", stdin=b"in")
        self.assertEqual((r.code, r.out, r.err), (3, "in", ""))
        data = os.urandom(3 * MIB)
        (self.tmp / "up").write_bytes(data)
        self.sandmux(*where, "cp", self.tmp / "up", "c1:by-forward", "--verify", check=0)
        self.sandmux(*where, "cp", "c1:by-forward", self.tmp / "down", "--verify", check=0)
        self.assertEqual((self.tmp / "down").read_bytes(), data)

    def kubectl(self, *args):
        p = subprocess.Popen([need_bed("kubectl"), "port-forward", *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             env={**os.environ, "KUBECONFIG": str(self.backend.kubeconfig), "HOME": self.folder.name})
        self.addCleanup(lambda: (p.kill(), p.communicate()))
        return p

    def test_kubectl(self):
        self.need_bed("kubectl")
        for environment in ({}, {"KUBECTL_PORT_FORWARD_WEBSOCKETS": "false"}):
            os.environ.update(environment)
            self.addCleanup(os.environ.pop, "KUBECTL_PORT_FORWARD_WEBSOCKETS", None)
            p = self.kubectl(f"pod/{self.pod}", ":8080", ":9090")
            local = int(re.search(r"127.0.0.1:(\d+) -> 8080", p.stdout.readline())[1])
            url = f"http://127.0.0.1:{local}/v1/files/from-kubectl"
            data = os.urandom(5 * MIB)
            urllib.request.urlopen(urllib.request.Request(url, data, method="PUT"), timeout=20).read()
            results = []
            threads = [threading.Thread(target=lambda: results.append(urllib.request.urlopen(url, timeout=20).read() == data))
                       for _ in range(8)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.assertEqual(results, [True] * 8)
            p.terminate()
            p.wait(10)
        p = self.kubectl(f"pod/{self.pod}", f"{free_port()}:7777")
        local = int(re.search(r"127.0.0.1:(\d+) -> 7777", p.stdout.readline())[1])
        with self.assertRaises((urllib.error.URLError, ConnectionError)):
            urllib.request.urlopen(f"http://127.0.0.1:{local}/", timeout=10)
        p.wait(10)
        self.assertIn("connection refused", p.stdout.read())


assert len(DICTIONARY) == 1423
main()
