#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for sandmux-sandboxd in a jail and answers as its host name says ("endless-body", "drip", …). Begins as the
real one does: two sockets in --socket-dir, and a byte into --ready-fd."""
import hashlib
import os
import socket
import struct
import sys
import threading
import time

BLOCK = b"x" * 65536
OK = b"HTTP/1.1 200 OK\r\n"


def option(name):
    return sys.argv[sys.argv.index(name) + 1]


def forever(client, block):
    while True:
        client.sendall(block)


def drip(client):
    for byte in (OK + b"X: " + b"y" * 100000):
        client.sendall(bytes([byte]))
        time.sleep(0.3)


def flood_log(line):
    end = time.monotonic() + 3
    while time.monotonic() < end:
        os.write(2, line * 500)


def sink(client):
    """The hash of everything, once it has come."""
    digest, n = hashlib.sha256(), 0
    while True:
        part = client.recv(1 << 18)
        if not part:
            break
        digest.update(part)
        n += len(part)
        if n < 1 << 20:
            time.sleep(0.001)  # slower than who sends
    client.sendall(digest.hexdigest().encode())


def source(client):
    """As much as is asked for in eight bytes, and the end."""
    n, = struct.unpack(">Q", client.recv(8, socket.MSG_WAITALL))
    pattern = bytes(range(256)) * 256
    while n:
        n -= client.send(pattern[:min(n, len(pattern))])
    client.shutdown(socket.SHUT_WR)
    client.recv(1)


def echo(client):
    while True:
        part = client.recv(65536)
        if not part:
            break
        client.sendall(part)
    client.sendall(b"over")


def answer_early(client):
    """In the middle of an upload."""
    client.recv(1000)
    client.sendall(b"HTTP/1.1 507 Insufficient Storage\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


def reset(client):
    """Closed with bytes unread: the other side sees a reset."""
    client.recv(1, socket.MSG_PEEK)


MODES = {
    "endless-line": lambda c: forever(c, BLOCK),
    "endless-head": lambda c: (c.sendall(OK), forever(c, b"X-A: " + BLOCK + b"\r\n")),
    "endless-body": lambda c: (c.sendall(OK + b"\r\n"), forever(c, BLOCK)),
    "endless-continue": lambda c: forever(c, b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    "drip": drip,
    "silent": lambda c: time.sleep(3600),
    "half-open": lambda c: (c.shutdown(socket.SHUT_RD), time.sleep(3600)),
    "says-nothing": lambda c: c.shutdown(socket.SHUT_WR) or time.sleep(3600),
    "closes": lambda c: None,
    "redirect": lambda c: c.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"),
    "wrong": lambda c: c.sendall(b"SSH-2.0-OpenSSH_9.2\r\n" * 40),
    "zeros": lambda c: c.sendall(bytes(4096)),
    "well": lambda c: c.sendall(OK + b"Content-Length: 2\r\n\r\nok"),
    "log-lines": lambda c: (c.sendall(OK + b"\r\n"), flood_log(b"y" * 100 + b"\n")),
    "log-without-end": lambda c: (c.sendall(OK + b"\r\n"), flood_log(b"y" * 100)),
    "never-reads": lambda c: time.sleep(3600),
    "tiny": lambda c: [c.sendall(b"z") for _ in range(20000)],
    "echo": echo,
    "sink": sink,
    "source": source,
    "early": answer_early,
    "reset": reset,
}


def serve(client, mode):
    try:
        if mode not in ("echo", "sink", "source", "early", "reset", "tiny", "never-reads"):
            seen = client.recv(65536)
            with open("/workspace/seen", "ab") as f:
                f.write(seen + b"\n")
        MODES[mode](client)
    except OSError:
        pass
    client.close()


def accept(listener, mode):
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, mode), daemon=True).start()


def main():
    threading.stack_size(64 << 10)
    listeners = []
    for name in ("rest.sock", "grpc.sock"):
        s = socket.socket(socket.AF_UNIX)
        s.bind(os.path.join(option("--socket-dir"), name))
        s.listen(1024)
        listeners.append(s)
    try:
        mode = open("/workspace/mode").read().strip()
    except FileNotFoundError:
        mode = socket.gethostname()
    os.write(int(option("--ready-fd")), b"1")
    threading.Thread(target=accept, args=(listeners[1], mode), daemon=True).start()
    accept(listeners[0], mode)


if __name__ == "__main__":
    main()
