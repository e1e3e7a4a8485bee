# SPDX-License-Identifier: Apache-2.0
"""The two programs that scale_bench.py compares, each on a terminal of 200x50 over the same namespace."""
import os
import re
import time
from pathlib import Path

from harness.bed import need_bed
from harness.sandmux import BIN, home_env
from harness.screen import Screen
from measure import now, set_priority

ROW = re.compile(r"claim-\d{5}")
START_S = 180


class Program:
    """A way to start it, and how its screen tells that something, a row, and all rows are there."""
    name = ""
    sees_all = True  # both claims and Sandboxes

    def __init__(self, kubeconfig: str, namespace: str, home: Path):
        self.kubeconfig, self.namespace, self.home = str(kubeconfig), namespace, home
        home.mkdir(parents=True, exist_ok=True)

    def argv(self) -> list:
        raise NotImplementedError

    def env(self) -> dict:
        return home_env(self.home)

    def is_complete(self, scr, rows: int) -> bool:
        raise NotImplementedError

    def start(self, rows: int):
        """(screen, {"first_paint": s, "first_rows": s, "all_rows": s}); fails when a row or the count does not come."""
        began, times = now(), {}
        scr = Screen(self.argv(), rows=50, cols=200, env=self.env())
        set_priority(scr.pid, os.getpriority(os.PRIO_PROCESS, 0))
        try:
            for what, check in (("first_paint", lambda s: s.text().strip()), ("first_rows", lambda s: ROW.search(s.text())),
                                ("all_rows", lambda s: self.is_complete(s, rows))):
                scr.wait_for(check, timeout=START_S)
                times[what] = now() - began
        except BaseException:
            scr.stop()
            raise
        return scr, times

    def check_after_storm(self, scr, server):
        """Whether what it shows is what the server has."""

    def stop(self, scr):
        scr.key("C-c")
        time.sleep(0.2)
        scr.stop()


class Sandmux(Program):
    name = "sandmux"

    def argv(self):
        return [BIN, "--kubeconfig", self.kubeconfig, "-n", self.namespace]

    def is_complete(self, scr, rows):
        text = scr.text()
        return f"{rows} sandboxes" in text and "asking http" not in text  # said until all lists are in

    def check_after_storm(self, scr, server):
        ready = server.write("ready")["ready"]
        scr.wait_for(lambda s: (re.findall(r"(\d+) Ready", s.row(1)) or ["0"]) == [str(ready)], timeout=30)


class K9s(Program):
    """Shows one resource, claims, where sandmux joins claims, Sandboxes and pods: the lighter task."""
    name = "k9s"
    sees_all = False

    def argv(self):
        return [need_bed("k9s"), "--kubeconfig", self.kubeconfig, "-n", self.namespace, "-c", "sandboxclaims", "--readonly", "--splashless",
                "--logoless", "--logFile", str(self.home / "k9s.log")]

    def env(self):
        config = self.home / "k9s"
        config.mkdir(exist_ok=True)
        (config / "config.yaml").write_text("k9s:\n  skipLatestRevCheck: true\n")
        return {**home_env(self.home), "K9S_CONFIG_DIR": str(config)}

    def is_complete(self, scr, rows):
        return f"[{rows:,}]" in scr.text()
