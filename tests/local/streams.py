# SPDX-License-Identifier: Apache-2.0
"""A client of pods/portforward and pods/exec as bytes: WebSocket frames, and SPDY/3.1 frames over them or over the
connection itself. It sends what it is told, also what no client should."""
import base64
import hashlib
import os
import socket
import struct
import zlib

CHANNELS, TUNNEL = "v4.channel.k8s.io", "SPDY/3.1+portforward.k8s.io"
# The dictionary of the SPDY draft, 2.6.10.1, as far as a stream that names it needs: its Adler-32 is what goes over the wire.
WORDS = """options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow
authorization cache-control connection content-base content-encoding content-language content-length content-location content-md5
content-range content-type date etag expect expires from host if-match if-modified-since if-none-match if-range
if-unmodified-since last-modified location max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after
server te trailer transfer-encoding upgrade user-agent vary via warning www-authenticate method get status""".split() + [
    "200 OK", "version", "HTTP/1.1", "url", "public", "set-cookie", "keep-alive", "origin"]
REST = ("100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
        "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden"
        "404 Not Found500 Internal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct "
        "Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,"
        "application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8"
        "charset=iso-8859-1,utf-,*,enq=0.")
DICTIONARY = b"".join(struct.pack(">I", len(w)) + w.encode() for w in WORDS) + REST.encode()


class Refusal(Exception):
    def __init__(self, code, headers, body):
        super().__init__(f"{code} {body[:300]!r}")
        self.code, self.headers, self.body = code, headers, body


