# SPDX-License-Identifier: Apache-2.0
"""The port proxy: that it moves every byte, and that neither a hostile daemon nor a hostile client gets its memory, its
descriptors or its rights."""
import hashlib
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import threading
from pathlib import Path

from harness.case import Case, main

from jail import Jail, JailBackend, identity_of, local

MIB = 1 << 20
OWN_SOCKETS = 2  # it listens on
CAP = 512  # MAX_CONNECTIONS of local/portproxy/portproxy.h


def status_of(pid):
    return dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())


def memory_of(pid):
    return int(status_of(pid)["VmRSS"].split()[0]) << 10


def sockets_of(jail):
    """How many, and how many descriptors in all. Who is not root may not look into the process, and counts what the kernel
    shows to everybody: connections at the address that somebody still holds."""
    if os.getuid() != 0:
        where = f"{int.from_bytes(socket.inet_aton(jail.address), 'little'):08X}:{jail.rest:04X}"
        fields = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
        return OWN_SOCKETS + 2 * sum(f[1] == where and f[3] != "0A" and f[9] != "0" for f in fields), 0
    links = []
    for fd in os.listdir(f"/proc/{jail.proxy}/fd"):
        try:
            links.append(os.readlink(f"/proc/{jail.proxy}/fd/{fd}"))
        except FileNotFoundError:
            pass
    return sum(link.startswith("socket:") for link in links), len(links)


