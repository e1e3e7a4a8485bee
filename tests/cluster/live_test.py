# SPDX-License-Identifier: Apache-2.0
"""A real API server, the real controller, real pods: what others do shows within a second of the event, and one
sandbox is used through the API server's port-forward and by its pod IP, without a socket that listens."""
import json
import re
import socket
import subprocess
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

from cluster_case import ClusterCase, Lines, NoListener, Observer, current, listening_sockets, wait_until
from harness import bed_path, main
from harness.bed import need_bed
from harness.sandmux import Stopwatch

LATE = 1.0  # the promise


class Watching(ClusterCase):
    def test_what_others_do_shows_within_a_second(self):
        ns = self.pools()
        self.warm()
        quiet = NoListener()
        self.addCleanup(quiet.stop)
        seen = Observer(self.cluster, ns)
        self.addCleanup(seen.stop)
        lines = Lines(self, "--kubeconfig", self.cluster.kubeconfig, "-n", ns, "ls", "-w", "-o", "json")
        scr = self.dash()
        scr.wait_for(re.compile(r"No sandboxes|0 sandboxes"))
        delays = {}

        def soon(what, event, on_line, on_screen, after=0.0):
            """The event (a time by the independent watch) is on the screen and in the lines within LATE."""
            watch = Stopwatch(scr.pid, lines.pid)
            scr.wait_for(on_screen)
            shown = time.monotonic()
            at = event()
            printed = lines.when(on_line, after=after)
            delays[what] = (shown - at, printed - at)
            self.assertLess(max(delays[what]) - watch.kept(), LATE, f"{what}: {delays}")

        def ready(box):
            """The claim's Sandbox is Ready in the generation that binds it (the controller says Ready of the old one first)."""
            return lambda: seen.when("sandboxes", box, lambda t, o: "agents.x-k8s.io/claim-uid" in o["metadata"].get("labels", {})
                                     and current(o, "Ready") == "True")

        def is_line(name, **fields):
            return lambda line: line.get("object", {}).get("claim") == name and all(line["object"][k] == v for k, v in fields.items())

        self.claim("one")
        soon("appears", lambda: seen.when("sandboxclaims", "one", lambda t, o: t == "ADDED"), is_line("one"), re.compile(r"^[ *]?\W?one ", re.M))
        box = wait_until(lambda: self.cluster.get("-n", ns, "sandboxclaim", "one").get("status", {}).get("sandbox", {}).get("name"), "a sandbox")
        soon("ready", ready(box), is_line("one", state="Ready"), re.compile(r"one +\S Ready"))

        start = time.monotonic()
        until = (datetime.now(timezone.utc) + timedelta(hours=3)).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.kubectl("-n", ns, "patch", "sandboxclaim", "one", "--type=merge", "-p",
                     json.dumps({"metadata": {"labels": {"team": "blue"}}, "spec": {"lifecycle": {"shutdownTime": until}}}))
        soon("time to live", lambda: seen.when("sandboxclaims", "one", lambda t, o: o["spec"].get("lifecycle", {}).get("shutdownTime") == until),
             is_line("one", expiresAt=until), re.compile(r"one +\S Ready.* (3h|2h\S*|179m)"), start)

        start = time.monotonic()
        self.kubectl("-n", ns, "patch", "sandbox", box, "--type=merge", "-p", '{"spec":{"operatingMode":"Suspended"}}')
        soon("suspended", lambda: seen.when("sandboxes", box, lambda t, o: current(o, "Suspended") == "True"),
             is_line("one", state="Suspended"), re.compile(r"one +\S Suspended"), start)

        start = time.monotonic()
        self.kubectl("-n", ns, "patch", "sandbox", box, "--type=merge", "-p", '{"spec":{"operatingMode":"Running"}}')
        resumed = seen.when("sandboxes", box, lambda t, o: current(o, "Suspended") == "False" and current(o, "Ready") == "True"
                            and o["metadata"]["generation"] >= 4)
        soon("resumed", lambda: resumed, is_line("one", state="Ready"), re.compile(r"one +\S Ready"), start)

        self.kubectl("-n", ns, "delete", "sandboxclaim", "one", "--wait=false")
        soon("vanishes", lambda: seen.when("sandboxclaims", "one", lambda t, o: t == "DELETED"),
             lambda line: line["type"] == "DELETED", re.compile(r"^[ *]?\W?one +† Deleted", re.M))
        scr.wait_for(re.compile(r"No sandboxes|0 sandboxes"))
        print("seconds after the event (screen, line):", {k: tuple(round(x, 3) for x in v) for k, v in delays.items()})
        self.assertGreater(quiet.looks, 10)
        self.assertEqual(quiet.seen, [])

    def test_a_label_that_no_longer_fits_takes_the_row_away(self):
        ns = self.pools()
        self.claim("two")
        self.kubectl("-n", ns, "label", "sandboxclaim", "two", "team=blue")
        lines = Lines(self, "--kubeconfig", self.cluster.kubeconfig, "-n", ns, "ls", "-w", "-o", "json", "-l", "team in (blue,green)")
        lines.when(lambda line: line["type"] != "DELETED" and line["object"]["claim"] == "two")
        start = time.monotonic()
        self.kubectl("-n", ns, "label", "--overwrite", "sandboxclaim", "two", "team=red")
        lines.when(lambda line: line["type"] == "DELETED", after=start)
        self.assertEqual(self.sm("ls", "-l", "team=red", "-o", "name", check=0).out, "sandboxclaim/two\n")
        bad = self.sm("ls", "-l", "team in blue")
        self.assertEqual(bad.code, 2)
        self.assertIn("team in blue", bad.err)

    def test_ls_is_what_kubectl_get_is(self):
        ns = self.pools()
        for n in range(5):
            self.claim(f"c{n}", "loopback" if n % 2 else "no-such-pool")
        wait_until(lambda: "WarmPoolNotFound" in self.kubectl("-n", ns, "get", "sandboxclaim", "c4", "-o", "yaml"), "the controller")
        mine = json.loads(self.sm("ls", "-o", "json", check=0).out)["items"]
        theirs = self.cluster.get("sandboxclaims", "-n", ns)["items"]
        self.assertEqual({i["uid"]: i["claim"] for i in mine}, {o["metadata"]["uid"]: o["metadata"]["name"] for o in theirs})
        by_name = {i["claim"]: i for i in mine}
        self.assertEqual(by_name["c4"]["state"], "Blocked")
        self.assertIn("no-such-pool", by_name["c4"]["why"])


