# SPDX-License-Identifier: Apache-2.0
"""The command line against the real sandboxd by direct URLs: the released program on 127.0.0.1, and the same
server on another address."""
import signal
import subprocess

from cases.daemon import DaemonCases
from harness import BIN, Case, free_port, main
from harness.sandmux import home_env
from harness.screen import terminal_env


class Direct(DaemonCases, Case):
    listen_host = None

    def setUp(self):
        self.server = self.sandboxd(self.listen_host, env={"SANDBOX_ID": "sb-1", "SANDBOX_API_KEY": "hidden"})
        self.root = self.server.root
        self.where = ["--rest", self.server.rest_url, "--grpc", self.server.grpc]
        self.name = ""

    def test_metadata(self):
        r = self.verb("metadata", check=0)
        self.assertEqual(r.out, "SANDBOX_ID=sb-1\n")

    def test_nobody_answers(self):
        port = free_port()
        r = self.sandmux("--rest", f"http://127.0.0.1:{port}", "--grpc", f"127.0.0.1:{port}", "health", "--timeout", "2s")
        self.assertIn(r.code, (5, 6), r.err)
        self.assertRegex(r.err, r"^sandmux: (conn\.refused|op\.timeout): ")

    def test_daemon_dies_under_a_process(self):
        p = subprocess.Popen([BIN, *self.where, "run", "--", "sh", "-c", "echo ready; sleep 1000"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**terminal_env(), **home_env(self.tmp)})
        self.addCleanup(p.stdout.close)
        self.addCleanup(p.stderr.close)
        self.assertEqual(p.stdout.readline(), b"ready\n")
        self.server.proc.signal(signal.SIGKILL)
        self.assertEqual(p.wait(10), 125)
        self.assertRegex(p.stderr.read(), rb"^sandmux: (proc\.lost|conn\.lost): ")

    def test_directory_where_a_file_is_expected(self):
        (self.root / "dir").mkdir()
        r = self.sandmux(*self.where, "files", "cat", ":dir")
        self.assertEqual(r.code, 1)
        self.assertIn("file.is_dir", r.err)

    def test_disk_of_the_sandbox_is_full(self):
        small = self.root / "small"
        small.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", small], check=True)
        self.addCleanup(subprocess.run, ["umount", small], check=True)
        (self.tmp / "big").write_bytes(b"x" * (1 << 20))
        r = self.cp(self.tmp / "big", ":small/big")
        self.assertEqual(r.code, 1)
        self.assertIn("file.no_space", r.err)
        self.assertEqual(list(small.iterdir()), [])


class OtherAddress(Direct):
    """The pod address of a cluster is not loopback's first one."""
    listen_host = "127.0.0.2"


main()
