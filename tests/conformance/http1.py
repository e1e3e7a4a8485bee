# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 on a bare socket: what is sent is sent as it is, what comes is read whole."""
import re
import socket

TIMEOUT = 15.0


class Response:
    def __init__(self, status, headers, body, complete, closed, version="HTTP/1.1"):
        self.status, self.headers, self.body = status, headers, body
        self.complete, self.closed, self.version = complete, closed, version

    def get(self, name):
        return self.headers.get(name.lower())

    def __repr__(self):
        return f"<{self.status} {self.headers} {self.body[:200]!r}>"


class Conn:
    def __init__(self, address, timeout=TIMEOUT):
        host, port = address.rsplit(":", 1)
        self.sock = socket.create_connection((host.strip("[]"), int(port)), timeout)
        self.host = address
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send(self, raw):
        self.sock.sendall(raw)

    def half_close(self):
        self.sock.shutdown(socket.SHUT_WR)

    def _more(self):
        try:
            part = self.sock.recv(65536)
        except ConnectionError:
            return False
        self.buffer += part
        return bool(part)

    def read(self, head=False):
        """The next response, or None at the end of the connection."""
        while b"\r\n\r\n" not in self.buffer:
            if not self._more():
                return None
        raw, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = raw.decode("latin-1").split("\r\n")
        version, status = lines[0].split(" ")[:2]
        status = int(status)
        headers = {}
        for line in lines[1:]:
            name, value = line.split(":", 1)
            headers[name.lower()] = value.strip()
        body, complete, closed = b"", True, False
        if head or status in (204, 304) or status < 200:
            return Response(status, headers, b"", True, False, version)
        if headers.get("transfer-encoding") == "chunked":
            body = self._chunked()
        elif "content-length" in headers:
            n = int(headers["content-length"])
            while len(self.buffer) < n and complete:
                complete = self._more()
            body, self.buffer = self.buffer[:n], self.buffer[n:]
        else:
            while self._more():
                pass
            body, self.buffer, closed = self.buffer, b"", True
        return Response(status, headers, body, complete, closed, version)

    def _chunked(self):
        body = b""
        while True:
            while b"\r\n" not in self.buffer:
                if not self._more():
                    return body
            line, self.buffer = self.buffer.split(b"\r\n", 1)
            n = int(line, 16)
            while len(self.buffer) < n + 2:
                if not self._more():
                    return body
            body += self.buffer[:n]
            self.buffer = self.buffer[n + 2:]
            if n == 0:
                return body

    def at_end(self, seconds=5):
        """True if the server has closed."""
        self.sock.settimeout(seconds)
        try:
            while self._more():
                pass
            return True
        except socket.timeout:
            return False


def raw_request(method, target, headers=(), body=b"", host="sandbox"):
    target = target if isinstance(target, bytes) else target.encode()
    lines = [method.encode() + b" " + target + b" HTTP/1.1"]
    names = {n.lower() for n, _ in headers}
    if host is not None and "host" not in names:
        lines.append(b"Host: " + host.encode())
    if body and "content-length" not in names and "transfer-encoding" not in names:
        lines.append(b"Content-Length: %d" % len(body))
    lines += [n.encode() + b": " + (v if isinstance(v, bytes) else v.encode("latin-1")) for n, v in headers]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def request(address, method, target, headers=(), body=b"", timeout=TIMEOUT):
    """One request on a connection of its own."""
    with Conn(address, timeout) as c:
        c.send(raw_request(method, target, headers, body))
        return c.read(head=method == "HEAD")


def chunked(*pieces):
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"


def plain(text, *roots):
    """Text with what differs by chance replaced: the root, temporary names, ports."""
    for root in roots:
        text = text.replace(str(root), "<root>")
    return re.sub(r"\.sandboxd-tmp-\w+", "<temp>", text)