class Reaching:
    """One sandbox, by a mode of reaching it."""
    mode: str

    def flags(self):
        return ["--connectivity", self.mode]

    def test_every_verb(self):
        self.pools()
        quiet = NoListener()
        self.addCleanup(quiet.stop)
        self.created("box")
        on = self.flags()
        r = self.sm(*on, "run", "box", "--", "sh", "-c", "echo out; echo err >&2; exit 3")
        self.assertEqual((r.out, r.err, r.code), ("out\n", "err\n", 3))
        r = self.sm(*on, "run", "box", "-e", "COLOUR=red", "--", "sh", "-c", "cat; echo $COLOUR", stdin=b"in\n", check=0)
        self.assertEqual(r.out, "in\nred\n")
        self.assertRegex(self.sm(*on, "health", "box", check=0).out, r"^ok\b")
        self.assertIn("SANDBOX_KIND=ready", self.sm(*on, "metadata", "box", check=0).out)
        # both ways, as bytes
        data = bytes(range(256)) * 8192
        (self.tmp / "data").write_bytes(data)
        self.sm(*on, "cp", self.tmp / "data", "box:dir/data", "--verify", check=0)
        self.sm(*on, "cp", "box:dir/data", self.tmp / "back", "--verify", check=0)
        self.assertEqual((self.tmp / "back").read_bytes(), data)
        self.assertIn("data", self.sm(*on, "files", "ls", "box:dir", check=0).out)
        self.assertEqual(self.sm(*on, "files", "cat", "box:dir/data", check=0).out_bytes, data)
        self.sm(*on, "files", "rm", "box:dir/data", "--yes", check=0)
        gone = self.sm(*on, "files", "cat", "box:dir/data")
        self.assertEqual(gone.code, 3, gone.err)
        self.assertIn("file.not_found", gone.err)
        # a tree
        tree = self.tmp / "tree"
        for n in range(30):
            (tree / f"d{n % 3}").mkdir(parents=True, exist_ok=True)
            (tree / f"d{n % 3}/f{n}").write_text(str(n) * n)
        self.sm(*on, "cp", "-r", tree, "box:tree", check=0, timeout=60)
        self.sm(*on, "cp", "-r", "box:tree", self.tmp / "tree2", check=0, timeout=60)
        self.assertEqual(*({p.relative_to(t): p.read_text() for p in t.rglob("f*")} for t in (tree, self.tmp / "tree2")))
        self.assertEqual(quiet.seen, [])

    def test_shell_in_the_dashboard_and_alone(self):
        self.pools()
        self.created("box")
        quiet = NoListener()
        self.addCleanup(quiet.stop)
        scr = self.sandmux_screen("--kubeconfig", self.cluster.kubeconfig, "-n", self.ns, *self.flags(), "sh", "box")
        scr.wait_for(re.compile(r"[$#] *$", re.M))
        scr.type("stty size; echo $SANDBOX_KIND\r")
        scr.wait_for(re.compile(r"^24 80$\n^ready$", re.M))
        scr.resize(30, 100)
        # a size comes by a signal and keys as bytes: on a busy machine keys may be there first
        scr.type('clear; until [ "$(stty size)" != "24 80" ]; do sleep 0.1; done; stty size\r')
        scr.wait_for(re.compile(r"^30 100$", re.M))
        scr.type("exit 5\r")
        self.assertEqual(scr.wait_exit(), 5)
        scr = self.dash(*self.flags())
        scr.wait_for(re.compile(r"box +\S Ready"))
        scr.type("s")
        scr.wait_for(re.compile(r"[$#] *$", re.M))
        scr.type("echo in-the-$SANDBOX_KIND-pod\r")
        scr.wait_for("in-the-ready-pod")
        self.assertEqual(quiet.seen, [])
        self.assertGreater(quiet.looks, 0)

    def test_the_pod_is_deleted_under_an_open_shell(self):
        self.pools()
        self.created("box")
        alone = self.sandmux_screen("--kubeconfig", self.cluster.kubeconfig, "-n", self.ns, *self.flags(), "sh", "box", cols=120)
        alone.wait_for(re.compile(r"[$#] *$", re.M))
        scr = self.dash(*self.flags())
        scr.wait_for(re.compile(r"box +\S Ready"))
        scr.type("s")
        scr.wait_for(re.compile(r"[$#] *$", re.M))
        pod = json.loads(self.sm("get", "box", "-o", "json", check=0).out)["pod"]
        self.kubectl("-n", self.ns, "delete", "pod", pod, "--wait=false")
        reason = r"the pod of sandbox \S+ was (replaced|deleted)"
        alone.wait_for(re.compile(r"^sandmux: (sandbox.moved|proc.lost): .*" + reason, re.M))
        scr.wait_for(re.compile(reason))
        self.assertEqual(alone.wait_exit(), 125)
        # the controller makes a new pod; a new shell reaches it
        self.sm(*self.flags(), "run", "box", "--", "true", timeout=60, check=0)


