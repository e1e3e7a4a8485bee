# SPDX-License-Identifier: Apache-2.0
"""The process service over gRPC, and HTTP/2 itself."""
import os
import re
import socket
import struct
import time

import h2raw
import rpc
from h2raw import Conn, frame
from http1 import plain, request
from rpc import (Answer, Process, execute, execute_request, field_bytes, field_int, framed, headers, start_request, unary)
from table import case


def told(t, a):
    """What of an answer must be equal."""
    return (a.http, a.content_type, a.status, plain(a.message, t.root), a.trailers_only, a.reset, len(a.messages))


def ran(t, a):
    if a.status == 0:
        return told(t, a), a.code, plain(a.out.decode("utf-8", "replace"), t.root), plain(a.err.decode("utf-8", "replace"), t.root)
    return told(t, a)


def row(name, argv, setup=None, differs=None, ours=None, user=False, **kw):
    """One command, by Execute and by Start without and with a terminal."""
    def run(t):
        if setup:
            setup(t)
        with Conn(t.grpc) as c:
            return ran(t, execute(c, argv, **kw))

    def start(pty):
        def run_start(t):
            if setup:
                setup(t)
            with Conn(t.grpc) as c:
                p = Process(c, argv, pty=pty, **kw)
                a = p.wait()
                return (told(t, a)[:6], plain(p.out.decode("utf-8", "replace"), t.root), plain(p.err.decode("utf-8", "replace"), t.root),
                        p.exit, [k for k, _ in p.events()][:1])
        return run_start

    case("execute." + name, differs, ours, user)(run)
    case("start." + name, differs, ours, user)(start(None))
    # the real one loses the end of a terminal's output now and then
    case("start-tty." + name, differs, ours, user, tries=6)(start((80, 24)))


def files(t):
    t.write("file", "x")
    t.write("text", "no program", mode=0o755)
    t.write("script", "#!/bin/sh\necho script ran in $PWD\n", mode=0o755)
    t.write("bad-interpreter", "#!/nonexistent/sh\n", mode=0o755)
    t.write("bin/echo", "#!/bin/sh\necho fake\n", mode=0o755)
    t.write("d/inner", "x")
    os.symlink("d", t.root / "ld")
    os.symlink("/etc", t.root / "out")
    os.symlink("nope", t.root / "broken")


row("echo", ["echo", "hi"])
row("exit", ["sh", "-c", "exit 5"])
row("exit-256", ["sh", "-c", "exit 300"])
row("killed", ["sh", "-c", "kill -9 $$"])
row("terminated", ["sh", "-c", "kill $$"])
row("no-command", [])
row("empty-name", [""])
row("empty-name-args", ["", "x"])
row("not-found", ["no-such-program"])
row("not-found-quoted", ["no such \"program\"\n\u00e9"])
row("not-found-path", ["/no/such/program"])
row("not-found-relative", ["./nope"])
row("directory", ["/tmp"])
row("directory-dot", ["."])
row("not-executable", ["/etc/passwd"])
row("exec-format", ["./text"], setup=files)
row("script", ["./script"], setup=files)
row("bad-interpreter", ["./bad-interpreter"], setup=files)
row("relative-to-cwd", ["./inner"], setup=files, cwd="d")
row("nul-in-argv", ["echo", "a\0b"])
row("nul-in-name", ["ec\0ho"], differs="the name is shown up to the NUL", ours=lambda v: "not found in $PATH" in repr(v))
row("nul-in-env", ["echo"], env={"A": "b\0c"})
row("long-argument", ["echo", "x" * (130 << 10)])
row("many-arguments", ["sh", "-c", "echo $#", "x"] + ["y" * 100] * 5000)
row("utf8", ["printf", "%s", "\u00e9\u4e2d\U0001f600"])
row("stdin-is", ["sh", "-c", "readlink /proc/self/fd/0 | sed 's/[0-9]*//g'"])
row("fds", ["sh", "-c", "ls /proc/self/fd | tr '\\n' ' '"])
row("signals-default", ["sh", "-c", "grep -E 'Sig(Blk|Ign)' /proc/self/status"])
row("env", ["sh", "-c", "echo $A-$B-$PATH-$SANDBOX_ID"], env={"A": "1", "B": "", "PATH": "/usr/bin:/bin"})
row("env-path-not-searched", ["echo", "real"], setup=files, env={"PATH": "bin"})
row("env-odd", ["sh", "-c", "env | grep -c -E '^(X=|=Y)'"], env={"": "Y", "X": "a=b"})
row("env-pwd", ["sh", "-c", "env | grep ^PWD="], cwd="")
row("env-pwd-with-env", ["sh", "-c", "echo ok"], env={"PWD": "/nowhere"})
for i, cwd in enumerate(("", ".", "d", "d/", "ld", "/d", "d/../d", "..", "../x", "/..", "out", "broken", "nope", "file", "file/x", "d/nope",
                         "/etc", "\u00e9", "a\nb\"")):
    row(f"cwd.{i}", ["pwd"], setup=files, cwd=cwd)
