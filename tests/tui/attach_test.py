# SPDX-License-Identifier: Apache-2.0
"""Engine, panes and running programs live on when the terminal goes, and show up on the next one."""
import os
import re
from pathlib import Path

from harness import BIN, Case, main

HOST = Path(BIN).parent / "attach_host"


class Attach(Case):
    def test_a_shell_outlives_its_terminal(self):
        server = self.sandboxd()
        fifo = self.tmp / "fifo"
        os.mkfifo(fifo)
        first = self.screen([HOST, server.rest_url, server.grpc, fifo], rows=24, cols=80)
        first.wait_for("by its address")
        first.type("s")
        first.wait_for(re.compile(r"[$#] *$", re.M))
        first.type("clear; WHO=same-shell; (sleep 1; echo done > late) & echo re''ady\r")
        first.wait_for(re.compile("^ready$", re.M))
        first.close_tty()
        self.assertTrue(first.alive)
        # Another terminal, of another size, that runs nothing of ours.
        second = self.screen(["sh", "-c", f"tty > {self.tmp}/path; exec sleep 600"], rows=40, cols=120)
        second.wait_for(lambda s: (self.tmp / "path").exists() and (self.tmp / "path").read_text().endswith("\n"))
        path = (self.tmp / "path").read_text().strip()
        fifo.write_text(path + "\n")
        second.wait_for("ready")
        second.type("echo $WHO; stty size; wait; cat late\r")
        second.wait_for(re.compile(r"^same-shell$\n^38 120$", re.M))
        second.wait_for(re.compile("^done$", re.M))
        # And away while it has a terminal: taken over by a third one, the second is given back.
        third = self.screen(["sh", "-c", f"tty > {self.tmp}/path3; exec sleep 600"], rows=24, cols=80)
        third.wait_for(lambda s: (self.tmp / "path3").exists() and (self.tmp / "path3").read_text().endswith("\n"))
        fifo.write_text((self.tmp / "path3").read_text())
        third.wait_for("same-shell")
        second.wait_for(lambda s: not s.altscreen)
        self.assertEqual(second.mouse_mode, 0)
        third.key("C-]").type("q")
        third.wait_for("Quit?")
        third.type("q")
        self.assertEqual(first.wait_exit(), 0)
        self.assertFalse(third.altscreen)


if __name__ == "__main__":
    main()
