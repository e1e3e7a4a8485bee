# SPDX-License-Identifier: Apache-2.0
"""pods/exec and attach of the local backend: WebSocket v5 and v4, SPDY v4, and the real kubectl exec and cp."""
import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

from harness.bed import need_bed
from harness.case import Case, main
from harness.screen import terminal_env

from backend import PODS, Backend, wait_for
from streams import Connection, Refusal, Spdy, WebSocket, spdy_post

MIB = 1 << 20
V5, V4 = "v5.channel.k8s.io", "v4.channel.k8s.io"
OK = {"metadata": {}, "status": "Success"}


class Exec(Case):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="sandmux-test-")
        cls.addClassCleanup(cls.folder.cleanup)
        options = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1:thread_local_quarantine_size_kb=64"
        cls.backend = Backend(Path(cls.folder.name) / "state", warm=0, env={**os.environ, "ASAN_OPTIONS": options})  # daemons want tokens
        cls.addClassCleanup(cls.backend.stop)
        cls.pod = cls.backend.ready_claim("c1")["status"]["sandbox"]["name"]
        cls.path = f"{PODS}/{cls.pod}/exec?"

    def query(self, *argv, **flags):
        return self.path + urlencode([("command", a) for a in argv] + [(k, "true") for k, v in flags.items() if v])

    def ws(self, *argv, protocol=V5, stdin=False, stdout=True, stderr=True, tty=False):
        ws = WebSocket(self.backend, self.query(*argv, stdin=stdin, stdout=stdout, stderr=stderr, tty=tty), protocol)
        self.addCleanup(ws.close)
        return ws

    def result(self, ws):
        got = ws.channels()
        self.assertEqual(ws.close_code, 1000)
        return bytes(got.get(1, b"")), bytes(got.get(2, b"")), json.loads(got[3])

    # ---- WebSocket ----

    def test_output_and_exit(self):
        for protocol in (V5, V4):
            self.assertEqual(self.result(self.ws("sh", "-c", "echo out; echo err >&2", protocol=protocol)), (b"out\n", b"err\n", OK))
        out, err, status = self.result(self.ws("sh", "-c", "exit 3"))
        self.assertEqual((out, err), (b"", b""))
        self.assertEqual(status, {"metadata": {}, "status": "Failure", "reason": "NonZeroExitCode",
                                  "message": "command terminated with non-zero exit code: command terminated with exit code 3",
                                  "details": {"causes": [{"reason": "ExitCode", "message": "3"}]}})
        out, _, status = self.result(self.ws("no-such-program"))
        self.assertEqual((out, status["reason"], status["code"]), (b"", "InternalError", 500))
        self.assertIn("executable file not found", status["message"])
        # words are words: no shell looks at them
        self.assertEqual(self.result(self.ws("printf", "%s|", "a b", "$HOME", "é;x"))[0], "a b|$HOME|é;x|".encode())
        self.assertEqual(self.result(self.ws("sh", "-c", "echo x; echo y >&2", stderr=False))[:2], (b"x\n", b""))

    def test_stdin(self):
        ws = self.ws("cat", stdin=True)
        data = os.urandom(3 * MIB)
        for i in range(0, len(data), 30000):
            ws.send(b"\0" + data[i:i + 30000])
        ws.send(b"\xff\0")  # v5: channel 0 sends no more
        self.assertEqual(self.result(ws)[0], data)
        # none asked for: it reads its end at once
        self.assertEqual(self.result(self.ws("cat")), (b"", b"", OK))
        # a program that reads nothing does not stop the others, nor fills the backend
        ws = self.ws("sh", "-c", "sleep 600", stdin=True)
        ws.sock.settimeout(2)
        before, sent = self.memory(), 0
        try:
            while sent < 64 * MIB:
                ws.send(b"\0" + bytes(30000))
                sent += 30000
        except (TimeoutError, OSError):
            pass
        self.assertLess(sent, 32 * MIB)
        self.assertLess(self.memory() - before, 16 * MIB)
        self.assertEqual(self.result(self.ws("echo", "alive"))[0], b"alive\n")

    def memory(self):
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.backend.pid}/status").read_text())[1]) << 10

    def test_a_reader_that_does_not_read(self):
        before = self.memory()
        ws = self.ws("head", "-c", str(64 * MIB), "/dev/zero")
        time.sleep(2)  # it would have come
        self.assertLess(self.memory() - before, 12 * MIB)
        out, _, status = self.result(ws)
        self.assertEqual((len(out), status), (64 * MIB, OK))

    def test_terminal(self):
        ws = self.ws("sh", stdin=True, stderr=False, tty=True)
        ws.send(b"\4" + json.dumps({"Width": 93, "Height": 31}).encode() + b"\n")
        ws.send(b"\0" + b"sleep 0.3; stty size; echo $TERM; tty >/dev/null && exit 7\n")
        out, _, status = self.result(ws)
        self.assertIn(b"31 93\r\n", out)
        self.assertIn(b"xterm\r\n", out)
        self.assertEqual(status["details"]["causes"][0]["message"], "7")

    def test_the_client_goes(self):
        """What it started does not stay."""
        ws = self.ws("sh", "-c", "echo $$; exec sleep 4711", stdin=True)
        self.assertEqual(ws.message()[1][:1], b"\1")
        self.assertIn(b"4711", self.result(self.ws("ps", "-eo", "args"))[0])
        ws.close()
        wait_for("it has gone", lambda: b"sleep 4711" not in self.result(self.ws("ps", "-eo", "args"))[0])

    def test_it_is_in_the_sandbox(self):
        out = self.result(self.ws("sh", "-c", "hostname; pwd; ls /; cat /proc/net/dev | wc -l"))[0].decode().split("\n")
        self.assertEqual(out[:2], [self.pod, "/workspace"])
        self.assertNotIn("root", out)

    # ---- SPDY ----

    def spdy(self, *argv, streams, **flags):
        connection = spdy_post(self.backend, self.query(*argv, **flags), V4)
        self.addCleanup(connection.close)
        spdy = Spdy(connection)
        return spdy, {name: spdy.syn({"streamtype": name}) for name in streams}

    def test_spdy(self):
        spdy, ids = self.spdy("sh", "-c", "cat; echo err >&2; exit 5", streams=("error", "stdin", "stdout", "stderr"),
                              stdin=True, stdout=True, stderr=True)
        spdy.data(ids["stdin"], b"hello")
        spdy.data(ids["stdin"], b"", fin=True)
        got = spdy.until_fin(*(ids[s] for s in ("error", "stdout", "stderr")))
        self.assertEqual((bytes(got[ids["stdout"]]), bytes(got[ids["stderr"]])), (b"hello", b"err\n"))
        self.assertEqual(json.loads(got[ids["error"]])["details"]["causes"][0]["message"], "5")
        while spdy.frame() is not None:
            pass
        spdy, ids = self.spdy("true", streams=("nonsense", "error"), stdout=True)
        frames = [spdy.frame(), spdy.frame()]
        self.assertEqual(frames[0], ("reset", ids["nonsense"], 5))
        spdy.connection.close()

    # ---- refusals ----

    def test_refusals(self):
        def refused(path, headers=(), method="GET"):
            with self.assertRaises(Refusal) as caught:
                Connection(self.backend, path, method=method, headers=headers)
            return caught.exception.code, json.loads(caught.exception.body)["message"]
        self.assertEqual(refused(self.path + "command=ls&stdout=true"), (400, "Upgrade request required"))
        with self.assertRaises(Refusal) as caught:
            WebSocket(self.backend, self.path + "command=ls", V5)
        self.assertEqual((caught.exception.code, caught.exception.body), (400, b"you must specify at least 1 of stdin, stdout, stderr"))
        self.assertEqual(self.result(self.ws())[2]["reason"], "InternalError")  # no words at all
        self.assertEqual(self.result(self.ws("echo", "x", tty=True)), (b"x\r\n", b"", OK))  # with stderr asked for: it is one
        self.assertEqual(refused(self.path + "command=ls&stdout=true&container=x")[0], 400)
        self.assertEqual(refused(f"{PODS}/nope/exec?command=ls&stdout=true"), (404, 'pods "nope" not found'))
        code, message = refused(f"{PODS}/{self.pod}/attach?stdout=true")
        self.assertEqual((code, "nothing to attach to" in message), (405, True))
        with self.assertRaises(Refusal) as caught:
            WebSocket(self.backend, self.query("ls", stdout=True), "v9.channel.k8s.io")
        self.assertEqual(caught.exception.code, 403)
        with self.assertRaises(Refusal) as caught:
            WebSocket(self.backend, self.query("ls", stdout=True), V5, token="wrong")
        self.assertEqual(caught.exception.code, 401)

    def test_wrong_messages(self):
        ws = self.ws("cat", stdin=True)
        for message in (b"", b"\x09hello", b"\1out", b"\4{", b"\4}}}", b"\4" + b"x" * 5000, b"\4{\"Width\":-1,\"Height\":99999999}", b"\xff",
                        b"\xff\x07"):
            ws.send(message)
        ws.send(b"\0alive")
        ws.send(b"\xff\0")
        self.assertEqual(self.result(ws), (b"alive", b"", OK))

    # ---- kubectl ----

    def kubectl(self, *args, stdin=None):
        return subprocess.run([need_bed("kubectl"), *args], input=stdin, capture_output=True, timeout=60,
                              env={**os.environ, "KUBECONFIG": str(self.backend.kubeconfig), "HOME": self.folder.name})

    def test_kubectl_exec(self):
        self.need_bed("kubectl")
        for extra in ({}, {"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": "false"}):
            os.environ.update(extra)
            self.addCleanup(os.environ.pop, "KUBECTL_REMOTE_COMMAND_WEBSOCKETS", None)
            r = self.kubectl("exec", "-i", self.pod, "--", "sh", "-c", "cat; echo err >&2; exit 4", stdin=b"in" * MIB)
            self.assertEqual((len(r.stdout), r.stdout == b"in" * MIB, r.returncode), (2 * MIB, True, 4), (extra, r.stderr))
            self.assertEqual(r.stderr, b"err\ncommand terminated with exit code 4\n")
        r = self.kubectl("attach", self.pod)
        self.assertIn(b"nothing to attach to", r.stderr)

    def test_kubectl_terminal(self):
        self.need_bed("kubectl")
        env = {**terminal_env(), "KUBECONFIG": str(self.backend.kubeconfig), "HOME": self.folder.name}
        screen = self.screen([need_bed("kubectl"), "exec", "-it", self.pod, "--", "sh"], rows=29, cols=91, env=env)
        screen.wait_for("$")
        screen.type("stty size; echo do''ne\r")
        screen.wait_for("done")
        self.assertIn("29 91", screen.text())
        screen.resize(24, 70)
        screen.type("stty size; echo aga''in\r")
        screen.wait_for("again")
        self.assertIn("24 70", screen.text())
        screen.type("exit 6\r")
        self.assertEqual(screen.wait_exit(), 6)

    def test_kubectl_cp(self):
        self.need_bed("kubectl")
        tree = self.tmp / "tree/deep"
        tree.mkdir(parents=True)
        data = os.urandom(5 * MIB + 7)
        (tree / "data").write_bytes(data)
        self.assertEqual(self.kubectl("cp", str(self.tmp / "tree"), f"{self.pod}:/workspace/tree").returncode, 0)
        self.assertEqual(self.kubectl("cp", f"{self.pod}:tree/deep/data", str(self.tmp / "back")).returncode, 0)
        self.assertEqual((self.tmp / "back").read_bytes(), data)


main()
