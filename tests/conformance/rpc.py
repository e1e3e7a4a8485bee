# SPDX-License-Identifier: Apache-2.0
"""The process service by hand: protobuf and gRPC framing written out, so that broken messages
can be sent as well."""
import re
import struct
import time

import h2raw

SERVICE = "/process.v1.ProcessService/"
OK, UNKNOWN, INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED = 0, 2, 3, 5, 7


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field_int(number, value):
    return varint(number << 3) + varint(value)


def field_bytes(number, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def config(argv, env=None, cwd=None):
    out = b"".join(field_bytes(1, a) for a in argv)
    for k, v in (env or {}).items():
        out += field_bytes(2, field_bytes(1, k) + field_bytes(2, v))
    return out + (field_bytes(3, cwd) if cwd is not None else b"")


def execute_request(argv, **kw):
    return field_bytes(1, config(argv, **kw))


def start_request(argv, pty=None, **kw):
    out = field_bytes(1, config(argv, **kw))
    if pty is not None:
        out += field_bytes(2, field_int(1, pty[0]) + field_int(2, pty[1]))
    return out


def parse(message):
    """[(field, value)]: ints or bytes."""
    out, i = [], 0

    def read():
        nonlocal i
        n = shift = 0
        while True:
            n |= (message[i] & 127) << shift
            shift += 7
            i += 1
            if message[i - 1] < 128:
                return n

    while i < len(message):
        key = read()
        if key & 7 == 0:
            out.append((key >> 3, read()))
        else:
            assert key & 7 == 2, key
            n = read()
            out.append((key >> 3, message[i:i + n]))
            i += n
    return out


def int32(n):
    return n - (1 << 64) if n >= 1 << 63 else n


def framed(message, flag=0):
    return bytes([flag]) + struct.pack(">I", len(message)) + message


def unframe(data):
    """Whole messages, and the bytes left over."""
    out, i = [], 0
    while len(data) >= i + 5:
        n = struct.unpack_from(">I", data, i + 1)[0]
        if len(data) < i + 5 + n:
            break
        out.append(bytes(data[i + 5:i + 5 + n]))
        i += 5 + n
    return out, bytes(data[i:])


def headers(conn, method, extra=(), drop=()):
    base = [(":method", "POST"), (":scheme", "http"), (":path", method if method.startswith("/") else SERVICE + method),
            (":authority", conn.authority), ("content-type", "application/grpc"), ("te", "trailers")]
    replaced = {n for n, _ in extra}
    pseudo = [(n, v) for n, v in extra if n.startswith(":")]
    return pseudo + [(n, v) for n, v in base if n not in drop and n not in replaced] + \
        [(n, v) for n, v in extra if not n.startswith(":")]


def percent_decode(text):
    raw = re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m[1], 16)]), text.encode("latin-1", "replace"))
    return raw.decode("utf-8", "replace")


class Answer:
    def __init__(self, stream):
        first = dict(stream.headers[0]) if stream.headers else {}
        last = dict(stream.headers[-1]) if stream.headers else {}
        self.http = first.get(":status")
        self.content_type = first.get("content-type")
        self.status = int(last["grpc-status"]) if "grpc-status" in last else None
        self.message = percent_decode(last.get("grpc-message", ""))
        self.trailers_only = len(stream.headers) == 1 and stream.ended
        self.reset = stream.reset
        self.messages, self.rest = unframe(stream.data)

    def __repr__(self):
        return f"<{self.http} {self.status} {self.message!r} reset={self.reset} n={len(self.messages)}>"


def unary(conn, method, message, extra=(), end=True, seconds=h2raw.TIMEOUT, **kw):
    s = conn.open(headers(conn, method, extra, **kw))
    conn.data(s, framed(message), end)
    conn.wait(s, seconds)
    return Answer(s)


def execute(conn, argv, seconds=h2raw.TIMEOUT, **kw):
    a = unary(conn, "Execute", execute_request(argv, **kw), seconds=seconds)
    if a.status == 0:
        fields = dict(parse(a.messages[0]))
        a.code, a.out, a.err = int32(fields.get(1, 0)), fields.get(2, b""), fields.get(3, b"")
    return a


class Process:
    """A Start stream. Events as they come: ("init", pid), ("out", bytes), ("err", bytes), ("exit", code)."""

    def __init__(self, conn, argv, pty=None, extra=(), **kw):
        self.conn = conn
        self.stream = conn.open(headers(conn, "Start", extra))
        conn.data(self.stream, framed(start_request(argv, pty=pty, **kw)), True)

    def events(self):
        out = []
        for m in unframe(self.stream.data)[0]:
            for number, value in parse(m):
                if number == 1:
                    out.append(("init", dict(parse(value)).get(1, 0)))
                elif number == 2:
                    out.append(("out", value))
                elif number == 3:
                    out.append(("err", value))
                elif number == 4:
                    out.append(("exit", int32(dict(parse(value)).get(1, 0))))
        return out

    def _of(self, kind):
        return [v for k, v in self.events() if k == kind]

    @property
    def pid(self):
        if not self.conn.pump(h2raw.TIMEOUT, lambda: self._of("init") or self.stream.over):
            raise TimeoutError("no init")
        return (self._of("init") or [None])[0]

    @property
    def out(self):
        return b"".join(self._of("out"))

    @property
    def err(self):
        return b"".join(self._of("err"))

    @property
    def exit(self):
        return (self._of("exit") or [None])[0]

    def wait(self, seconds=h2raw.TIMEOUT):
        self.conn.wait(self.stream, seconds)
        return Answer(self.stream)

    def wait_out(self, text, seconds=h2raw.TIMEOUT):
        if not self.conn.pump(seconds, lambda: text in self.out or self.stream.over) or text not in self.out:
            raise TimeoutError(f"no {text!r} in {self.out[-200:]!r}")

    def write(self, data, seconds=h2raw.TIMEOUT):
        return unary(self.conn, "WriteStdin", field_int(1, self.pid) + field_bytes(2, data), seconds=seconds)

    def eof(self):
        return unary(self.conn, "WriteStdin", field_int(1, self.pid) + field_bytes(3, b""))

    def signal(self, number):
        return unary(self.conn, "SendSignal", field_int(1, self.pid) + field_int(2, number))

    def resize(self, cols, rows):
        return unary(self.conn, "ResizeTTY", field_int(1, self.pid) + field_int(2, cols) + field_int(3, rows))

    def reset(self):
        self.conn.reset(self.stream)


def settle(conn, seconds=0.3):
    conn.pump(seconds)
    time.sleep(0)
