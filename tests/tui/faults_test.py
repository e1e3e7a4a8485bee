# SPDX-License-Identifier: Apache-2.0
"""Nothing is shown as live that is not: the API server or the backend killed, stopped, slow, and back, as a person sees it
at two sizes. The rows are dim, with the time they are of, the reason and the offer, and they are live again within two
seconds."""
import json
import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

from harness import BIN, Case, free_port, main
from harness.sandmux import Stopwatch
from harness.scripted_api import ScriptedApi, claim, sandbox

SIZES = ((35, 120), (24, 80))
BACK_WITHIN = 2.0
AS_OF = re.compile(r"rows are as of (\d\d:\d\d:\d\d)\.")


class Faults(Case):
    def dim(self, scr, name):
        """The colours of a row that is not under the cursor."""
        row = next(n for n, line in enumerate(scr.lines()) if name in line)
        cell = scr.cell(row, scr.row(row).index(name))
        state = next((i for i, c in enumerate(scr.row(row)) if scr.row(row)[i:].startswith("Ready")), None)
        return cell.fg, scr.cell(row, state).fg if state else None

    def expect_stale(self, scr, words, name, live):
        """The row under the tabs, whole, and rows in one dim colour."""
        scr.wait_for(lambda s: words in s.row(1))
        as_of = scr.wait_for(lambda s: AS_OF.search(s.row(1))).group(1)
        scr.wait_for(lambda s: self.dim(s, name) != live)
        name_fg, state_fg = self.dim(scr, name)
        self.assertEqual(name_fg, state_fg)  # no colour of a state
        self.assertNotEqual(name_fg, live[0])
        then = time.mktime(time.strptime(time.strftime("%Y-%m-%d ") + as_of, "%Y-%m-%d %H:%M:%S"))
        self.assertLess(abs(time.time() - then) % 86400, 30)
        return as_of

    def expect_live(self, scr, name, live):
        watch = Stopwatch(scr.pid)
        scr.wait_for(lambda s: AS_OF.search(s.text()) is None)
        took = watch.took()
        scr.wait_for(lambda s: self.dim(s, name) == live)
        self.assertLess(took, BACK_WITHIN)


class Api(Faults):
    def open(self, rows, cols):
        self.api = ScriptedApi(3)
        self.addCleanup(lambda api: api.stop(), self.api)
        scr = self.sandmux_screen("--kubeconfig", self.api.kubeconfig(self.tmp / "kubeconfig"), rows=rows, cols=cols)
        scr.wait_for("3 sandboxes")
        scr.wait_for(lambda s: all(self.api.watchers.get(r) for r in ("sandboxclaims", "sandboxes")))
        return scr, self.dim(scr, "claim-00001")

    def at_each_size(self, test):
        for rows, cols in SIZES:
            with self.subTest(rows=rows, cols=cols):
                scr, live = self.open(rows, cols)
                test(scr, live)
                scr.stop()
                self.api.stop()

    def test_killed_and_back(self):
        def test(scr, live):
            self.api.stop()
            as_of = self.expect_stale(scr, "API server refuses connections", "claim-00001", live)
            self.assertNotIn("[R]", scr.text())  # it is not ours to start
            scr.wait_for("for 3s")
            self.assertIn(as_of, scr.row(1))  # the time stands still while the outage grows
            if scr.cols > 100:
                self.assertIn("asked twice a second", scr.row(1))
            scr.type("d")
            scr.wait_gone("claim-00002")  # the page is about another one
            self.assertIn("rows are as of", scr.row(1))  # in every view
            scr.type("q")
            scr.wait_for("claim-00002")
            self.api.start_again()
            self.expect_live(scr, "claim-00001", live)
            scr.wait_for(lambda s: all(self.api.watchers.get(r) for r in ("sandboxclaims", "sandboxes")))
            self.api.emit("sandboxclaims", "ADDED", claim(7, 0))
            self.api.emit("sandboxes", "ADDED", sandbox(7, 0))
            scr.wait_for("4 sandboxes")
        self.at_each_size(test)

    def test_stopped_and_back(self):
        """It takes connections and says nothing, as a process that SIGSTOP has stopped."""
        def test(scr, live):
            self.api.frozen.set()
            as_of = self.expect_stale(scr, "API server has not answered for", "claim-00001", live)
            scr.wait_for("for 5s")
            self.assertIn(as_of, scr.row(1))
            self.api.frozen.clear()
            self.expect_live(scr, "claim-00001", live)
            self.api.emit("sandboxes", "MODIFIED", sandbox(1, 0, ready=False))
            scr.wait_for(re.compile(r"claim-00001 +\S Degraded"))
        self.at_each_size(test)

    def test_slow_and_back(self):
        def test(scr, live):
            self.api.delay = 2.5
            self.expect_stale(scr, "API server is slow: its last answer took 2s", "claim-00001", live)
            self.api.delay = 0
            scr.wait_for(lambda s: AS_OF.search(s.text()) is None)
            self.assertEqual(self.dim(scr, "claim-00001"), live)
        self.at_each_size(test)

    def test_out_for_longer_than_the_pauses_grow(self):
        """Eight seconds: a pause between two attempts of a watch is longer than what a person waits for by then."""
        scr, live = self.open(24, 80)
        self.api.stop()
        scr.wait_for("refuses connections for 8s")
        self.api.start_again()
        self.expect_live(scr, "claim-00001", live)

    def test_a_server_that_answers_with_failures_is_said(self):
        scr, live = self.open(24, 80)
        self.api.stop()
        self.api.failing = 503
        self.api.start_again()
        self.expect_stale(scr, "API server is out of reach", "claim-00001", live)
        self.api.failing = 0
        self.expect_live(scr, "claim-00001", live)

    def test_a_server_that_names_the_time_is_asked_then(self):
        for rows, cols in SIZES:
            with self.subTest(rows=rows, cols=cols):
                scr, live = self.open(rows, cols)
                self.api.retry_after, self.api.failing = 6, 503
                scr.wait_for(re.compile(r"API server is out of reach .*retry in [456] s"), timeout=20)
                scr.wait_for(re.compile(r"retry in [12] s"))
                self.api.failing = 0
                scr.wait_for(lambda s: AS_OF.search(s.text()) is None, timeout=10)
                self.assertEqual(self.dim(scr, "claim-00001"), live)
                scr.stop()
                self.api.stop()

    def test_gone_before_the_first_answer(self):
        api = ScriptedApi(1)
        api.stop()
        scr = self.sandmux_screen("--kubeconfig", api.kubeconfig(self.tmp / "kubeconfig"), rows=24, cols=100)
        scr.wait_for("API server refuses connections")
        scr.wait_for("there are no rows yet")
        self.assertNotIn("0 sandboxes", scr.text())  # nobody has said so
        self.assertNotIn("No sandboxes", scr.text())
        api.start_again()
        self.addCleanup(api.stop)
        watch = Stopwatch(scr.pid)
        scr.wait_for("claim-00000")
        self.assertLess(watch.took(), BACK_WITHIN)


