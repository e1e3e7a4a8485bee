# SPDX-License-Identifier: Apache-2.0
"""The official Python and Go clients, each a process that is told what to do, and what the three of us do to each other's
sandboxes. The same cases run against the local backend and against a real cluster."""
import json
import os
import subprocess
import time
from pathlib import Path

from .bed import need_bed

class Talker:
    """A client that reads commands and answers each with one line of JSON."""

    def __init__(self, argv, kubeconfig, home, timeout=120):
        path = str(Path(need_bed("kubectl")).parent) + os.pathsep + os.environ["PATH"]
        env = {**os.environ, "KUBECONFIG": str(kubeconfig), "HOME": str(home), "PATH": path}
        self.proc = subprocess.Popen([str(a) for a in argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                     text=True, env=env, start_new_session=True)
        self.timeout = timeout

    def ask(self, *words):
        self.proc.stdin.write(" ".join(words) + "\n")
        self.proc.stdin.flush()
        line = self.proc.stdout.readline()
        if not line:
            raise AssertionError(f"{words}: the client ended: {self.proc.stderr.read()[-3000:]}")
        return json.loads(line)

    def do(self, *words):
        answer = self.ask(*words)
        if answer.get("error"):
            raise AssertionError(f"{words}: {answer}")
        return answer

    def close(self):
        self.proc.stdin.close()
        try:
            self.proc.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.proc.pid, 9)
        for pipe in (self.proc.stdout, self.proc.stderr):
            pipe.close()
        self.proc.wait()


class OfficialClients:
    """Cases for a Case that has: ns, pool, kubeconfig, sm(*args, **kw) (sandmux in that namespace), object(kind, name)
    (as the API has it; None), router() (a ready pod behind sandbox-router-svc, which the Go client's default mode goes through)."""

    def python(self) -> Talker:
        self.need_bed("python", "kubectl")
        talker = Talker([need_bed("python"), Path(__file__).with_name("official_python.py"), self.ns], self.kubeconfig, self.tmp)
        self.addCleanup(talker.close)
        return talker

    def go(self) -> Talker:
        self.need_bed("go-client", "kubectl")
        talker = Talker([need_bed("go-client"), self.ns], self.kubeconfig, self.tmp)
        self.addCleanup(talker.close)
        return talker

    def claims(self):
        return set(self.sm("ls", "-o", "name", check=0).out.replace("sandboxclaim/", "").split())

    def gone(self, name):
        end = time.monotonic() + 60
        while self.object("sandboxclaims", name):
            self.assertLess(time.monotonic(), end, f"{name} is still there")
            time.sleep(0.05)

    def sandbox_of(self, name):
        return self.object("sandboxclaims", name)["status"]["sandbox"]["name"]

    def test_python_by_port_forward(self):
        py = self.python()
        self.sm("create", "ours", "--pool", self.pool, "--label", "who=sandmux", timeout=90, check=0)
        self.sm("cp", "-", "ours:from-sandmux", stdin=b"hello", check=0)
        got = py.do("get", "ours")  # found, and used through kubectl port-forward
        self.assertEqual((got["run"], got["same"], got["files"]), (["got\n", "err\n", 3], True, ["from-python"]))
        self.assertEqual(got["sandbox"], self.sandbox_of("ours"))
        self.assertEqual(len(self.sm("files", "cat", "ours:dir/from-python", check=0).out_bytes), 256 * 2048)
        adopted = py.do("adopt", self.pool, "ours")
        self.assertEqual((adopted["sandbox"], adopted["run"][0]), (got["sandbox"], "adopted\n"))
        theirs = py.do("create", self.pool, "theirs", "who=sandmux")
        self.assertEqual(theirs["run"], ["created\n", "err\n", 3])
        self.assertEqual(self.claims(), {"ours", "theirs"})
        self.assertEqual(set(py.do("list")["names"]), {"ours", "theirs"})
        r = self.sm("run", "theirs", "--", "sh", "-c", "cat dir/from-python | wc -c; exit 4")
        self.assertEqual((r.out.strip(), r.code), (str(256 * 2048), 4))
        r = self.sm("create", "theirs", "--pool", self.pool, "--adopt", timeout=90, check=0)
        self.assertEqual(self.sandbox_of("theirs"), theirs["sandbox"])
        self.same_claims("ours", "theirs")
        self.sm("rm", "theirs", "--yes", check=0)
        self.gone("theirs")
        self.assertIn("error", py.ask("get", "theirs"))
        py.do("delete", "ours")
        self.gone("ours")
        self.assertEqual(self.claims(), set())

    def same_claims(self, *names):
        """What was asked for in the same words is the same object, whoever asked."""
        seen, makers = [], []
        for name in names:
            claim = self.object("sandboxclaims", name)
            meta = claim["metadata"]
            labels = dict(meta["labels"])
            makers.append(labels.pop("agents.x-k8s.io/created-by"))
            labels = {k: v for k, v in labels.items() if not k.startswith("sandmux/")}  # which of us made it, and by which call
            spec = {k: v for k, v in claim["spec"].items() if v != {}}  # the Go client's type has no omitempty
            annotations = sorted(set(meta["annotations"]) - {"opentelemetry.io/trace-context"})  # theirs only while they trace
            seen.append((labels, annotations, spec, meta.get("finalizers")))
        self.assertEqual(seen[0], seen[1])
        self.assertEqual(len(set(makers)), 2, makers)

    def test_python_async_and_without_a_configuration(self):
        py = self.python()
        self.assertEqual(py.do("async", self.pool), {"run": ["async\n", 0], "read": "bytes"})
        made = py.do("plain", self.pool, "plain")
        self.assertEqual(made["sandbox"], self.sandbox_of("plain"))
        self.sm("run", "plain", "--", "true", check=0)
        py.do("delete", "plain")
        self.gone("plain")

    def test_go_by_its_default(self):
        self.router()
        go = self.go()
        self.sm("create", "ours", "--pool", self.pool, timeout=90, check=0)
        got = go.do("get", "ours")
        self.assertEqual((got["sandbox"], got["ready"]), (self.sandbox_of("ours"), True))
        made = go.do("create", self.pool)
        theirs = made["claim"]
        self.assertEqual(made["sandbox"], self.sandbox_of(theirs))
        self.assertEqual(self.claims(), {"ours", theirs})
        self.assertEqual(set(go.do("list")["names"]), {"ours", theirs})
        self.assertEqual(self.sm("run", theirs, "--", "sh", "-c", "echo hi; exit 5").code, 5)
        self.sm("create", theirs, "--pool", self.pool, "--adopt", timeout=90, check=0)
        self.same_claims("ours", theirs)
        self.sm("rm", theirs, "--yes", check=0)
        self.gone(theirs)
        self.assertEqual(go.do("list")["names"], ["ours"])  # its handle does not know: "get" would give that back
        go.do("delete", "ours")
        self.gone("ours")

    def test_go_without_a_router(self):
        """It says so, and takes its claim back."""
        go = self.go()
        answer = go.ask("create", self.pool)
        self.assertIn("sandbox-router-svc", answer["error"])
        self.assertEqual(self.claims(), set())
