# SPDX-License-Identifier: Apache-2.0
"""Faults between a client and a server. FaultProxy works on bytes (TLS passes through it): silence, cuts, a slow drip,
refusal. HttpFaultProxy speaks plain HTTP to the client and TLS to a Kubernetes API server behind it, and answers
what a rule says instead: for faults that only a server can make."""
import http.client
import http.server
import json
import socket
import ssl
import threading
import time
import urllib.parse

from .procs import free_port


class FaultProxy:
    """url is where the client goes. hold() is an outage: nothing is lost, nothing moves, until release(); half_open()
    makes today's connections dead for ever without telling anybody; cut_after(n) ends each connection after n more
    bytes to the client; drip(n) lets through n bytes a second; refuse() and accept() are what they say."""

    def __init__(self, target: str):
        host, port = target.split("://")[-1].rsplit(":", 1)
        self.target, self.scheme = (host, int(port)), target.split("://")[0]
        self.pipes, self.lock = [], threading.Lock()
        self.held, self.rate, self.cut_left = False, 0, None
        self.connections = 0
        self.listener = None
        self.port = free_port()  # which stays its own while it refuses
        self.accept()
        self.url = f"{self.scheme}://127.0.0.1:{self.port}"

    def accept(self):
        if self.listener is None:
            self.listener = socket.create_server(("127.0.0.1", self.port))
            threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def _accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            self.connections += 1
            _Pipe(self, client)

    def refuse(self):
        """New connections are refused; those that are open stay."""
        listener, self.listener = self.listener, None
        if listener:
            listener.shutdown(socket.SHUT_RDWR)  # close() alone would leave accept() waiting on it
            listener.close()

    def hold(self):
        self.held = True

    def release(self):
        self.held = False

    def half_open(self):
        with self.lock:
            for pipe in self.pipes:
                pipe.dead = True

    def cut_after(self, n: int):
        with self.lock:
            for pipe in self.pipes:
                pipe.cut_left = n

    def cut(self):
        with self.lock:
            pipes = list(self.pipes)
        for pipe in pipes:
            pipe.close()

    def drip(self, bytes_per_second: int):
        self.rate = bytes_per_second

    def stop(self):
        self.refuse()
        self.release()
        self.cut()


class _Pipe:
    def __init__(self, proxy, client):
        self.proxy, self.client = proxy, client
        self.dead, self.cut_left, self.was_cut = False, None, False
        try:
            self.server = socket.create_connection(proxy.target, 10)
        except OSError:
            client.close()
            return
        self.server.settimeout(None)
        with proxy.lock:
            proxy.pipes.append(self)
        threading.Thread(target=self._copy, args=(client, self.server, False), daemon=True).start()
        threading.Thread(target=self._copy, args=(self.server, client, True), daemon=True).start()

    def _copy(self, source, sink, down):
        try:
            while True:
                data = source.recv(min(16384, max(1, self.proxy.rate // 10)) if down and self.proxy.rate else 16384)
                while self.proxy.held or self.dead:
                    if sink.fileno() < 0 or source.fileno() < 0:
                        return
                    time.sleep(0.02)
                if not data:
                    break
                if down and self.cut_left is not None:
                    data, self.cut_left = data[:self.cut_left], self.cut_left - len(data)
                    if self.cut_left <= 0:
                        sink.sendall(data)
                        self.was_cut = True
                        break
                sink.sendall(data)
                if down and self.proxy.rate:
                    time.sleep(len(data) / self.proxy.rate)
        except OSError:
            pass
        self.close()

    def close(self):
        with self.proxy.lock:
            if self in self.proxy.pipes:
                self.proxy.pipes.remove(self)
        for s in (self.client, self.server):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()


class Request:
    """What a rule is asked about."""

    def __init__(self, handler):
        url = urllib.parse.urlsplit(handler.path)
        self.at, self.path, self.query = time.monotonic(), url.path, dict(urllib.parse.parse_qsl(url.query))
        self.is_watch = self.query.get("watch") in ("1", "true")
        self.is_list = not self.is_watch or self.query.get("sendInitialEvents") == "true"  # a streaming list is both
        self.resource = url.path.rstrip("/").rsplit("/", 1)[-1]
        if url.path.startswith("/apis/metrics.k8s.io/"):
            self.resource += ".metrics.k8s.io"  # no pods, but their use


def status(code: int, reason: str, message: str = "", **details) -> dict:
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": message, "metadata": {}, **details}


class HttpFaultProxy:
    """rule(request) returns None (let it through), (status, headers, object), {"events": [objects]} (a watch that says
    these and ends), {"delay": seconds} or {"events": …, "cut": True} (which then ends in mid-chunk)."""

    def __init__(self, api: str, ca: str, token: str):
        self.api, self.token = urllib.parse.urlsplit(api), token
        self.context = ssl.create_default_context(cafile=ca) if self.api.scheme == "https" else None
        self.rule = lambda request: None
        self.requests, self.upstream = [], []
        handler = type("Handler", (_Handler,), {"proxy": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def connect(self):
        if self.context:
            return http.client.HTTPSConnection(self.api.hostname, self.api.port, context=self.context)
        return http.client.HTTPConnection(self.api.hostname, self.api.port)

    def end_watches(self):
        """Ends every watch that is open, as the server does when its time is over."""
        for c in list(self.upstream):
            if c.sock:
                try:
                    c.sock.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def stop(self):
        self.end_watches()
        self.server.shutdown()
        self.server.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy: HttpFaultProxy

    def log_message(self, *_):
        pass

    def do_GET(self):
        request = Request(self)
        self.proxy.requests.append(request)
        say = self.proxy.rule(request)
        if isinstance(say, dict) and "delay" in say:
            time.sleep(say["delay"])
            say = None
        try:
            if say is None:
                self.forward()
            elif isinstance(say, tuple):
                code, headers, obj = say
                self.whole(code, json.dumps(obj).encode(), headers)
            else:
                self.begin()
                for event in say["events"]:
                    self.chunk(json.dumps(event).encode() + b"\n")
                if say.get("cut"):
                    self.wfile.write(b"400\r\n{\"type\":\"MODIFIED\",\"object\":{\"kind\"")
                    self.connection.shutdown(socket.SHUT_RDWR)
                else:
                    self.wfile.write(b"0\r\n\r\n")
                self.close_connection = True
        except OSError:
            self.close_connection = True

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

    def whole(self, code, body, headers):
        self.send_response(code)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        c = self.proxy.connect()
        headers = {"Authorization": f"Bearer {self.proxy.token}"}
        headers.update({k: v for k, v in self.headers.items() if k in ("Accept", "Content-Type")})
        try:
            c.request(self.command, self.path, body or None, headers)
            answer = c.getresponse()
        except OSError:
            c.close()
            self.whole(502, json.dumps(status(502, "InternalError", "no server behind the proxy")).encode(), {})
            return
        if answer.headers.get("Transfer-Encoding") != "chunked":
            self.whole(answer.status, answer.read(), {"Content-Type": answer.headers.get("Content-Type", "")})
            c.close()
            return
        self.proxy.upstream.append(c)
        try:
            self.begin()
            while True:
                data = answer.read1(65536)
                if not data:
                    break
                self.chunk(data)
            self.wfile.write(b"0\r\n\r\n")
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            self.close_connection = True
        finally:
            self.proxy.upstream.remove(c)
            c.close()