class Connection:
    """An upgraded connection: recv and sendall are raw."""

    def __init__(self, backend, path, method="GET", headers=(), token=None, timeout=20):
        raw = socket.create_connection(("127.0.0.1", backend.port), timeout=timeout)
        self.sock = backend.context.wrap_socket(raw, server_hostname="127.0.0.1")
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{backend.port}",
                 f"Authorization: Bearer {backend.token if token is None else token}", *headers]
        if method == "POST":
            lines.append("Content-Length: 0")
        self.sock.sendall("\r\n".join([*lines, "", ""]).encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            part = self.sock.recv(65536)
            if not part:
                raise ConnectionError(f"no answer: {self.buffer!r}")
            self.buffer += part
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        status, *rest = head.decode().split("\r\n")
        self.headers = {}
        for line in rest:
            name, value = line.split(":", 1)
            self.headers[name.lower()] = value.strip()
        code = int(status.split()[1])
        if code != 101:
            while len(self.buffer) < int(self.headers.get("content-length", 0)):
                self.buffer += self.sock.recv(65536)
            self.sock.close()
            raise Refusal(code, self.headers, self.buffer)

    def read(self, n):
        """Exactly n bytes; b"" at the end."""
        while len(self.buffer) < n:
            part = self.sock.recv(65536)
            if not part:
                return b""
            self.buffer += part
        out, self.buffer = self.buffer[:n], self.buffer[n:]
        return out

    def send(self, data):
        self.sock.sendall(data)

    def close(self):
        self.sock.close()


class WebSocket(Connection):
    def __init__(self, backend, path, *protocols, extra=(), **kw):
        key = base64.b64encode(os.urandom(16)).decode()
        headers = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}", *extra]
        if protocols:
            headers.append("Sec-WebSocket-Protocol: " + ", ".join(protocols))
        super().__init__(backend, path, headers=headers, **kw)
        accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
        assert self.headers["sec-websocket-accept"] == accept, self.headers
        self.protocol = self.headers["sec-websocket-protocol"]
        self.close_code = None

    def frame(self, payload, opcode=2, fin=True, masked=True):
        n = len(payload)
        head = bytes([(0x80 if fin else 0) | opcode])
        bit = 0x80 if masked else 0
        head += bytes([bit | n]) if n < 126 else bytes([bit | 126]) + struct.pack(">H", n) if n < 65536 else bytes([bit | 127]) + struct.pack(">Q", n)
        if masked:
            mask = os.urandom(4)
            whole = mask * (n // 4 + 1)
            head += mask
            payload = (int.from_bytes(payload, "big") ^ int.from_bytes(whole[:n], "big")).to_bytes(n, "big") if n else b""
        super().send(head + payload)

    def send(self, data):
        self.frame(data)

    def message(self):
        """(opcode, payload) of the next frame, (None, b"") at the end."""
        head = self.read(2)
        if not head:
            return None, b""
        n = head[1] & 0x7f
        assert not head[1] & 0x80, "a server does not mask"
        if n == 126:
            n = struct.unpack(">H", self.read(2))[0]
        elif n == 127:
            n = struct.unpack(">Q", self.read(8))[0]
        payload = self.read(n) if n else b""
        if head[0] & 0xf == 8:
            self.close_code = struct.unpack(">H", payload[:2])[0] if payload else 1005
        return head[0] & 0xf, payload

    def channels(self):
        """{channel: bytes} of everything until the end."""
        got = {}
        while True:
            opcode, payload = self.message()
            if opcode in (None, 8):
                return got
            if opcode == 2:
                got.setdefault(payload[0], bytearray()).extend(payload[1:])


class Spdy:
    """Over a Connection (raw) or a WebSocket (its messages are a stream of bytes)."""

    def __init__(self, connection, dictionary=True):
        self.connection, self.bytes = connection, b""
        self.deflate = zlib.compressobj(zdict=DICTIONARY) if dictionary else zlib.compressobj()
        self.inflate = zlib.decompressobj(zdict=DICTIONARY)
        self.next_id = 1

    def control(self, kind, body, flags=0):
        self.connection.send(struct.pack(">HHI", 0x8003, kind, flags << 24 | len(body)) + body)

    def syn(self, headers, fin=False, stream=None):
        stream = stream or self.next_id
        self.next_id = stream + 2
        block = struct.pack(">I", len(headers))
        for name, value in headers.items():
            block += struct.pack(">I", len(name)) + name.encode() + struct.pack(">I", len(value)) + value.encode()
        packed = self.deflate.compress(block) + self.deflate.flush(zlib.Z_SYNC_FLUSH)
        self.control(1, struct.pack(">IIBB", stream, 0, 0, 0) + packed, 1 if fin else 0)
        return stream

    def pair(self, port, request):
        error = self.syn({"streamtype": "error", "port": str(port), "requestid": str(request)}, fin=True)
        return error, self.syn({"streamtype": "data", "port": str(port), "requestid": str(request)})

    def data(self, stream, payload, fin=False):
        self.connection.send(struct.pack(">II", stream, (1 if fin else 0) << 24 | len(payload)) + payload)

    def reset(self, stream):
        self.control(3, struct.pack(">II", stream, 5))

    def _need(self, n):
        while len(self.bytes) < n:
            if isinstance(self.connection, WebSocket):
                opcode, payload = self.connection.message()
                if opcode in (None, 8):
                    return False
                self.bytes += payload if opcode == 2 else b""
            else:
                one = self.connection.read(1)
                if not one:
                    return False
                self.bytes += one + self.connection.buffer
                self.connection.buffer = b""
        return True

    def frame(self):
        """("data", stream, fin, bytes), ("reply", stream), ("reset", stream, status), ("ping", id), (number, body); None: the end."""
        if not self._need(8):
            return None
        first, second = struct.unpack(">II", self.bytes[:8])
        n = second & 0xffffff
        if not self._need(8 + n):
            return None
        body, self.bytes = self.bytes[8:8 + n], self.bytes[8 + n:]
        if not first & 0x80000000:
            return "data", first, bool(second >> 24 & 1), body
        kind = first & 0xffff
        if kind == 2:
            headers = self.inflate.decompress(body[4:])
            assert headers == b"\0\0\0\0", headers
            return "reply", struct.unpack(">I", body[:4])[0]
        if kind == 3:
            return ("reset", *struct.unpack(">II", body))
        if kind == 6:
            return "ping", struct.unpack(">I", body)[0]
        return kind, body

    def until_fin(self, *streams):
        """{stream: bytes} until each of these has ended."""
        got, left = {}, set(streams)
        while left:
            frame = self.frame()
            if frame is None:
                return got
            if frame[0] == "data":
                got.setdefault(frame[1], bytearray()).extend(frame[3])
                if frame[2]:
                    left.discard(frame[1])
            elif frame[0] == "reset":
                got.setdefault(frame[1], bytearray()).extend(b"<reset>")
                left.discard(frame[1])
        return got


def spdy_post(backend, path, version="portforward.k8s.io", **kw):
    headers = ["Connection: Upgrade", "Upgrade: SPDY/3.1"] + ([f"X-Stream-Protocol-Version: {version}"] if version else [])
    return Connection(backend, path, method="POST", headers=headers, **kw)
