# SPDX-License-Identifier: Apache-2.0
"""Between sandmux and a real API server everything goes wrong. Meanwhile the screen says so and keeps its rows;
afterwards what sandmux holds equals a fresh `kubectl get`."""
import json
import os
import re
import signal
import tempfile
import threading
import time
import urllib.request
from datetime import datetime, timedelta, timezone
from pathlib import Path

from cluster_case import ClusterCase, Lines, wait_until
from harness import main
from harness.cluster import RealCluster
from harness.faults import FaultProxy, HttpFaultProxy, status
from harness.scripted_api import ScriptedApi

# a server that answers, and what it says; one that does not, and since when the rows are old
BANNER = re.compile(r"! .*(retrying|deaf|relisting)|; rows are as of \d\d:\d\d:\d\d")
AWAY = re.compile(r"API server .*; rows are as of \d\d:\d\d:\d\d")


class Faults(ClusterCase):
    NODE = False
    SHARED = False
    own = None

    @classmethod
    def setUpClass(cls):
        """A control plane of our own: it is stopped and broken."""
        super().setUpClass()
        if not cls.why_not:
            folder = tempfile.TemporaryDirectory(prefix="sandmux-faults-", ignore_cleanup_errors=True)
            cls.addClassCleanup(folder.cleanup)
            cls.cluster = RealCluster(directory=Path(folder.name) / "cluster")
            cls.addClassCleanup(cls.cluster.stop)

    def setUp(self):
        super().setUp()
        self.shared_pools()
        self.kubectl("-n", self.ns, "delete", "sandboxclaims", "--all")
        for name in ("old", "stays"):
            self.claim(name, "loopback")

    # --- what is looked at
    def through(self, url: str, *args, proxy=None):
        """The dashboard and a list that is watched, both through url."""
        config = self.config({"token": self.cluster.token} if url.startswith("https") else {}, {"server": url, **({} if url.startswith("https") else {"certificate-authority": None})})
        self.lines = Lines(self, "--kubeconfig", config, "-n", self.ns, *args, "ls", "-w", "-o", "json")
        self.scr = self.dash(*args, config=config, rows=30)
        self.scr.wait_for("stays", timeout=60)
        self.scr.wait_for(re.compile(r"\bold\b"))
        self.scr.wait_gone("asking http")  # every list is in
        wait_until(lambda: len(self.held()) >= 2, "the list")
        if proxy:  # both programs watch, or there would be nothing to end
            wait_until(lambda: sum(r.is_watch and r.resource in ("sandboxclaims", "sandboxes") for r in proxy.requests) >= 4
                       and len(proxy.upstream) == sum(r.is_watch for r in proxy.requests), "the watches")
        return self.scr

    def held(self) -> dict:
        """What `ls -w` has told so far, put together: uid to (name, time to live)."""
        rows = {}
        with self.lines.changed:
            for _, line in self.lines.lines:
                if line["type"] == "RESET":
                    rows = {}
                elif line["type"] == "DELETED":
                    rows.pop(line["uid"], None)
                elif line["object"]["claim"]:
                    rows[line["object"]["uid"]] = (line["object"]["claim"], line["object"]["expiresAt"])
        return rows

    def fresh(self) -> dict:
        return {o["metadata"]["uid"]: (o["metadata"]["name"], o["spec"].get("lifecycle", {}).get("shutdownTime"))
                for o in self.cluster.get("sandboxclaims", "-n", self.ns)["items"]}

    def change(self):
        """Somebody adds, changes and deletes, where sandmux cannot see it."""
        until = (datetime.now(timezone.utc) + timedelta(hours=5)).strftime("%Y-%m-%dT%H:%M:%SZ")
        self.claim("new", "loopback")
        self.kubectl("-n", self.ns, "patch", "sandboxclaim", "stays", "--type=merge", "-p", json.dumps({"spec": {"lifecycle": {"shutdownTime": until}}}))
        self.kubectl("-n", self.ns, "delete", "sandboxclaim", "old")
        # what the garbage collector does in its own time, minutes after its API server was restarted
        self.kubectl("-n", self.ns, "delete", "sandbox", "old", "--ignore-not-found")

    def equal(self, timeout: float = 60):
        """What sandmux holds is what a fresh list says, on the screen too, and nothing is said to be wrong any more."""
        want = self.fresh()
        self.assertEqual(sorted(name for name, _ in want.values()), ["new", "stays"])
        end = time.monotonic() + timeout
        while self.held() != want and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual(self.held(), want, self.scr.dump())
        self.scr.wait_for(lambda s: re.search(r"^ *new +\S", s.text(), re.M) and not re.search(r"^ *old +[^† ]", s.text(), re.M), timeout)
        self.scr.wait_for(lambda s: not BANNER.search(s.text()), timeout)

    def bytes_proxy(self) -> FaultProxy:
        proxy = FaultProxy(self.cluster.api)
        self.addCleanup(proxy.stop)
        return proxy

    def http_proxy(self) -> HttpFaultProxy:
        proxy = HttpFaultProxy(self.cluster.api, self.cluster.ca, self.cluster.token)
        self.addCleanup(proxy.stop)
        return proxy

    # --- the wire
    def test_half_open_connection(self):
        """The connection is dead and nobody says so; a new one works."""
        proxy = self.bytes_proxy()
        self.through(proxy.url, "--watch-idle", "4s")
        proxy.half_open()
        self.change()
        proxy.refuse()  # so that the deafness is seen for longer than a moment
        self.scr.wait_for(AWAY)
        proxy.accept()
        self.equal()

    def test_outage_without_a_word(self):
        """No byte moves in either direction for a while, then all of them do."""
        proxy = self.bytes_proxy()
        self.through(proxy.url, "--watch-idle", "4s")
        proxy.hold()
        self.change()
        self.scr.wait_for(AWAY)
        self.assertRegex(self.scr.text(), r"(?m)^ +old\b")  # rows stay
        proxy.release()
        self.equal()

    def test_cut_in_mid_chunk(self):
        proxy = self.bytes_proxy()
        self.through(proxy.url)
        proxy.cut_after(700)  # inside the event that is next
        pipes = list(proxy.pipes)
        proxy.refuse()  # else it is taken up again at once, and there is nothing to say
        self.change()
        wait_until(lambda: any(p.was_cut for p in pipes), "a cut")
        self.scr.wait_for(AWAY)
        proxy.accept()
        self.equal()

    def test_connections_are_reset_and_refused(self):
        proxy = self.bytes_proxy()
        self.through(proxy.url)
        proxy.refuse()
        proxy.cut()
        self.change()
        self.scr.wait_for(AWAY)
        proxy.accept()
        self.equal()

    def test_slow_drip(self):
        """600 bytes a second: the list comes in the end, and keys work meanwhile."""
        proxy = self.bytes_proxy()
        self.through(proxy.url)
        proxy.drip(600)
        proxy.cut()
        self.change()
        self.scr.wait_for(BANNER)
        self.scr.type("?")
        self.scr.wait_for("Everywhere")
        self.scr.key("Escape")
        self.scr.wait_gone("Everywhere")
        self.equal(120)

    # --- the server
    def test_server_is_stopped(self):
        self.through(self.cluster.api, "--watch-idle", "4s")
        self.change_when_stopped(12)
        self.equal(90)

    def test_server_is_stopped_for_90_seconds(self):
        """With what is the default: a connection that is only slow is not given up."""
        self.through(self.cluster.api)
        self.change_when_stopped(95)
        self.equal(90)

    def change_when_stopped(self, seconds):
        pid = self.cluster.pid("kube-apiserver")
        os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(seconds)
            self.scr.wait_for(AWAY, timeout=30)
        finally:
            os.kill(pid, signal.SIGCONT)
        self.change()

    def restart(self, between=lambda: None):
        pid = self.cluster.pid("kube-apiserver")
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not Path(f"/proc/{pid}").exists() or ") Z " in Path(f"/proc/{pid}/stat").read_text(), "its end")
        try:
            between()
        finally:
            self.cluster.up()

    def test_server_restarts(self):
        self.through(self.cluster.api)
        self.restart(lambda: self.scr.wait_for(AWAY))
        self.change()
        self.equal(90)

    def test_etcd_is_compacted(self):
        """What happened since the last event is history that nobody has any more: a real 410."""
        proxy = self.bytes_proxy()
        self.through(proxy.url)
        proxy.refuse()
        proxy.cut()
        self.scr.wait_for(AWAY)
        self.change()
        self.compact()
        self.restart()  # its watch cache has no history either
        proxy.accept()
        self.equal(90)

    def compact(self):
        ports = json.loads((self.cluster.dir / "settings.json").read_text())["ports"]

        def call(what, **body):
            request = urllib.request.Request(f"http://127.0.0.1:{ports['etcd']}/v3/{what}", json.dumps(body).encode(), {"Content-Type": "application/json"})
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20) as r:
                return json.load(r)

        revision = call("kv/range", key="AA==")["header"]["revision"]
        call("kv/compaction", revision=revision, physical=True)

    # --- what the server says
    def gone(self, how):
        """The watches end, and resuming them is answered so; lists come when that has been seen."""
        proxy = self.http_proxy()
        self.through(proxy.url, proxy=proxy)
        answered, seen, stop = {}, [], threading.Event()
        self.addCleanup(stop.set)

        def rule(request):
            key = request.path
            if not request.is_list and answered.get(key, 0) < 2 and resumed.is_set():  # two programs watch
                answered[key] = answered.get(key, 0) + 1
                return how(request)
            if request.is_list and resumed.is_set() and request.resource in ("sandboxclaims", "sandboxes"):
                said.wait(120)
            return None

        def look():
            while not stop.wait(0.02):
                seen.append("stays" in self.scr.text())

        resumed, said = threading.Event(), threading.Event()
        self.addCleanup(said.set)
        proxy.rule = rule
        threading.Thread(target=look, daemon=True).start()
        before = len(proxy.requests)
        resumed.set()
        proxy.end_watches()
        self.scr.wait_for(re.compile(r"! .*relisting"))
        self.change()
        said.set()
        self.equal()
        stop.set()
        self.assertTrue(all(seen), "the row flickered")
        lists = [r for r in proxy.requests[before:] if r.resource == "sandboxclaims" and r.is_list]
        self.assertGreaterEqual(len(lists), 2)  # the dashboard's and that of ls
        self.assertIn(f"/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/{self.ns}/sandboxclaims", answered)

    def test_410_as_status(self):
        self.gone(lambda request: (410, {}, status(410, "Expired", "too old resource version: 1 (2)")))

    def test_410_as_event(self):
        self.gone(lambda request: {"events": [{"type": "ERROR", "object": status(410, "Expired", "too old resource version: 1 (2)")}]})

    def refusing(self, answer, seconds):
        """Every request is answered so for that long, and until it is said, while the watches have ended."""
        proxy = self.http_proxy()
        self.through(proxy.url, proxy=proxy)
        until = time.monotonic() + seconds
        refused, over = [], threading.Event()

        def rule(request):
            if not over.is_set():
                refused.append(request)
                return answer
            return None

        proxy.rule = rule
        proxy.end_watches()
        self.change()
        self.scr.wait_for(BANNER)
        time.sleep(max(0, until - time.monotonic()))
        over.set()
        lasted = time.monotonic() - until + seconds
        self.equal(90)
        return refused, lasted

    def test_429_with_retry_after(self):
        refused, _ = self.refusing((429, {"Retry-After": "4"}, status(429, "TooManyRequests", "slow down", details={"retryAfterSeconds": 4})), 6)
        for path in {r.path for r in refused}:
            # two programs watch; each comes back no sooner than it was told
            times = sorted(r.at for r in refused if r.path == path and r.is_watch)
            for n in range(2, len(times)):
                self.assertGreater(times[n] - times[n - 2], 3.5, path)

    def test_500(self):
        refused, lasted = self.refusing((500, {}, status(500, "InternalError", "etcdserver: no leader")), 6)
        self.assertLess(len(refused), 25 * lasted, "that is no back-off")

    def test_503_from_something_in_between(self):
        self.refusing((503, {"Content-Type": "text/html"}, "<html>bad gateway</html>"), 4)

    def test_watch_that_breaks_off_in_mid_object(self):
        proxy = self.http_proxy()
        self.through(proxy.url, proxy=proxy)
        said = threading.Event()
        proxy.rule = lambda request: {"events": [], "cut": True} if request.is_watch and not said.is_set() else None
        proxy.end_watches()
        self.change()
        self.scr.wait_for(BANNER)
        said.set()
        self.equal()

    def test_expired_continue_token(self):
        """The second page of 1,200 is refused with 410 and a token to go on with."""
        api = ScriptedApi(1200, streams=False)
        self.addCleanup(api.stop)
        proxy = HttpFaultProxy(api.url, None, "x")
        self.addCleanup(proxy.stop)
        refused = []

        def rule(request):
            if "continue" in request.query and request.resource == "sandboxclaims" and len(refused) < 3:
                refused.append(request)
                answer = status(410, "Expired", "The provided continue parameter is too old")
                answer["metadata"] = {"continue": request.query["continue"]}
                return (410, {}, answer)
            return None

        proxy.rule = rule
        config = self.config({}, {"server": proxy.url, "certificate-authority": None})
        scr = self.sandmux_screen("--kubeconfig", config, "-n", "default", cols=120)
        scr.wait_for("1200 sandboxes", timeout=60)
        self.assertEqual(len(refused), 3)
        scr.type("G")
        scr.wait_for("claim-01199")


if __name__ == "__main__":
    main()
