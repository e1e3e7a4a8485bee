# SPDX-License-Identifier: Apache-2.0
"""A small HTTP/2 client that hides nothing: every frame can be sent as one likes and every
frame that comes is kept."""
import socket
import struct
import time

import hpack

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS = 1, 1, 4
TIMEOUT = 15.0


class Closed(Exception):
    pass


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


class Stream:
    """What has come for one stream."""

    def __init__(self, number):
        self.number = number
        self.headers = []      # header blocks, in order
        self.data = bytearray()
        self.ended = False
        self.reset = None      # error code of RST_STREAM
        self.frame_sizes = []  # of DATA

    @property
    def over(self):
        return self.ended or self.reset is not None


class Conn:
    """window_update: replenish what arrives (False: the server meets the default windows)."""

    def __init__(self, address, window_update=True, settings=b"", preface=True):
        host, port = address.rsplit(":", 1)
        self.sock = socket.create_connection((host.strip("[]"), int(port)), TIMEOUT)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.authority = address
        self.decoder = hpack.Decoder()
        self.buffer = b""
        self.streams = {}
        self.next_id = 1
        self.window_update = window_update
        self.settings = {}
        self.goaways = []
        self.pings = []
        self.window = {0: 65535}
        self.initial_window = 65535
        if preface:
            self.sock.sendall(PREFACE + frame(SETTINGS, 0, 0, settings))

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, raw):
        self.sock.sendall(raw)

    @staticmethod
    def encode(headers):
        """Literals without Huffman or indexing, so that forbidden ones can be sent too."""
        out = b""
        for name, value in headers:
            name, value = (x if isinstance(x, bytes) else x.encode() for x in (name, value))
            assert len(name) < 127
            out += b"\x00" + bytes([len(name)]) + name
            if len(value) < 127:
                out += bytes([len(value)])
            else:
                rest, tail = len(value) - 127, b""
                while rest >= 128:
                    tail += bytes([rest % 128 + 128])
                    rest //= 128
                out += b"\x7f" + tail + bytes([rest])
            out += value
        return out

    def open(self, headers, end=False):
        number, self.next_id = self.next_id, self.next_id + 2
        self.streams[number] = Stream(number)
        self.window[number] = self.initial_window
        self.send(frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), number, self.encode(headers)))
        return self.streams[number]

    def data(self, stream, payload, end=False):
        """Obeys the server's windows."""
        while True:
            room = min(16384, self.window[0], self.window[stream.number])
            part = payload[:max(room, 0)]
            if payload and not part:
                self.pump(TIMEOUT, lambda: stream.over or min(self.window[0], self.window[stream.number]) > 0)
                if stream.over:
                    return
                continue
            payload = payload[len(part):]
            self.window[0] -= len(part)
            self.window[stream.number] -= len(part)
            self.send(frame(DATA, END_STREAM if end and not payload else 0, stream.number, part))
            if not payload:
                return

    def reset(self, stream, code=8):
        self.send(frame(RST_STREAM, 0, stream.number, struct.pack(">I", code)))

    def grant(self, number, n):
        try:
            self.send(frame(WINDOW_UPDATE, 0, number, struct.pack(">I", n)))
        except OSError:
            pass  # the server has closed; what it sent before is still to be read

    def ping(self, payload=b"abcdefgh"):
        self.send(frame(PING, 0, 0, payload))

    def read_frame(self, deadline):
        while len(self.buffer) < 9 or len(self.buffer) < 9 + int.from_bytes(self.buffer[:3], "big"):
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("no frame")
            self.sock.settimeout(left)
            try:
                part = self.sock.recv(65536)
            except socket.timeout:
                raise TimeoutError("no frame") from None
            except ConnectionError as e:
                raise Closed(str(e)) from None
            if not part:
                raise Closed("end of connection")
            self.buffer += part
        n = int.from_bytes(self.buffer[:3], "big")
        kind, flags = self.buffer[3], self.buffer[4]
        number = struct.unpack(">I", self.buffer[5:9])[0] & 0x7FFFFFFF
        payload, self.buffer = self.buffer[9:9 + n], self.buffer[9 + n:]
        return kind, flags, number, payload

    def take(self, kind, flags, number, payload):
        s = self.streams.get(number)
        if kind == SETTINGS and not flags & ACK:
            for i in range(0, len(payload), 6):
                key, value = struct.unpack(">HI", payload[i:i + 6])
                self.settings[key] = value
                if key == 4:
                    for open_stream in self.streams:
                        self.window[open_stream] += value - self.initial_window
                    self.initial_window = value
            self.send(frame(SETTINGS, ACK, 0))
        elif kind == PING:
            if flags & ACK:
                self.pings.append(payload)
            else:
                self.send(frame(PING, ACK, 0, payload))
        elif kind == GOAWAY:
            last, code = struct.unpack(">II", payload[:8])
            self.goaways.append((last & 0x7FFFFFFF, code, payload[8:]))
        elif kind == WINDOW_UPDATE:
            if number in self.window:
                self.window[number] += struct.unpack(">I", payload)[0]
        elif kind == RST_STREAM and s:
            s.reset = struct.unpack(">I", payload)[0]
        elif kind == HEADERS:
            block = payload
            while not flags & END_HEADERS:
                k, f, _, more = self.read_frame(time.monotonic() + TIMEOUT)
                assert k == CONTINUATION
                block += more
                flags |= f & END_HEADERS
            fields = self.decoder.decode(block)
            if s:
                s.headers.append(fields)
                s.ended |= bool(flags & END_STREAM)
        elif kind == DATA and s:
            s.data += payload
            s.frame_sizes.append(len(payload))
            s.ended |= bool(flags & END_STREAM)
            if self.window_update and payload:
                self.grant(0, len(payload))
                if not s.over:
                    self.grant(number, len(payload))

    def pump(self, seconds, done=lambda: False):
        """Handles frames until done() or the time is over. True if done."""
        deadline = time.monotonic() + seconds
        while not done():
            try:
                self.take(*self.read_frame(deadline))
            except TimeoutError:
                return done()
        return True

    def wait(self, stream, seconds=TIMEOUT):
        if not self.pump(seconds, lambda: stream.over):
            raise TimeoutError(f"stream {stream.number} did not end; got {len(stream.data)} bytes")
        return stream