row("cwd.script", ["./script"], setup=files, cwd="d/..")


@case("execute.cwd.absolute")
def _(t):
    files(t)
    with Conn(t.grpc) as c:
        return [ran(t, execute(c, ["pwd"], cwd=str(t.root) + x)) for x in ("", "/d", "/../x", "x")]


def locked(t):
    t.write("locked/x", "#!/bin/sh\n", mode=0o755)
    t.mkdir("locked", mode=0)


row("cwd-denied", ["pwd"], setup=locked, cwd="locked", user=True)
row("cwd-below-denied", ["pwd"], setup=locked, cwd="locked/x", user=True)


# Execute

@case("execute.both-outputs")
def _(t):
    with Conn(t.grpc) as c:
        return ran(t, execute(c, ["sh", "-c", "echo out; echo err >&2; exit 3"]))


@case("execute.large-output")
def _(t):
    with Conn(t.grpc) as c:
        a = execute(c, ["head", "-c", "6000000", "/dev/zero"], seconds=60)
        return told(t, a), len(a.out), set(a.out)


@case("execute.grandchild-holds-stdout")
def _(t):
    with Conn(t.grpc) as c:
        start = time.monotonic()
        a = execute(c, ["sh", "-c", "sleep 30 & echo hi"], seconds=20)
        return told(t, a), round((time.monotonic() - start) / 2.5)


@case("execute.grandchild-closes")
def _(t):
    with Conn(t.grpc) as c:
        return ran(t, execute(c, ["sh", "-c", "(sleep 1; echo late) & echo hi"]))


@case("execute.before-end-of-stream")
def _(t):
    with Conn(t.grpc) as c:
        s = c.open(headers(c, "Execute"))
        c.data(s, framed(execute_request(["echo", "hi"])))
        c.wait(s)
        return Answer(s).status, Answer(s).messages


@case("execute.cancelled")
def _(t):
    with Conn(t.grpc) as c:
        s = c.open(headers(c, "Execute"))
        c.data(s, framed(execute_request(["sh", "-c", "echo $$ > pid; exec sleep 100"])), True)
        pid = wait_pid(t)
        c.reset(s)
        return gone(pid)


@case("execute.connection-lost")
def _(t):
    with Conn(t.grpc) as c:
        s = c.open(headers(c, "Execute"))
        c.data(s, framed(execute_request(["sh", "-c", "echo $$ > pid; exec sleep 100"])), True)
        pid = wait_pid(t)
    return gone(pid)


def wait_pid(t, name="pid"):
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            return int((t.root / name).read_text())
        except (OSError, ValueError):
            time.sleep(0.02)
    raise TimeoutError("no pid file")