class PortForward(Reaching, ClusterCase):
    mode = "port-forward"

    def test_it_is_the_default(self):
        self.pools()
        self.created("box", "loopback")  # the released daemon listens on the pod's loopback: nothing else reaches it
        self.assertEqual(self.sm("run", "box", "--", "sh", "-c", "echo $SANDBOX_KIND", check=0).out, "loopback\n")


class PodIp(Reaching, ClusterCase):
    mode = "in-cluster-pod-ip"


class OfficialClient(ClusterCase):
    def test_each_sees_and_uses_the_others_sandboxes(self):
        self.need(bed_path("python"), "python is not built: tests/bed/build.sh python")
        ns = self.pools()
        self.created("ours")
        self.sm("cp", "-", "ours:from-sandmux", stdin=b"hello from sandmux\n", check=0)
        p = subprocess.Popen([need_bed("python"), str(Path(__file__).with_name("official_client.py")), ns], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**__import__("os").environ, "KUBECONFIG": self.cluster.kubeconfig})
        self.addCleanup(lambda: (p.kill(), p.communicate()))

        def told():
            line = p.stdout.readline()
            self.assertTrue(line, "" if line else p.stderr.read()[-3000:])
            return json.loads(line)

        seen = told()
        self.assertIn("ours", seen["listed"])
        self.assertEqual(seen["read"], "hello from sandmux\n")
        self.assertEqual(seen["run"], ["ready\n", 0])
        theirs = seen["created"]
        self.assertIn(f"sandboxclaim/{theirs}\n", self.sm("ls", "-o", "name", check=0).out)
        self.assertEqual(self.sm("files", "cat", f"{theirs}:from-client", check=0).out, "hello from the client\n")
        self.assertEqual(self.sm("run", theirs, "--", "sh", "-c", "echo $SANDBOX_KIND; exit 4").code, 4)
        self.assertEqual(self.sm("files", "cat", "ours:from-client", check=0).out, "hello again\n")
        self.sm("rm", "ours", "--yes", check=0)
        p.stdin.write("\n")
        p.stdin.flush()
        seen = told()
        self.assertNotIn("ours", seen["listed"])
        self.assertEqual(p.wait(60), 0)
        wait_until(lambda: self.sm("ls", "-o", "name", check=0).out == "", "the client's deletion in ls")


class TheLookForListeners(ClusterCase):
    """Without this the tests above could not fail."""
    NODE = False

    def setUp(self):
        pass

    def test_a_listener_is_found(self):
        import os
        import sys
        with socket.create_server(("127.0.0.1", 0)) as s:
            _, found = listening_sockets(sys.executable)
            port = f"{s.getsockname()[1]:04X}"
            self.assertTrue([line for pid, line in found if pid == os.getpid() and port in line], found)


if __name__ == "__main__":
    main()