def content(n):
    return hashlib.shake_128(b"sandmux").digest(MIB) * (n // MIB)


def read_all(s):
    parts = []
    while True:
        part = s.recv(1 << 18)
        if not part:
            return b"".join(parts)
        parts.append(part)


def reset_on_close(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


class Cases:
    @classmethod
    def setUpClass(cls):
        cls.identity = identity_of(cls.who)
        if cls.identity:
            cls.addClassCleanup(cls.identity.close)
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))

    def setUp(self):
        self.need(self.identity, "not root")

    def jail(self, mode=None, **kw):
        jail = Jail(self.identity, mode=mode, **kw)
        self.addCleanup(jail.close)
        return jail

    @staticmethod
    def client(jail):
        s = socket.create_connection((jail.address, jail.rest), 60)
        s.settimeout(60)
        return s

    def settles(self, what, jail):
        """No connection is left; of the pipes a few may be kept."""
        def is_settled():
            sockets, descriptors = sockets_of(jail)
            return sockets == OWN_SOCKETS and descriptors < 64
        local.wait_for(f"{what}: descriptors as before", is_settled)

    # ---- bytes ----

    def test_the_end_of_what_a_client_says_is_passed_on(self):
        with self.client(self.jail("echo")) as s:
            s.sendall(b"hello")
            s.shutdown(socket.SHUT_WR)
            self.assertEqual(read_all(s), b"helloover")

    def test_the_end_of_what_the_daemon_says_is_passed_on_and_the_client_may_go_on(self):
        jail = self.jail("source")
        with self.client(jail) as s:
            s.sendall(struct.pack(">Q", 1000))
            self.assertEqual(len(read_all(s)), 1000)
            self.assertEqual(sockets_of(jail)[0], OWN_SOCKETS + 2, "it is still open")
            s.sendall(b"x")
            self.settles("closed by both", jail)

    def test_much_goes_up_to_a_slow_daemon(self):
        data = content(48 * MIB)
        with self.client(self.jail("sink")) as s:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            self.assertEqual(read_all(s).decode(), hashlib.sha256(data).hexdigest())

    def test_much_comes_down_to_a_slow_client(self):
        n, digest, got = 48 * MIB, hashlib.sha256(), 0
        jail = self.jail("source")
        with self.client(jail) as s:
            s.sendall(struct.pack(">Q", n))
            while got < n:
                part = s.recv(4096 if got < MIB else MIB)
                self.assertTrue(part, f"ended after {got}")
                digest.update(part)
                got += len(part)
            self.assertEqual(digest.hexdigest(), hashlib.sha256(bytes(range(256)) * (n // 256)).hexdigest())

    def test_much_goes_both_ways_at_once(self):
        data = content(16 * MIB)
        with self.client(self.jail("echo")) as s:
            sender = threading.Thread(target=lambda: (s.sendall(data), s.shutdown(socket.SHUT_WR)))
            sender.start()
            got = read_all(s)
            sender.join()
        self.assertEqual(hashlib.sha256(got).hexdigest(), hashlib.sha256(data + b"over").hexdigest())

    def test_single_bytes_all_come(self):
        with self.client(self.jail("tiny")) as s:
            self.assertEqual(read_all(s), b"z" * 20000)

    def test_who_still_sends_gets_the_answer_of_a_daemon_that_has_closed(self):
        jail = self.jail("early")
        for _ in range(5):
            with self.client(jail) as s:
                s.sendall(b"PUT /v1/files/x HTTP/1.1\r\nHost: x\r\nContent-Length: 8388608\r\n\r\n" + bytes(8 * MIB))
                self.assertTrue(read_all(s).startswith(b"HTTP/1.1 507 "))
        self.settles("closed", jail)

    def test_more_connections_than_there_is_room_for_wait_and_are_served(self):
        jail = self.jail("echo")
        clients = [self.client(jail) for _ in range(CAP + 88)]
        self.addCleanup(lambda: [c.close() for c in clients])
        for i, s in enumerate(clients):
            s.sendall(b"x")
            if i < CAP:
                self.assertEqual(s.recv(1), b"x")
        late = clients[CAP:]
        self.assertEqual(select.select(late, [], [], 0.3)[0], [], "no room for these")
        self.assertEqual(sockets_of(jail)[0], OWN_SOCKETS + 2 * CAP)
        for s in clients[:len(late)]:
            s.close()
        for s in late:
            self.assertEqual(s.recv(1), b"x")

    # ---- hostile ends ----

    def flat(self, jail, what, attack, times=60):
        """Neither memory nor descriptors grow."""
        attack()
        memory = memory_of(jail.proxy)
        for _ in range(times):
            attack()
        self.settles(what, jail)
        self.assertLess(memory_of(jail.proxy) - memory, 4 * MIB, what)

    def test_a_daemon_that_never_reads(self):
        """What it does not read stays with the client: so much as sockets and a pipe hold, and not a byte in memory."""
        jail = self.jail("never-reads")
        memory, clients, sent = memory_of(jail.proxy), [], 0
        for _ in range(40):
            s = self.client(jail)
            s.settimeout(0.1)
            clients.append(s)
            try:
                while True:
                    sent += s.send(bytes(MIB))
            except TimeoutError:
                pass
        self.assertGreater(sent, 32 * MIB, "a proxy that buffers would hold that")
        self.assertLess(memory_of(jail.proxy) - memory, 4 * MIB)
        for s in clients:
            reset_on_close(s)
            s.close()
        self.settles("clients that were reset", jail)

    def test_a_client_that_never_reads(self):
        jail = self.jail("endless-body")
        memory, clients = memory_of(jail.proxy), []
        for _ in range(40):
            s = self.client(jail)
            s.sendall(b"GET / HTTP/1.1\r\n\r\n")
            clients.append(s)
        with self.client(jail) as s:  # the control: who reads it all holds it all
            s.sendall(b"GET / HTTP/1.1\r\n\r\n")
            held = bytearray()
            while len(held) < 32 * MIB:
                held += s.recv(MIB)
        self.assertLess(memory_of(jail.proxy) - memory, 4 * MIB)
        for s in clients:
            s.close()
        self.settles("clients that left", jail)

    def test_a_daemon_that_closes_at_once(self):
        jail = self.jail("closes")

        def attack():
            with self.client(jail) as s:
                s.sendall(b"x")
                self.assertEqual(read_all(s), b"")
        self.flat(jail, "closed at once", attack, 200)

    def test_a_daemon_that_resets(self):
        jail = self.jail("reset")

        def attack():
            with self.client(jail) as s:
                s.sendall(bytes(100000))
                try:
                    read_all(s)
                except ConnectionError:
                    pass
        self.flat(jail, "reset", attack)

    def test_clients_that_reset_and_half_close(self):
        jail = self.jail("echo")

        def attack():
            clients = [self.client(jail) for _ in range(8)]
            for i, s in enumerate(clients):
                s.send(b"x" * 1000)
                if i % 2:
                    reset_on_close(s)
                if i % 4 < 2:
                    s.shutdown(socket.SHUT_WR)
                s.close()
        self.flat(jail, "reset by the client", attack, 40)

    # ---- its life ----

    def test_without_its_proxy_a_sandbox_ends(self):
        jail = self.jail()
        os.kill(jail.proxy, signal.SIGKILL)
        self.assertIn("killed by signal 9", jail.ended()["reason"])

    def test_without_its_proxy_a_pod_is_restarted(self):
        b = JailBackend(self.identity, warm=0)
        self.addCleanup(b.stop)
        b.ready_claim("box")
        proxies = [int(p) for p in Path(f"/proc/{b.pid}/task/{b.pid}/children").read_text().split()
                   if Path(f"/proc/{p}/comm").read_text().startswith("sandmux-port")]
        self.assertEqual(len(proxies), 1)
        os.kill(proxies[0], signal.SIGKILL)
        local.wait_for("it runs again", lambda: (b.pod("box")["status"].get("containerStatuses") or [{}])[0].get("restartCount") == 1
                       and local.is_ready(b.pod("box")))
        self.assertEqual(b.daemon(b.pod("box")["status"]["podIP"], "GET", "/v1/health").code, 200)

    def test_it_dies_with_whoever_started_it(self):
        jail = self.jail()
        proxy = jail.proxy
        os.kill(jail.host_pid, signal.SIGKILL)
        local.wait_for("it is gone", lambda: not Path(f"/proc/{proxy}").exists())

    def direct(self, jail):
        """A second one for the same daemon, with a control pipe of the test."""
        listeners = [socket.create_server((jail.address, 0)) for _ in range(2)]
        for s in listeners:
            s.setblocking(False)
        read, write = os.pipe()
        drop = [] if os.getuid() else ["setpriv", f"--reuid={jail.host_uid}", f"--regid={jail.host_uid}", "--clear-groups", "--"]
        fds = [s.fileno() for s in listeners] + [read]
        p = subprocess.Popen([*drop, self.identity.bin / "sandmux-port-proxy", *map(str, fds)], pass_fds=fds)
        self.addCleanup(lambda: (p.kill(), p.wait()))
        os.close(read)
        return p, listeners, write

    def test_the_end_of_its_control_ends_it(self):
        jail = self.jail()
        p, _, control = self.direct(jail)
        os.close(control)
        self.assertEqual(p.wait(30), 0, "before it knows a daemon")
        p, listeners, control = self.direct(jail)
        os.write(control, struct.pack("i", jail.daemon))
        with socket.create_connection(listeners[0].getsockname(), 30) as s:
            s.sendall(b"GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertIn(b"200 OK", s.recv(100))
        self.assertIsNone(p.poll())
        os.close(control)
        self.assertEqual(p.wait(30), 0, "while it serves")

    # ---- its rights ----

    def test_it_has_nothing_left_to_give(self):
        jail = self.jail()
        self.assertEqual(jail.http(), 200)  # it serves: so it is confined
        status = status_of(jail.proxy)
        self.assertEqual(status["Seccomp"].strip(), "2")
        self.assertEqual(status["NoNewPrivs"].strip(), "1")
        for name in ("CapEff", "CapPrm", "CapInh", "CapAmb"):
            self.assertEqual(int(status[name], 16), 0, name)
        self.assertEqual(set(status["Uid"].split()), {str(jail.host_uid)})
        self.assertEqual(status["Groups"].strip(), "" if self.identity.is_root or os.getuid() == 0 else status["Groups"].strip())
        limits = Path(f"/proc/{jail.proxy}/limits").read_text()
        self.assertRegex(limits, r"Max core file size +0 +0")
        self.assertRegex(limits, r"Max file size +0 +0")
        if os.getuid() != 0:  # it is closed to the user that it runs as
            for name in ("fd", "environ", "mem"):
                self.assertFalse(os.access(f"/proc/{jail.proxy}/{name}", os.R_OK), name)
            return
        for fd in Path(f"/proc/{jail.proxy}/fd").iterdir():
            self.assertRegex(os.readlink(fd), r"^(/dev/null|socket:.*|pipe:.*|anon_inode:.*|/.*/(rest|grpc)\.sock|.*/log)$")
        self.assertEqual(Path(f"/proc/{jail.proxy}/environ").read_bytes(), b"")


class AsRoot(Cases, Case):
    who = "root"


class AsUser(Cases, Case):
    who = "user"


if __name__ == "__main__":
    main()
