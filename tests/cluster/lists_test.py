# SPDX-License-Identifier: Apache-2.0
"""How lists come from a real API server: one streaming request for each collection; pages and a watch where the server
does not offer that. Either way what sandmux holds is what a fresh list says, and changes follow."""
import json
import os
import re
import signal
import tempfile
from pathlib import Path

from cluster_case import ClusterCase, wait_until
from harness import main
from harness.cluster import RealCluster
from harness.faults import FaultProxy, HttpFaultProxy

COLLECTIONS = {"sandboxclaims", "sandboxes", "sandboxwarmpools", "sandboxtemplates", "pods", "events"}


class Lists(ClusterCase):
    NODE = False
    CLAIMS = 20

    def setUp(self):
        super().setUp()
        self.pools()
        self.kubectl("create", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxClaim", "metadata": {"name": f"claim-{n:04}", "namespace": self.ns},
             "spec": {"warmPoolRef": {"name": "no-such-pool"}}} for n in range(self.CLAIMS)]}))
        self.proxy = HttpFaultProxy(self.cluster.api, self.cluster.ca, self.cluster.token)
        self.addCleanup(self.proxy.stop)

    def opened(self):
        """The dashboard over the proxy, when it has every list; what it asked until then, by collection."""
        config = self.config({}, {"server": self.proxy.url, "certificate-authority": None})
        scr = self.dash(config=config)
        scr.wait_for(f"{self.CLAIMS} sandboxes", timeout=60)
        wait_until(lambda: len(self.proxy.upstream) == len(COLLECTIONS), "six watches")
        scr.wait_for(lambda s: not re.search(r"! .*(retrying|deaf|relisting)", s.text()))
        asked = {}
        for r in list(self.proxy.requests):
            if r.resource in COLLECTIONS:
                asked.setdefault(r.resource, []).append(r)
        self.assertEqual(set(asked), COLLECTIONS)
        return scr, asked

    def follows(self, scr):
        """What changes afterwards comes by the same six watches."""
        before = len(self.proxy.requests)
        self.kubectl("-n", self.ns, "delete", "sandboxclaim", "claim-0001")
        self.claim("later", "loopback")
        scr.type("/later\r")
        scr.wait_for(re.compile(r"\blater\b"))
        scr.key("Escape")
        scr.wait_for(f"{self.CLAIMS} sandboxes")
        listed = [r for r in self.proxy.requests[before:] if r.resource in COLLECTIONS]
        self.assertEqual(listed, [])

    def same(self):
        """`ls` over the proxy and kubectl agree."""
        config = self.config({}, {"server": self.proxy.url, "certificate-authority": None})
        rows = json.loads(self.sm("ls", "-o", "json", config=config, check=0, timeout=60).out)
        want = {o["metadata"]["uid"]: o["metadata"]["name"] for o in self.cluster.get("sandboxclaims", "-n", self.ns)["items"]}
        self.assertEqual({r["uid"]: r["claim"] for r in rows["items"] if r["claim"]}, want)


class Streamed(Lists):
    def test_one_request_for_each_collection(self):
        scr, asked = self.opened()
        for resource, requests in asked.items():
            self.assertEqual([(r.query.get("sendInitialEvents"), "resourceVersion" in r.query) for r in requests], [("true", False)], resource)
        self.follows(scr)
        self.same()

    def test_pages_take_over_on_a_slow_line(self):
        """4 KB a second: it gives up the stream for compressed pages on a new connection, and says nothing of it."""
        slow = FaultProxy(self.cluster.api)
        self.addCleanup(slow.stop)
        slow.drip(4000)
        scr = self.dash(config=self.config({"token": self.cluster.token}, {"server": slow.url}))
        scr.wait_for("claim-00", timeout=60)
        scr.wait_for(f"{self.CLAIMS} sandboxes", timeout=60)
        # the stream's connection was given up for another one; when, is the program's to choose
        self.assertGreater(slow.connections, 1)
        scr.wait_gone("asking http", timeout=60)  # every list is in
        # that its answers take long is true, on a machine that has much else to do; anything else is not
        self.assertNotRegex(scr.text(), re.compile(r"! .*(retrying|deaf|relisting)|^(?! *API server is slow: ).*rows are as of", re.M))
        slow.drip(0)
        self.kubectl("-n", self.ns, "delete", "sandboxclaim", "claim-0001")
        scr.wait_for(f"{self.CLAIMS - 1} sandboxes")

    def test_one_object_is_a_list_of_one(self):
        config = self.config({}, {"server": self.proxy.url, "certificate-authority": None})
        self.sm("get", "claim-0007", config=config, check=0)
        asked = [r for r in self.proxy.requests if r.resource == "sandboxclaims"]
        self.assertTrue(asked)
        self.assertEqual([r for r in asked if "sendInitialEvents" in r.query], [])
        self.assertEqual({r.query.get("fieldSelector") for r in asked}, {"metadata.name=claim-0007"})


class NotOffered(Lists):
    CLAIMS = 620  # more than a page

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not cls.why_not:
            folder = tempfile.TemporaryDirectory(prefix="sandmux-lists-", ignore_cleanup_errors=True)
            cls.addClassCleanup(folder.cleanup)
            cls.cluster = RealCluster(directory=Path(folder.name) / "cluster", flags=["--apiserver-flag=--feature-gates=WatchList=false"])
            cls.addClassCleanup(cls.cluster.stop)
            os.kill(cls.cluster.pid("agent-sandbox-controller"), signal.SIGKILL)  # nobody shall work on so many claims

    def test_pages_and_a_watch(self):
        scr, asked = self.opened()
        for resource, requests in asked.items():
            kinds = ["stream" if "sendInitialEvents" in r.query else "watch" if r.is_watch else "page" for r in requests]
            self.assertEqual(kinds, ["stream", "page", *(["page"] if resource == "sandboxclaims" else []), "watch"], resource)
        self.follows(scr)
        before = len(self.proxy.requests)
        scr.key("C-r")  # list everything again: what the server said is remembered
        wait_until(lambda: sum(r.resource in COLLECTIONS and r.is_watch for r in self.proxy.requests[before:]) >= len(COLLECTIONS), "six watches again")
        again = [r for r in self.proxy.requests[before:] if r.resource in COLLECTIONS]
        self.assertEqual([r for r in again if "sendInitialEvents" in r.query], [])
        self.assertEqual({r.resource for r in again if not r.is_watch}, COLLECTIONS)
        self.same()


del Lists  # only its children are tests

if __name__ == "__main__":
    main()
