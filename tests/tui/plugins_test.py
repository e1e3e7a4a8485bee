# SPDX-License-Identifier: Apache-2.0
"""Exec credential plugins and people: from the command line they may ask on the terminal, and everywhere it is said what is
being waited for."""
import json
import os
import re
import subprocess
import time
from pathlib import Path

from harness import BIN, Case, main
from harness.pty import Pty
from harness.sandmux import home_env


class Plugins(Case):
    """The embedded backend, whose token comes out of a plugin."""

    def setUp(self):
        self.tmp
        self.addCleanup(self.sandmux, "local", "reset", "--yes", timeout=60)
        self.sandmux("--local", "create", "box", timeout=60, check=0)
        status = json.loads(self.sandmux("local", "status", "-o", "json", check=0).out)
        self.config = Path(status["kubeconfig"]).read_text()
        self.token = re.search(r'token: "([^"]+)"', self.config)[1]
        self.env = home_env(self.tmp)

    def plugin(self, mode, script):
        """--kubeconfig of a plugin that runs this; `answer` prints the credential."""
        path = self.tmp / "ask-me"
        answer = json.dumps({"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "status": {"token": self.token}})
        path.write_text(f"#!/bin/sh\nanswer() {{ printf '%s' '{answer}'; }}\n{script}\n")
        path.chmod(0o700)
        spec = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(path), "interactiveMode": mode}
        file = self.tmp / "kubeconfig"
        file.write_text(self.config.replace(f'token: "{self.token}"', f"exec: {json.dumps(spec)}"))
        return ["--kubeconfig", file]

    def pty(self, *argv, **kw):
        p = Pty([BIN, *argv], env=self.env, **kw)
        self.addCleanup(p.close)
        return p

    ASKS = ("case $KUBERNETES_EXEC_INFO in *'\"interactive\":true'*) ;; *) echo no terminal >&2; exit 9;; esac\n"
            "printf 'Pass''word: ' >&2; read -r word; test \"$word\" = open-sesame || exit 8; answer")

    def test_it_asks_on_the_terminal(self):
        for mode in ("Always", "IfAvailable"):
            for verb in (["ls"], ["run", "box", "--", "echo", "box ran"], ["sh", "box", "--", "echo", "box ran"]):
                p = self.pty(*self.plugin(mode, self.ASKS), *verb)
                p.wait_for(lambda: b"Password: " in p.raw)
                os.write(p.master, b"open-sesame\n")
                self.assertEqual(p.ends(), 0, p.raw)
                self.assertIn(b"box", p.raw.split(b"open-sesame", 1)[1])

    def test_the_time_of_an_answer_is_not_the_commands(self):
        """--timeout 2s, and a person who takes three."""
        p = self.pty(*self.plugin("Always", self.ASKS), "create", "late", "--pool", "local", "--timeout", "2s")
        p.wait_for(lambda: b"Password: " in p.raw)
        asked = time.monotonic()
        p.wait_for(lambda: time.monotonic() - asked > 3)
        os.write(p.master, b"open-sesame\n")
        self.assertEqual(p.ends(), 0, p.raw)
        self.assertIn(b"late", p.raw)

    def test_it_is_not_asked_where_nobody_is(self):
        r = self.sandmux(*self.plugin("Always", self.ASKS), "ls")
        self.assertEqual(r.code, 4)
        self.assertRegex(r.err, "config.exec_plugin: .*ask-me: it wants to ask on a terminal")
        r = self.sandmux(*self.plugin("IfAvailable", self.ASKS), "ls")
        self.assertEqual(r.code, 4)
        self.assertIn("no terminal", r.err)
        self.assertIn("status 9", r.err)
        # a terminal, and the plugin does not want one
        p = self.pty(*self.plugin("Never", "read -r word && exit 7; answer"), "ls")
        self.assertEqual(p.ends(), 0, p.raw)

    def test_stdin_of_the_process_is_not_the_plugins(self):
        r = self.sandmux(*self.plugin("IfAvailable", "read -r word && exit 7; answer"), "run", "box", "--", "cat", stdin=b"for cat\n", check=0)
        self.assertEqual(r.out, "for cat\n")

    def test_what_is_waited_for_is_said(self):
        go = self.tmp / "go"
        where = "To sign in, open https://login.example and enter ABCD-EFGH\x1b[31m"
        slow = self.plugin("Never", f"printf '%s\\n' '{where}' >&2; until test -e {go}; do sleep 0.05; done; answer")
        p = subprocess.Popen([BIN, *map(str, slow), "ls"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env={**os.environ, **self.env})
        self.addCleanup(lambda: (p.kill(), p.wait(), p.stdout.close(), p.stderr.close()))
        first = p.stderr.readline()
        self.assertIn(b"To sign in, open https://login.example and enter ABCD-EFGH", first)
        self.assertNotIn(b"\x1b", first)
        self.assertEqual(p.stderr.readline(), b"waiting for the credential plugin ask-me\n")
        go.touch()
        self.assertEqual(p.wait(20), 0)
        self.assertIn(b"box", p.stdout.read())
        go.unlink()
        scr = self.sandmux_screen(*slow)
        scr.wait_for("To sign in, open https://login.example and enter ABCD-EFGH")
        scr.wait_for("waiting for the credential plugin ask-me")
        go.touch()
        scr.wait_for("box")


main()