def gone(pid, seconds=3):
    """True once the process has ended (a zombie has not: it must be reaped)."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


# the request on the wire

def odd(name, method="Execute", extra=(), drop=(), body=framed(execute_request(["echo", "hi"])), end=True, differs=None, ours=None):
    def run(t):
        with Conn(t.grpc) as c:
            s = c.open(headers(c, method, extra, drop), end=end and not body)
            if body:
                c.data(s, body, end)
            c.wait(s)
            return told(t, Answer(s))
    case("wire." + name, differs, ours)(run)


odd("no-te", drop=("te",))
odd("no-authority", drop=(":authority",))
odd("content-type.proto", extra=[("content-type", "application/grpc+proto")])
odd("content-type.param", extra=[("content-type", "application/grpc; x=y")])
odd("content-type.json", extra=[("content-type", "application/grpc+json")])
odd("content-type.none", drop=("content-type",))
odd("content-type.foreign", extra=[("content-type", "application/json")])
odd("content-type.prefix", extra=[("content-type", "application/grpcx")])
odd("content-type.upper", extra=[("content-type", "Application/GRPC")])
odd("get", extra=[(":method", "GET")])
odd("put", extra=[(":method", "PUT")])
odd("connection-header", extra=[("connection", "close")])
odd("upper-case-name", extra=[("X-Upper", "x")])
odd("unknown-header", extra=[("x-thing", "y"), ("thing-bin", "AAA")])
odd("encoding.identity", extra=[("grpc-encoding", "identity")])
odd("encoding.gzip", extra=[("grpc-encoding", "gzip")])
odd("encoding.gzip.flag", extra=[("grpc-encoding", "gzip")], body=framed(b"xx", 1))
odd("accept-encoding", extra=[("grpc-accept-encoding", "gzip,identity")])
odd("flag.compressed", body=framed(execute_request(["echo", "hi"]), 1))
odd("flag.2", body=framed(execute_request(["echo", "hi"]), 2))
odd("flag.255", body=framed(b"", 255))
odd("body.none", body=b"", differs="answered like any empty body; the real one never answers", ours=lambda v: v[2:4] == (2, "EOF"))
odd("body.none.start", "Start", body=b"", differs="as wire.body.none", ours=lambda v: v[2] == 13)
odd("body.cut-prefix", body=b"\0\0\0")
odd("body.cut", body=framed(execute_request(["echo", "hi"]))[:-2])
odd("body.cut.start", "Start", body=framed(start_request(["echo", "hi"]))[:-2])
odd("body.empty-message", body=framed(b""))
odd("body.two", body=framed(execute_request(["echo", "hi"])) * 2)
odd("body.two.start", "Start", body=framed(start_request(["echo", "hi"])) * 2)
odd("body.trailing-byte", body=framed(execute_request(["echo", "hi"])) + b"\0")
odd("body.trailing-byte.start", "Start", body=framed(start_request(["echo", "hi"])) + b"\0")


@case("wire.body.empty-data")
def _(t):
    with Conn(t.grpc) as c:
        out = []
        for method in ("Execute", "Start"):
            s = c.open(headers(c, method))
            c.data(s, b"", True)
            c.wait(s)
            out.append(told(t, Answer(s)))
        return out


def broken(name, body, differs=None):
    def run(t):
        with Conn(t.grpc) as c:
            s = c.open(headers(c, "Execute"))
            c.data(s, framed(body), True)
            c.wait(s)
            a = Answer(s)
            return a.status, re.sub("proto:.*", "proto: ...", a.message)  # the library words it, at random
    case("wire.protobuf." + name, differs, (lambda v: v[0] == 13) if differs else None)(run)


for i, m in enumerate((b"\xff", b"\x0a\xff", b"\x0a\x05ab", b"\x08\x01", b"\x0b", b"\x0a\x02\x0a\x05", b"\x00\x01", b"\x0d\x01",
                       b"\x0a\x04\x0a\x02\xff\xfe", b"\x0a\x09\x0a\x01x\x12\x04\x0a\x02\xc3\x28", b"\x80" * 11, b"\x0e",
                       b"\x0b\x0c" + execute_request(["echo"]), b"\x0a\x02\x12\x00", b"\xfa\xff\xff\xff\x0f\x00")):
    broken(str(i), m, differs={3: "a known field of another wire type is an error for protobuf-c, not an unknown field",
                               12: "groups (removed from protobuf) are refused"}.get(i))
odd("protobuf.unknown-field", body=framed(execute_request(["echo", "hi"]) + field_int(100, 5) + field_bytes(101, b"x")))
odd("protobuf.config-twice", body=framed(execute_request(["echo"]) + execute_request(["hi"])),
    differs="protobuf-c does not merge a message given twice", ours=lambda v: v[2] in (0, 13))
odd("protobuf.enum-unknown", "SendSignal", body=framed(field_int(1, 1) + field_int(2, 77)))
odd("method.unknown", "Nope")
odd("method.empty", "/process.v1.ProcessService/")
odd("method.service-unknown", "/some.Service/Do")
odd("method.no-slash", "/Execute")
odd("method.double", "//Execute")
odd("method.case", "execute")
odd("method.longer", "/process.v1.ProcessService/Execute/x")
odd("path.no-leading-slash", extra=[(":path", "process.v1.ProcessService/Execute")])
for i, v in enumerate(("5S", "100000m", "1H", "99999999n", "123456789S", "S", "5", "5x", "", "-5S", "5 S", "0S")):
    odd(f"timeout.{i}", extra=[("grpc-timeout", v)], body=framed(execute_request(["sleep", "0.5"])))


def large(name, n, differs=None):
    @case("wire.size." + name, differs)
    def _(t):
        with Conn(t.grpc) as c:
            overhead = len(field_int(1, 1) + field_bytes(2, b"x" * n)) - n
            s = c.open(headers(c, "WriteStdin"))
            c.data(s, framed(field_int(1, 1) + field_bytes(2, b"x" * (n - overhead))), True)
            c.wait(s, 60)
            a = Answer(s)
            return a.status, a.message


large("4MiB", 4194304)
large("4MiB+1", 4194305)
large("8MiB", 8 << 20)


@case("wire.size.announced")
def _(t):
    with Conn(t.grpc) as c:
        s = c.open(headers(c, "Execute"))
        c.data(s, b"\0\xff\xff\xff\xff" + b"x" * 100)
        c.wait(s)
        return told(t, Answer(s))


@case("wire.split-bytes")
def _(t):
    with Conn(t.grpc) as c:
        s = c.open(headers(c, "Execute"))
        body = framed(execute_request(["echo", "hi"]))
        for b in body:
            c.data(s, bytes([b]))
        c.data(s, b"", True)
        c.wait(s)
        return told(t, Answer(s)), Answer(s).messages


@case("wire.start-waits-for-end")
def _(t):
    with Conn(t.grpc) as c:
        s = c.open(headers(c, "Start"))
        c.data(s, framed(start_request(["echo", "hi"])))
        early = c.pump(0.7, lambda: bool(s.headers))
        c.data(s, b"", True)
        c.wait(s)
        return early, Answer(s).status, len(Answer(s).messages)


@case("wire.padding")
def _(t):
    with Conn(t.grpc) as c:
        s = c.open(headers(c, "Execute"))
        body = framed(execute_request(["echo", "hi"]))
        c.send(frame(h2raw.DATA, 8 | h2raw.END_STREAM, s.number, bytes([10]) + body + b"\0" * 10))
        c.wait(s)
        return told(t, Answer(s))


@case("wire.trailers-in-request", differs="trailers of a request end it; grpc-go resets the stream", ours=lambda v: v[0] == 0 or v[1] is not None)
def _(t):
    with Conn(t.grpc) as c:
        s = c.open(headers(c, "Execute"))
        c.data(s, framed(execute_request(["echo", "hi"])))
        c.send(frame(h2raw.HEADERS, h2raw.END_STREAM | h2raw.END_HEADERS, s.number, c.encode([("x-trailer", "1")])))
        c.wait(s)
        return Answer(s).status, s.reset


# HTTP/2

def hangs_up(t, raw):
    with socket.create_connection(t.grpc.rsplit(":", 1)) as s:
        s.settimeout(3)
        s.sendall(raw)
        got = b""
        try:
            while True:
                part = s.recv(65536)
                if not part:
                    return True, got[3:4]
                got += part
        except ConnectionError:
            return True, got[3:4]
        except socket.timeout:
            return False, got[3:4]


case("h2.http1")(lambda t: hangs_up(t, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
case("h2.upgrade")(lambda t: hangs_up(t, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                                         b"HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"))


@case("h2.settings", differs="ours limits concurrent streams to 1024 and keeps the default frame size unsaid",
      ours=lambda v: v[0] == {3: 1024})
def _(t):
    with Conn(t.grpc) as c:
        c.pump(1, lambda: bool(c.settings))
        return c.settings, c.initial_window


@case("h2.ping")
def _(t):
    with Conn(t.grpc) as c:
        c.ping(b"12345678")
        return c.pump(3, lambda: bool(c.pings)), c.pings


@case("h2.many-pings", differs="pings are answered and never punished", ours=lambda v: v[0] == 6 and not v[1])
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["cat"])
        p.pid
        try:
            for i in range(6):
                c.ping(b"%08d" % i)
                c.pump(0.1)
            c.pump(1.5, lambda: bool(c.goaways))
        except h2raw.Closed:
            pass
        return len(c.pings), [(code, text) for _, code, text in c.goaways]


@case("h2.response-frames")
def _(t):
    with Conn(t.grpc, settings=struct.pack(">HI", 5, 1 << 20)) as c:
        a_stream = c.open(headers(c, "Execute"))
        c.data(a_stream, framed(execute_request(["head", "-c", "100000", "/dev/zero"])), True)
        c.wait(a_stream)
        return max(a_stream.frame_sizes) <= 16384, sum(a_stream.frame_sizes)


@case("h2.window-obeyed")
def _(t):
    with Conn(t.grpc, window_update=False) as c:
        s = c.open(headers(c, "Execute"))
        c.data(s, framed(execute_request(["head", "-c", "300000", "/dev/zero"])), True)
        c.pump(1.5, lambda: s.over)
        before = len(s.data)
        c.grant(0, 1 << 20)
        c.grant(s.number, 1000)
        c.pump(0.7, lambda: len(s.data) >= before + 1000)
        more = len(s.data) - before
        c.pump(0.3)
        exact = len(s.data) - before
        c.grant(s.number, 1 << 20)
        c.wait(s)
        return before, more, exact, len(s.data), Answer(s).status


@case("h2.small-initial-window")
def _(t):
    with Conn(t.grpc, window_update=False, settings=struct.pack(">HI", 4, 10)) as c:
        s = c.open(headers(c, "Execute"))
        c.data(s, framed(execute_request(["echo", "0123456789abcdef"])), True)
        c.pump(1, lambda: s.over)
        first = len(s.data)
        c.grant(s.number, 1000)
        c.wait(s)
        return first, Answer(s).status, len(s.data)


@case("h2.window-raised-by-settings")
def _(t):
    with Conn(t.grpc, window_update=False, settings=struct.pack(">HI", 4, 0)) as c:
        s = c.open(headers(c, "Execute"))
        c.data(s, framed(execute_request(["echo", "hi"])), True)
        c.pump(0.7, lambda: s.over)
        first = len(s.data)
        c.send(frame(h2raw.SETTINGS, 0, 0, struct.pack(">HI", 4, 65535)))
        c.wait(s)
        return first, Answer(s).status


@case("h2.many-streams")
def _(t):
    with Conn(t.grpc) as c:
        streams = [c.open(headers(c, "Execute")) for _ in range(50)]
        for i, s in enumerate(streams):
            c.data(s, framed(execute_request(["echo", str(i)])), True)
        for s in streams:
            c.wait(s)
        return [rpc.parse(Answer(s).messages[0]) for s in streams]


@case("h2.many-connections")
def _(t):
    conns = [Conn(t.grpc) for _ in range(40)]
    try:
        return [execute(c, ["echo", "x"]).status for c in conns]
    finally:
        for c in conns:
            c.close()


@case("h2.continuation")
def _(t):
    with Conn(t.grpc) as c:
        block = c.encode(headers(c, "Execute"))
        s = h2raw.Stream(1)
        c.streams[1], c.window[1], c.next_id = s, 65535, 3
        c.send(frame(h2raw.HEADERS, 0, 1, block[:20]) + frame(h2raw.CONTINUATION, 0, 1, block[20:50]) +
               frame(h2raw.CONTINUATION, h2raw.END_HEADERS, 1, block[50:]))
        c.data(s, framed(execute_request(["echo", "hi"])), True)
        c.wait(s)
        return told(t, Answer(s))


# Start

@case("start.events")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "echo out; sleep 0.2; echo err >&2; sleep 0.2; echo out2"])
        a = p.wait()
        events = p.events()
        return [k for k, _ in events], events[1:-1], events[-1], told(t, a)[:6]


@case("start.pids-count")
def _(t):
    with Conn(t.grpc) as c:
        pids = [Process(c, ["true"]).pid for _ in range(3)]
        Process(c, ["no-such"]).wait()
        Process(c, []).wait()
        execute(c, ["true"])
        last = Process(c, ["true"]).pid
        return [p - pids[0] for p in pids], last - pids[0]


@case("start.bulk")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "seq 1 200000; seq 1 100000 >&2"])
        p.wait(60)
        kinds = [k for k, _ in p.events()]
        sizes = [len(v) for k, v in p.events() if k in ("out", "err")]
        return (kinds[0], kinds[-1], max(sizes) <= 4096, min(sizes) >= 1, p.out == "".join(f"{i}\n" for i in range(1, 200001)).encode(),
                p.err == "".join(f"{i}\n" for i in range(1, 100001)).encode(), p.exit)


@case("start.binary")
def _(t):
    data = bytes(range(256)) * 100
    t.write("bin", data)
    with Conn(t.grpc) as c:
        p = Process(c, ["cat", "bin"])
        p.wait()
        return p.out == data


@case("start.unread-blocks-the-process")
def _(t):
    """A flooding process stops at its pipe; nothing is lost when the client goes on."""
    with Conn(t.grpc, window_update=False) as c:
        p = Process(c, ["sh", "-c", "i=0; while [ $i -lt 2000 ]; do printf '%01000d' $i; i=$((i+1)); echo $i > progress; done"])
        last, end = -1, time.monotonic() + 20
        while time.monotonic() < end:
            c.pump(1, lambda: p.stream.over)
            now = wait_pid(t, "progress")
            if now == last:
                break
            last = now
        stopped = len(p.stream.data)
        c.window_update = True
        c.grant(0, 1 << 20)
        c.grant(p.stream.number, 1 << 20)
        a = p.wait()
        return stopped, now == last < 2000, len(p.out), p.exit, a.status


@case("start.unread-after-exit", differs="what a slow client has not read within 5 s of the exit is kept for it",
      ours=lambda v: v == (190000, 0, 0))
def _(t):
    with Conn(t.grpc, window_update=False) as c:
        p = Process(c, ["head", "-c", "190000", "/dev/zero"])
        c.pump(7, lambda: p.stream.over)
        c.window_update = True
        c.grant(0, 1 << 20)
        c.grant(p.stream.number, 1 << 20)
        a = p.wait()
        return len(p.out), p.exit, a.status


@case("start.grandchild-holds-stdout")
def _(t):
    with Conn(t.grpc) as c:
        start = time.monotonic()
        p = Process(c, ["sh", "-c", "sleep 30 & echo hi"])
        p.wait(20)
        return p.out, p.exit, round(time.monotonic() - start)


@case("start.grandchild-floods")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "(sleep 1; yes | head -c 50000; sleep 30) & echo hi"])
        p.wait(20)
        return len(p.out), p.exit


@case("start.reset-kills")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "echo $$ > pid; exec sleep 100"])
        pid = wait_pid(t)
        p.reset()
        return gone(pid)


@case("start.reset-kills-group", differs="the whole process group is killed, not only the direct child", ours=lambda v: v is True)
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "sleep 60 & echo $! > pid; wait"])
        pid = wait_pid(t)
        p.reset()
        dead = gone(pid, 1.5)
        if not dead:
            os.kill(pid, 9)
        return dead


@case("start.connection-lost-kills")
def _(t):
    with Conn(t.grpc) as c:
        Process(c, ["sh", "-c", "echo $$ > pid; exec sleep 100"])
        pid = wait_pid(t)
    return gone(pid)


@case("start.tty-reset-hangs-up")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "trap 'echo hup > hup' HUP; sh -c 'echo $$ > pid; exec sleep 100'; sleep 1"], pty=(80, 24))
        pid = wait_pid(t)
        p.reset()
        return gone(pid)


@case("start.deadline-kills")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "echo $$ > pid; exec sleep 100"], extra=[("grpc-timeout", "700m")])
        pid = wait_pid(t)
        c.wait(p.stream)
        return p.stream.reset, Answer(p.stream).status, gone(pid)


@case("execute.deadline", differs="always a reset; the real one sometimes answers OK with exit code -1 (a race)",
      ours=lambda v: v == (8, None, True))
def _(t):
    with Conn(t.grpc) as c:
        s = c.open(headers(c, "Execute", [("grpc-timeout", "700m")]))
        c.data(s, framed(execute_request(["sh", "-c", "echo $$ > pid; exec sleep 100"])), True)
        pid = wait_pid(t)
        c.wait(s)
        return s.reset, Answer(s).status, gone(pid)


# with a terminal

SIZE = re.compile(rb"\d+ \d+\r\n")


@case("tty.size")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "sleep 0.3; stty size; read x; stty size; read x; stty size; read x; stty size"], pty=(100, 30))
        p.wait_out(b"30 100")
        out = []
        for cols, rows in ((80, 24), (70000, 65537), (0, 0)):
            out.append(told(t, p.resize(cols, rows)))
            told_before = len(SIZE.findall(p.out))
            p.write(b"\n")
            c.pump(h2raw.TIMEOUT, lambda: len(SIZE.findall(p.out)) > told_before)
        p.wait()
        return out, p.out


@case("tty.size-at-once", differs="the size is set before the program starts; the real one sets it just after",
      ours=lambda v: v == b"31 101\r\n")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["stty", "size"], pty=(101, 31))
        p.wait()
        return p.out


@case("tty.zero-size")
def _(t):
    with Conn(t.grpc) as c:
        out = []
        for size in ((0, 0), (80, 0), (0, 24)):
            p = Process(c, ["sh", "-c", "sleep 0.2; stty size"], pty=size)
            p.wait()
            out.append(p.out)
        return out


@case("tty.is-one")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "test -t 0 && test -t 1 && test -t 2 && echo yes; echo err >&2; tty | cut -c1-9; echo t=$TERM; "
                        "ps -o pid=,pgid=,sid=,tpgid= -p $$ | awk '{print ($1==$2)($2==$3)($3==$4)}'"], pty=(80, 24), env={"TERM": "vt100"})
        p.wait()
        return p.out, p.err, p.exit


@case("tty.echo-and-interrupt")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "trap 'echo got-int; exit 7' INT; echo ready; while :; do sleep 0.1; done"], pty=(80, 24))
        p.wait_out(b"ready")
        p.write(b"x\x03")
        p.wait()
        return p.out.replace(b"^C", b"").count(b"got-int"), p.exit


@case("tty.ctrl-d")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["cat"], pty=(80, 24))
        p.write(b"line\n")
        p.wait_out(b"line\r\nline\r\n")
        p.write(b"\x04")
        p.wait()
        return p.out, p.exit


@case("tty.eof", differs="end of input on a terminal is its EOF character, and the terminal goes on; the real one is deaf afterwards",
      ours=lambda v: v == (0, "", 0, b"line\r\nline\r\n"))
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["cat"], pty=(80, 24))
        p.write(b"line\n")
        p.wait_out(b"line\r\nline\r\n")
        a = p.eof()
        c.pump(2, lambda: p.stream.over)
        return a.status, a.message, p.exit, p.out


@case("tty.bulk-is-whole", differs="the last output of a terminal is drained; the real one loses it in part of the runs",
      ours=lambda v: v == [588895] * 5)
def _(t):
    with Conn(t.grpc) as c:
        out = []
        for _ in range(5):
            p = Process(c, ["seq", "1", "100000"], pty=(80, 24))
            p.wait(30)
            out.append(len(p.out.replace(b"\r", b"")) if p.exit == 0 else p.exit)
        return out


@case("tty.background-job-does-not-delay", differs="a job that ignores HUP does not hold the exit event back",
      ours=lambda v: v == (b"hi\r\n", 0, True))
def _(t):
    with Conn(t.grpc) as c:
        start = time.monotonic()
        p = Process(c, ["sh", "-c", "trap '' HUP; sleep 20 & echo $! > pid; echo hi"], pty=(80, 24))
        p.wait()
        took = time.monotonic() - start
        os.kill(wait_pid(t), 9)
        return p.out, p.exit, took < 2


@case("tty.resize-without")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["cat"])
        a = p.resize(80, 24)
        p.eof()
        p.wait()
        return told(t, a)


# stdin

@case("stdin.cat")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["cat"])
        out = [told(t, p.write(b"one")), told(t, p.write(b"")), told(t, p.write(b"two\0three"))]
        out.append(told(t, unary(c, "WriteStdin", field_int(1, p.pid))))
        out.append(told(t, p.eof()))
        p.wait()
        return out, p.out, p.exit


@case("stdin.after-eof")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "cat > /dev/null; sleep 1"])
        return [told(t, a) for a in (p.eof(), p.write(b"x"), p.write(b""), p.eof())]


@case("stdin.reader-closed")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "exec 0<&-; echo closed; sleep 2"])
        p.wait_out(b"closed")
        return told(t, p.write(b"x")), told(t, p.eof())


@case("stdin.large")
def _(t):
    data = bytes(range(256)) * 8000
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "sleep 0.5; sha256sum; true"])
        a = p.write(data, 30)
        p.eof()
        p.wait()
        return told(t, a), p.out


@case("stdin.full-pipe-waits")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "read x < go; wc -c"])
        os.mkfifo(t.root / "go")
        p.signal(9)
        p.wait()
        (t.root / "go").unlink()
        os.mkfifo(t.root / "go")
        p = Process(c, ["sh", "-c", "read x < go; wc -c"])
        s = c.open(headers(c, "WriteStdin"))
        c.data(s, framed(field_int(1, p.pid) + field_bytes(2, b"x" * 200000)), True)
        early = c.pump(0.7, lambda: s.over)
        alive = execute(c, ["echo", "other calls go on"]).out
        (t.root / "go").write_text("go\n")
        c.wait(s)
        a = p.eof()
        p.wait()
        return early, alive, Answer(s).status, told(t, a), p.out


@case("stdin.eof-behind-waiting-write", differs="an eof waits for the writes before it; the real one fails them",
      ours=lambda v: v == (0, 0, b"200000\n"))
def _(t):
    os.mkfifo(t.root / "go")
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "read x < go; wc -c"])
        s = c.open(headers(c, "WriteStdin"))
        c.data(s, framed(field_int(1, p.pid) + field_bytes(2, b"x" * 200000)), True)
        c.pump(0.3)
        e = c.open(headers(c, "WriteStdin"))
        c.data(e, framed(field_int(1, p.pid) + field_bytes(3, b"")), True)
        c.pump(0.3)
        (t.root / "go").write_text("go\n")
        c.wait(s)
        c.wait(e)
        p.wait()
        return Answer(s).status, Answer(e).status, p.out


@case("stdin.unknown-pids")
def _(t):
    with Conn(t.grpc) as c:
        out = []
        for pid in (0, -1, 999999, 2147483647, -2147483648):
            for method, rest in (("WriteStdin", field_bytes(2, b"x")), ("WriteStdin", field_bytes(3, b"")), ("SendSignal", field_int(2, 15)),
                                 ("SendSignal", field_int(2, 0)), ("ResizeTTY", field_int(2, 80))):
                out.append(told(t, unary(c, method, field_int(1, pid) + rest)))
        return out


# signals

@case("signal.each")
def _(t):
    with Conn(t.grpc) as c:
        out = []
        for number in (2, 15, 9):
            p = Process(c, ["sleep", "50"])
            out.append((told(t, p.signal(number)), told(t, p.wait())[:6], p.exit))
        return out


@case("signal.trapped")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "trap 'echo term; exit 3' TERM; echo ready; while :; do sleep 0.1; done"])
        p.wait_out(b"ready")
        a = p.signal(15)
        p.wait()
        return told(t, a), p.out, p.exit


@case("signal.group")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "sleep 60 & echo $! > pid; wait"])
        pid = wait_pid(t)
        p.signal(9)
        p.wait()
        return gone(pid), p.exit


@case("signal.others")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["sleep", "50"])
        out = [told(t, p.signal(n)) for n in (0, 1, 3, 19, 64, -9)]
        p.signal(9)
        p.wait()
        return out


@case("after-exit.all-calls")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["true"])
        pid = p.pid
        p.wait()
        return [plain(a.message.replace(str(pid), "N"), t.root) for a in (p.write(b"x"), p.eof(), p.signal(9), p.resize(1, 1))], \
            [a.status for a in (p.write(b"x"), p.eof(), p.signal(9), p.resize(1, 1))]


@case("after-exit.while-draining")
def _(t):
    with Conn(t.grpc) as c:
        p = Process(c, ["sh", "-c", "sleep 3 & echo $$"])
        p.wait_out(b"\n")
        gone(int(p.out))
        a = p.signal(2)
        p.wait()
        return a.status, p.exit


# no zombies, no leaks

@case("no-zombies")
def _(t):
    with Conn(t.grpc) as c:
        for _ in range(10):
            execute(c, ["sh", "-c", "sleep 0.05 & exit 0"])
            Process(c, ["sh", "-c", "(sleep 0.05 &) ; exit 1"]).wait()
            Process(c, ["nope"]).wait()
        end = time.monotonic() + 10
        while True:
            children = []
            for task in os.listdir(f"/proc/{t.pid}/task"):
                with open(f"/proc/{t.pid}/task/{task}/children") as f:
                    children += f.read().split()
            if not children or time.monotonic() > end:
                return children
            time.sleep(0.05)


@case("no-descriptor-leak", differs="the real one keeps some descriptors until its garbage collector runs", ours=lambda v: v is True)
def _(t):
    def count():
        return len(os.listdir(f"/proc/{t.pid}/fd"))

    def everything():
        with Conn(t.grpc) as c:
            execute(c, ["echo"])
            execute(c, ["nope"])
            execute(c, ["pwd"], cwd="nope")
            p = Process(c, ["cat"], pty=(80, 24))
            p.pid
            p.reset()
            p = Process(c, ["cat"])
            p.eof()
            p.wait()
            Process(c, ["nope"], pty=(80, 24)).wait()
        for method, path in (("PUT", "a"), ("GET", "a"), ("GET", ""), ("GET", "nope"), ("DELETE", "a"), ("DELETE", "nope"), ("GET", "a/b/c")):
            request(t.rest, method, "/v1/files/" + path, body=b"x" if method == "PUT" else b"")

    def rest():
        """How many are open when nothing is under way any more: the same number for a while."""
        seen, end = [], time.monotonic() + 20
        while len(seen) < 6 or (len(set(seen[-6:])) > 1 and time.monotonic() < end):
            seen.append(count())
            time.sleep(0.05)
        return seen[-1]

    everything()
    before = rest()
    for _ in range(5):
        everything()
    return rest() - before <= 0