class Daemon(Faults):
    """Direct mode: there are no rows, but what is open is the daemon's, and whether it is there."""

    def daemon(self, ports=(0, 0)):
        program = Path(BIN).parent / "sandmux-sandboxd"
        p = subprocess.Popen([program, "--root-dir", self.tmp / "root", "--rest-port", str(ports[0]), "--grpc-port", str(ports[1])],
                             stdout=subprocess.PIPE, text=True)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)
        self.addCleanup(p.stdout.close)
        return p, tuple(int(n) for n in re.search(r"rest=\S+:(\d+) grpc=\S+:(\d+)", p.stdout.readline()).groups())

    def test_killed_and_back_stopped_and_back(self):
        said = re.compile(r"; it last answered at \d\d:\d\d:\d\d\.")
        for rows, cols in SIZES:
            with self.subTest(rows=rows, cols=cols):
                p, ports = self.daemon()
                scr = self.sandmux_screen("--rest", f"http://127.0.0.1:{ports[0]}", "--grpc", f"127.0.0.1:{ports[1]}", rows=rows, cols=cols)
                scr.wait_for("one sandbox, by its address")
                live = scr.cell(1, 0).fg
                scr.wait_idle()
                self.assertNotIn("it has not answered", scr.text())
                for words, signal_number in (("Daemon refuses connections for", signal.SIGKILL), ("Daemon has not answered for", signal.SIGSTOP)):
                    p.send_signal(signal_number)
                    scr.wait_for(lambda s, words=words: words in s.row(1) and said.search(s.row(1)), timeout=15)
                    self.assertNotEqual(scr.cell(2, 0).fg, live)
                    if signal_number == signal.SIGKILL:
                        p.wait()
                        p, _ = self.daemon(ports)
                    else:
                        p.send_signal(signal.SIGCONT)
                    watch = Stopwatch(scr.pid)
                    scr.wait_for(lambda s: said.search(s.text()) is None, timeout=10)
                    self.assertLess(watch.took(), BACK_WITHIN)
                    self.assertEqual(scr.cell(1, 0).fg, live)
                scr.stop()

    def test_never_there(self):
        scr = self.sandmux_screen("--rest", f"http://127.0.0.1:{free_port()}", rows=24, cols=80)
        scr.wait_for("Daemon refuses connections for")
        self.assertIn("it has not answered yet.", scr.text())


