# SPDX-License-Identifier: Apache-2.0
"""Both wires of a port-forward through a real API server and kubelet: the tunnel, which the server takes when it is
offered, and the channels of servers that do not know it."""
import os
import socket
import threading

from cluster_case import ClusterCase
from harness import main
from harness.faults import HttpFaultProxy, _Handler

TUNNEL, CHANNELS = "SPDY/3.1+portforward.k8s.io", "v4.channel.k8s.io"


class _Upgrades(_Handler):
    def do_GET(self):
        if self.headers.get("Upgrade"):
            self.relay()
            self.close_connection = True
        else:
            super().do_GET()

    def relay(self):
        offered = [p.strip() for p in self.headers["Sec-WebSocket-Protocol"].split(",")]
        self.proxy.offered.append(offered)
        lines = [f"GET {self.path} HTTP/1.1", f"Authorization: Bearer {self.proxy.token}",
                 "Sec-WebSocket-Protocol: " + ", ".join(p for p in offered if p in self.proxy.knows)]
        lines += [f"{k}: {v}" for k, v in self.headers.items() if k not in ("Authorization", "Sec-WebSocket-Protocol")]
        api = self.proxy.api
        with self.proxy.context.wrap_socket(socket.create_connection((api.hostname, api.port)), server_hostname=api.hostname) as up:
            up.sendall("\r\n".join([*lines, "", ""]).encode())
            head = b""
            while b"\r\n\r\n" not in head:
                head += up.recv(65536)
            for line in head.decode(errors="replace").splitlines():
                if line.lower().startswith("sec-websocket-protocol:"):
                    self.proxy.chosen.append(line.split(":", 1)[1].strip())
            self.connection.sendall(head)

            def copy(source, sink):
                try:
                    while data := source.recv(65536):
                        sink.sendall(data)
                except OSError:
                    pass
                for s in (source, sink):
                    try:
                        s.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass

            other = threading.Thread(target=copy, args=(self.connection, up), daemon=True)
            other.start()
            copy(up, self.connection)
            other.join()


class Server(HttpFaultProxy):
    """An API server that knows some of the subprotocols."""

    def __init__(self, cluster, *knows: str):
        self.knows, self.offered, self.chosen = knows, [], []
        super().__init__(cluster.api, cluster.ca, cluster.token)
        self.server.RequestHandlerClass = type("Handler", (_Upgrades,), {"proxy": self})


class Wires(ClusterCase):
    def setUp(self):
        super().setUp()
        self.shared_pools()

    def use(self, name: str, *knows: str) -> Server:
        server = Server(self.cluster, *knows)
        self.addCleanup(server.stop)
        config = self.config({}, {"server": server.url, "certificate-authority": None})
        self.created(name, "loopback")
        self.addCleanup(self.sm, "rm", name, "--yes")
        r = self.sm("run", name, "--", "sh", "-c", "cat; echo err >&2; exit 3", stdin=b"in\n", config=config)
        self.assertEqual((r.out, r.err, r.code), ("in\n", "err\n", 3))
        data = os.urandom(3 << 20)
        (self.tmp / "data").write_bytes(data)
        self.sm("cp", self.tmp / "data", f"{name}:data", "--verify", config=config, check=0, timeout=60)
        self.sm("cp", f"{name}:data", self.tmp / "back", "--verify", config=config, check=0, timeout=60)
        self.assertEqual((self.tmp / "back").read_bytes(), data)
        for offered in server.offered:
            self.assertEqual(offered, [TUNNEL, CHANNELS])
        return server

    def test_the_tunnel(self):
        self.assertEqual(set(self.use("tunnel", TUNNEL, CHANNELS).chosen), {TUNNEL})

    def test_channels_of_an_older_server(self):
        self.assertEqual(set(self.use("channels", CHANNELS).chosen), {CHANNELS})


if __name__ == "__main__":
    main()
