# SPDX-License-Identifier: Apache-2.0
"""The dashboard against the real sandboxd by direct URLs: the released program on 127.0.0.1, and the same server on
another address. The same cases as on the embedded backend (tests/tui/local_test.py)."""
import signal

from cases.dashboard import DashboardCases
from harness import Case, main


class Direct(DashboardCases, Case):
    listen_host = None
    daemon_is_folded = False  # there is little else

    def setUp(self):
        self.server = self.sandboxd(self.listen_host)

    def dashboard(self, rows=24, cols=80, **kw):
        scr = self.sandmux_screen("--rest", self.server.rest_url, "--grpc", self.server.grpc, rows=rows, cols=cols, **kw)
        scr.wait_for("by its address")
        return scr

    def read_remote(self, path):
        file = self.server.root / path
        return file.read_bytes() if file.exists() else None

    def write_remote(self, path, data):
        (self.server.root / path).write_bytes(data)

    def test_a_daemon_that_dies_is_said(self):
        scr = self.shell()
        self.server.proc.signal(signal.SIGKILL)
        scr.wait_for("r runs it again")
        self.assertRegex(scr.text(), r"\((proc|conn|rpc)\.\w+\)")
        scr.type("still here?")
        scr.wait_idle()
        self.assertNotIn("still here?", scr.text())


class OtherAddress(Direct):
    listen_host = "127.0.0.9"


if __name__ == "__main__":
    main()