class NoAnswer(Case):
    """What has not been read is not shown as none."""

    def open(self, *failing, cols=120):
        api = ScriptedApi(2)
        self.addCleanup(api.stop)
        api.failing_for = set(failing)
        scr = self.sandmux_screen("--kubeconfig", api.kubeconfig(self.tmp / "kubeconfig"), rows=40, cols=cols)
        scr.wait_for("2 sandboxes")
        return api, scr

    def test_events(self):
        api, scr = self.open("events")
        scr.type("d")
        scr.wait_for(re.compile(r"events\n +\? they cannot be read: .*not now"))
        api.failing_for.clear()
        scr.wait_gone("they cannot be read")  # now somebody has said so

    def test_pods(self):
        api, scr = self.open("pods", cols=160)
        scr.wait_for("pods retrying: not now")
        scr.type("d")
        scr.wait_for(re.compile(r"restarts +\? pods: no answer yet: .*not now"))
        self.assertNotIn("does not exist", scr.text())
        api.failing_for.clear()
        scr.wait_gone("no answer yet")

    def test_pools(self):
        api, scr = self.open("sandboxwarmpools")
        scr.type("n")
        scr.wait_for("The warm pools have not been read yet")
        self.assertNotIn("There is no warm pool", scr.text())
        scr.key("Enter")
        scr.wait_for("which there are is not known yet")
        scr.key("Escape")
        api.failing_for.clear()

    def test_sandboxes(self):
        api = ScriptedApi(0)
        self.addCleanup(api.stop)
        api.failing_for = {"sandboxes"}
        scr = self.sandmux_screen("--kubeconfig", api.kubeconfig(self.tmp / "kubeconfig"), rows=24, cols=120)
        scr.wait_for("sandboxes: no answer yet")
        scr.wait_for("not now")
        self.assertNotIn("0 sandboxes", scr.text())
        self.assertNotIn("No sandboxes", scr.text())
        api.failing_for.clear()
        scr.wait_for("No sandboxes")


class Backend(Faults):
    def setUp(self):
        self.tmp  # first: its removal then comes after the reset
        self.addCleanup(self.sandmux, "local", "reset", "--yes", timeout=60)
        for name in ("one", "two"):
            self.sandmux("--local", "create", name, check=0, timeout=60)

    def status(self):
        return json.loads(self.sandmux("local", "status", "-o", "json").out)

    def open(self, rows, cols):
        scr = self.sandmux_screen("--local", rows=rows, cols=cols)
        scr.wait_for(re.compile(r"one +\S Ready(.|\n)*two +\S Ready"))
        return scr, self.dim(scr, "two")

    def test_killed_and_started_from_the_dashboard(self):
        for rows, cols in SIZES:
            with self.subTest(rows=rows, cols=cols):
                scr, live = self.open(rows, cols)
                os.kill(self.status()["pid"], signal.SIGKILL)
                self.expect_stale(scr, "Backend stopped", "two", live)
                scr.wait_for("[R] start it")
                scr.wait_for("stopped 1s ago")
                scr.type("R")
                scr.wait_for(lambda s: self.status()["status"] == "ready")
                self.expect_live(scr, "two", live)
                scr.wait_for(re.compile(r"one +\S Ready(.|\n)*two +\S Ready"))
                self.assertIn("NAME↑", scr.text())  # and has sorted nothing
                scr.stop()

    def test_killed_and_started_by_somebody_else(self):
        scr, live = self.open(24, 80)
        os.kill(self.status()["pid"], signal.SIGKILL)
        self.expect_stale(scr, "Backend stopped", "two", live)
        self.sandmux("local", "up", check=0, timeout=60)
        self.expect_live(scr, "two", live)

    def test_started_by_somebody_else_on_another_port(self):
        """Its old one was taken meanwhile. Its context, which it writes anew, says where it is."""
        scr, live = self.open(24, 80)
        before = self.status()
        os.kill(before["pid"], signal.SIGKILL)
        self.expect_stale(scr, "Backend stopped", "two", live)
        with socket.create_server(("127.0.0.1", before["port"])) as taken:
            taken.settimeout(0)
            self.sandmux("local", "up", check=0, timeout=60)
            self.assertNotEqual(self.status()["port"], before["port"])
            self.expect_live(scr, "two", live)
            self.sandmux("--local", "create", "three", check=0, timeout=60)
            scr.wait_for(re.compile(r"three +\S Ready"))

    def test_stopped_and_back(self):
        for rows, cols in SIZES:
            with self.subTest(rows=rows, cols=cols):
                scr, live = self.open(rows, cols)
                pid = self.status()["pid"]
                os.kill(pid, signal.SIGSTOP)
                self.addCleanup(lambda: os.path.exists(f"/proc/{pid}") and os.kill(pid, signal.SIGCONT))
                self.expect_stale(scr, "Backend has not answered for", "two", live)
                self.assertNotIn("[R]", scr.text())  # it runs
                os.kill(pid, signal.SIGCONT)
                self.expect_live(scr, "two", live)
                scr.stop()

    def test_in_a_shell_the_offer_takes_the_prefix(self):
        scr, _ = self.open(24, 80)
        scr.type("s")
        scr.wait_for(re.compile(r"[$#] *$", re.M))
        os.kill(self.status()["pid"], signal.SIGKILL)
        scr.wait_for("[ctrl-] R] start it")
        scr.wait_for("r runs it again")
        scr.wait_for("stopped 1s ago")
        scr.type("R")  # typed on
        scr.wait_idle()
        self.assertNotEqual(self.status()["status"], "ready")
        scr.key("C-]").type("R")
        scr.wait_for(lambda s: AS_OF.search(s.text()) is None)
        self.assertEqual(self.status()["status"], "ready")
        scr.key("C-]").type("r")
        scr.wait_for(re.compile(r"[$#] *$", re.M))


if __name__ == "__main__":
    main()
