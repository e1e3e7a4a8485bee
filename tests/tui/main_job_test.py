# SPDX-License-Identifier: Apache-2.0
"""The real dashboard on a pty, on the embedded backend."""
import re

from cases.dashboard import DashboardCases
from harness import BIN, Case, main


class OnTheEmbeddedBackend(DashboardCases, Case):
    def setUp(self):
        self.addCleanup(self.sandmux, "local", "reset", "--yes", timeout=60)
        self.sandmux("local", "up", timeout=60, check=0)
        self.sandmux("--local", "create", "job", timeout=60, check=0)

    def start(self, **kw):
        self._scr = self.sandmux_screen("--local", rows=kw.pop("rows", self.rows), cols=kw.pop("cols", self.cols), **kw)
        self._scr.wait_for(re.compile(r"job\s+Ready"))
        return self._scr

    def sandbox_file(self, path):
        r = self.sandmux("--local", "files", "cat", f"job:{path}")
        return r.out_bytes if r.code == 0 else None

    def test_the_list_is_live(self):
        scr = self.start()
        self.sandmux("--local", "create", "second", check=0)
        scr.wait_for(re.compile(r"second\s+Ready"))
        self.sandmux("--local", "rm", "--yes", "second", check=0)
        scr.wait_for(lambda s: not re.search(r"second\s+Ready", s.text()))

    def test_delete_asks_and_escape_keeps(self):
        scr = self.start()
        scr.key("C-d").wait_for(re.compile("delete", re.I))
        scr.key("Escape").wait_idle()
        self.assertIn("job", self.sandmux("--local", "ls", "-o", "name", check=0).out)

    def test_quitting_gives_the_terminal_back_and_deletes_nothing(self):
        scr = self.start()
        scr.key("C-c")
        self.assertEqual(scr.wait_exit(), 0)
        self.assertFalse(scr.altscreen)
        self.assertIn("job", self.sandmux("--local", "ls", "-o", "name", check=0).out)

    def test_small_terminals(self):
        scr = self.start()
        scr.resize(10, 40)
        scr.wait_for("job")
        scr.resize(5, 20)
        scr.wait_for(re.compile("small", re.I))
        scr.resize(24, 80)
        scr.wait_for(re.compile(r"job\s+Ready"))


main()
