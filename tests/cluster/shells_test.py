# SPDX-License-Identifier: Apache-2.0
"""Many shells over one API server: 200 in one dashboard, and many clients at once. No socket listens meanwhile, by
/proc and by ss."""
import os
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import cluster_case
from cluster_case import ClusterCase, NoListener, listening_by_ss, wait_until
from harness import main

BOXES = ("one", "two")
TABS, PANES = 25, 4  # of each sandbox: 200 shells
LOOKS_WANTED = 10
CLIENTS = 40
TICKS = os.sysconf("SC_CLK_TCK")
PROMPT = re.compile(r"[$#] *$", re.M)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mib(pid: int) -> float:
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text()).group(1)) / 1024


class Shells(ClusterCase):
    @classmethod
    def new_pools(cls, cleanup) -> str:
        # a hundred shells in a pod do not fit in what is enough for one
        plain, cluster_case.POOLS = cluster_case.POOLS, cluster_case.POOLS.replace("memory: 256Mi", "memory: 2Gi")
        try:
            return super().new_pools(cleanup)
        finally:
            cluster_case.POOLS = plain

    def quiet(self) -> list:
        looks = [NoListener(), NoListener(look=listening_by_ss)]
        for look in looks:
            self.addCleanup(look.stop)
        return looks

    def nobody_listened(self, looks: list):
        for look in looks:
            self.assertGreater(look.looks, LOOKS_WANTED)
            self.assertEqual(look.seen, [])

    def pod_of(self, name: str) -> str:
        return self.cluster.get("-n", self.ns, "sandboxclaim", name)["status"]["sandbox"]["name"]

    def shells_in(self, pod: str) -> int:
        return int(self.cluster.kubectl("-n", self.ns, "exec", pod, "--", "pgrep", "-xc", "bash", check=False) or 0)

    def connections(self, pid: int) -> int:
        """TCP connections of the process to the API server."""
        port = self.cluster.api.rsplit(":", 1)[1]
        lines = subprocess.run(["ss", "-Htnp", "state", "established", "dport", "=", f":{port}"], capture_output=True, text=True,
                               check=True).stdout.splitlines()
        return sum(f"pid={pid}," in line for line in lines)

    # --- hands
    def answer(self, scr, number: int) -> float:
        """Asks the shell that has the focus to say a number; seconds until it stands on the screen."""
        start = time.monotonic()
        scr.type(f"echo is-$(({number}+1000000))\r")
        scr.wait_for(f"is-{number + 1000000}")
        return time.monotonic() - start

    def open_tab(self, scr, how, first: int):
        """A tab of four panes; each pane gets its number."""
        how()
        for pane, split in enumerate((None, "%", '"', '"')):
            if pane == 3:
                was = scr.cursor
                scr.key("C-]", "o")  # the first pane, after the third
                scr.wait_for(lambda s: s.cursor != was)
            if split:
                was = scr.cursor
                scr.key("C-]").type(split)
                # the new pane has the cursor, and its shell has said that it reads
                scr.wait_for(lambda s: s.cursor != was and s.row(s.cursor[0])[:s.cursor[1]].endswith(("$", "$ ", "#", "# ")))
            self.answer(scr, first + pane)

    def test_two_hundred_in_one_dashboard(self):
        self.pools()
        for name in BOXES:
            self.created(name)
        pods = [self.pod_of(name) for name in BOXES]
        looks = self.quiet()
        scr = self.dash(rows=60, cols=200)
        scr.wait_for(re.compile(r"two +\S Ready"))
        base = resident_mib(scr.pid)
        start = time.monotonic()
        number = 0
        for box in BOXES:
            def from_list():
                if box == BOXES[1]:
                    scr.key("C-]").type("d")
                    scr.wait_for(re.compile(r"two +\S Ready"))
                    scr.key("Down")
                scr.type("s")
                scr.wait_for(PROMPT)

            def in_tab():
                scr.key("C-]").type("c")
                scr.wait_for(lambda s: "is-1" not in s.text() and PROMPT.search(s.text()))

            for tab in range(TABS):
                self.open_tab(scr, in_tab if tab else from_list, number)
                number += PANES
        opened = time.monotonic() - start
        self.assertEqual([self.shells_in(pod) for pod in pods], [TABS * PANES] * len(pods))
        connections = self.connections(scr.pid)
        # a lane of each kind for each sandbox, and the watches: shells share them
        self.assertLess(connections, 12)

        # every one of them is still there, and is what it was
        for tab in reversed(range(len(BOXES) * TABS)):
            want = [f"is-{1000000 + tab * PANES + pane}" for pane in range(PANES)]
            scr.wait_for(lambda s: all(w in s.text() for w in want))
            if tab:
                scr.key("C-]").type("p")

        time.sleep(1)
        cpu = cpu_seconds(scr.pid)
        time.sleep(10)
        idle = (cpu_seconds(scr.pid) - cpu) * 10
        print(f"{number} shells: opened in {opened:.0f} s over {connections} connections, "
              f"{resident_mib(scr.pid):.0f} MiB ({base:.0f} before), idle {idle:.1f} % of a core", flush=True)

        # a new size reaches what is seen at once, the rest when it is seen
        scr.resize(50, 180)
        self.sizes(scr)
        scr.key("C-]").type("n")
        self.sizes(scr)

        # a flood in one stops nobody
        scr.type("clear; yes flood\r")
        scr.wait_for(lambda s: s.text().count("flood") > 20)
        waits = []
        for n in range(20):
            scr.key("C-]").type("n")
            waits.append(self.answer(scr, 2000 + n))
        waits.sort()
        print(f"echo during a flood in another: median {waits[10] * 1000:.0f} ms, worst {waits[-1] * 1000:.0f} ms", flush=True)
        self.assertLess(waits[4], 2)  # what it takes, whatever else the machine does
        for n in range(20):
            scr.key("C-]").type("p")
        scr.wait_for(lambda s: s.text().count("flood") > 20)
        scr.key("C-c")
        self.answer(scr, 3000)

        scr.key("C-]").type("q")
        scr.wait_for("Quit?")
        scr.type("q")
        self.assertEqual(scr.wait_exit(), 0)
        wait_until(lambda: [self.shells_in(pod) for pod in pods] == [0] * len(pods), "the end of all shells")
        self.nobody_listened(looks)

    def sizes(self, scr):
        """The shell with the focus knows a size that fits four panes of the screen."""
        scr.type("clear; stty size\r")
        rows, cols = map(int, scr.wait_for(re.compile(r"(?:^|[│║] ?)(\d\d) (\d\d)\b", re.M)).groups())
        self.assertLess(abs(cols - scr.cols // 2), 4)
        self.assertLess(abs(rows - scr.rows // 2), 4)

    def test_many_clients_at_once(self):
        self.pools()
        self.created("box")
        pod = self.pod_of("box")
        looks = self.quiet()
        results = {}

        def client(n):
            results[n] = self.sm("run", "box", "--", "bash", "-c", f"echo from {n}; cat; exit {n}", stdin=f"to {n}\n".encode(), timeout=120)

        while not results or min(look.looks for look in looks) <= LOOKS_WANTED:  # they are soon done: until it was looked at often enough
            results.clear()
            start = time.monotonic()
            threads = [threading.Thread(target=client, args=(n,)) for n in range(1, CLIENTS + 1)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            print(f"{CLIENTS} clients at once: {time.monotonic() - start:.1f} s", flush=True)
            for n in range(1, CLIENTS + 1):
                r = results[n]
                self.assertEqual((r.out, r.err, r.code), (f"from {n}\nto {n}\n", "", n))
        wait_until(lambda: self.shells_in(pod) == 0, "the end of all processes")
        self.nobody_listened(looks)


class TheLookBySs(ClusterCase):
    """Without this the tests above could not fail."""
    NODE = False

    def setUp(self):
        pass

    def test_ss_shows_a_listener(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            runs, found = listening_by_ss(sys.executable)
            self.assertGreater(runs, 0)
            self.assertTrue([line for pid, line in found if pid == os.getpid() and f":{s.getsockname()[1]} " in line], found)


if __name__ == "__main__":
    main()
