# SPDX-License-Identifier: Apache-2.0
"""Watches: order, resume, selectors, bookmarks, the streaming list, and both forms of 410."""
import base64
import json
import time

from harness.case import Case, main

from backend import POOLS, TEMPLATES, Backend, wait_for

TEMPLATE = {"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxTemplate",
            "spec": {"podTemplate": {"spec": {"containers": [{"name": "c"}]}}}}


def template(name, **labels):
    return {**TEMPLATE, "metadata": {"name": name, "labels": labels}}


def name_of(event):
    return event["object"]["metadata"]["name"]


class Watches(Case):
    """Templates: nothing but these tests writes them."""

    def setUp(self):
        self.b = Backend(self.tmp / "state", "--history-max", "60", "--bookmark-seconds", "1", warm=0)
        self.addCleanup(self.b.stop)
        self.b.call("DELETE", POOLS)
        self.b.call("DELETE", TEMPLATES)

    def watch(self, path=TEMPLATES, **query):
        w = self.b.watch(path, **query)
        self.addCleanup(w.close)
        return w

    def now(self):
        return self.b.get(TEMPLATES).json["metadata"]["resourceVersion"]

    def churn(self, n, name="churn"):
        self.b.create(TEMPLATES, template(name))
        for i in range(n):
            self.b.merge(f"{TEMPLATES}/{name}", {"metadata": {"labels": {"i": str(i)}}})

    def test_changes_in_order(self):
        w = self.watch(resourceVersion=self.now())
        rv = self.b.create(TEMPLATES, template("a")).json["metadata"]["resourceVersion"]
        self.b.merge(TEMPLATES + "/a", {"metadata": {"labels": {"x": "y"}}})
        self.b.call("DELETE", TEMPLATES + "/a")
        wait_for("three events", lambda: len(w.events) == 3)
        self.assertEqual(w.types(), ["ADDED", "MODIFIED", "DELETED"])
        versions = [int(e["object"]["metadata"]["resourceVersion"]) for e in w.events]
        self.assertEqual(versions, sorted(set(versions)))
        self.assertEqual(versions[0], int(rv))
        self.assertEqual(w.events[2]["object"]["metadata"]["labels"], {"x": "y"})
        again = self.watch(resourceVersion=rv)
        wait_for("the rest again", lambda: len(again.events) == 2)
        self.assertEqual(again.types(), ["MODIFIED", "DELETED"])

    def test_synthetic_events_without_a_version(self):
        for name in "ba":
            self.b.create(TEMPLATES, template(name))
        for query in ({}, {"resourceVersion": "0"}):
            w = self.watch(**query)
            wait_for("both", lambda: len(w.events) == 2)
            self.assertEqual([(e["type"], name_of(e)) for e in w.events], [("ADDED", "a"), ("ADDED", "b")])
            self.b.merge(TEMPLATES + "/a", {"metadata": {"labels": {"n": str(time.monotonic_ns())}}})
            wait_for("a change", lambda: w.types()[2:] == ["MODIFIED"])

    def test_selectors_turn_changes_into_added_and_deleted(self):
        w = self.watch(resourceVersion=self.now(), labelSelector="in=yes")
        self.b.create(TEMPLATES, template("a"))
        self.b.merge(TEMPLATES + "/a", {"metadata": {"labels": {"in": "yes"}}})
        self.b.merge(TEMPLATES + "/a", {"metadata": {"labels": {"more": "1"}}})
        self.b.merge(TEMPLATES + "/a", {"metadata": {"labels": {"in": "no"}}})
        self.b.merge(TEMPLATES + "/a", {"metadata": {"labels": {"more": "2"}}})
        named = self.watch(fieldSelector="metadata.name=b", resourceVersion=self.now())
        self.b.create(TEMPLATES, template("b"))
        wait_for("the one named", lambda: len(named.events) == 1)
        self.b.create(TEMPLATES, template("last", **{"in": "yes"}))  # what this watch hears of is in order, up to here
        wait_for("the last one", lambda: w.events and name_of(w.events[-1]) == "last")
        self.assertEqual(w.types(), ["ADDED", "MODIFIED", "DELETED", "ADDED"])

    def test_bookmarks_and_timeout(self):
        plain = self.watch(resourceVersion=self.now(), timeoutSeconds=3)
        w = self.watch(resourceVersion=self.now(), allowWatchBookmarks="true", timeoutSeconds=3)
        other = {"metadata": {"name": "other"}, "spec": {"replicas": 0, "sandboxTemplateRef": {"name": "none"}}}
        changed = self.b.create(POOLS, other).json["metadata"]["resourceVersion"]
        self.assertTrue(w.ended.wait(10) and plain.ended.wait(10))
        self.assertEqual(set(w.types()), {"BOOKMARK"})
        self.assertGreaterEqual(len(w.events), 2)
        last = w.events[-1]["object"]
        self.assertEqual(last["kind"], "SandboxTemplate")
        # it has heard of what is no template, and its controller may have written more since
        self.assertGreaterEqual(int(last["metadata"]["resourceVersion"]), int(changed))
        self.assertLessEqual(int(last["metadata"]["resourceVersion"]), int(self.now()))
        self.assertEqual(plain.events, [])

    def test_streaming_list(self):
        query = {"sendInitialEvents": "true", "allowWatchBookmarks": "true"}
        self.assertEqual(self.b.get(TEMPLATES, watch="true", **query).code, 422)
        empty = self.watch(resourceVersionMatch="NotOlderThan", **query)
        wait_for("the end of nothing", lambda: empty.events)
        self.assertEqual(empty.types()[0], "BOOKMARK")  # and one each second after it
        self.assertEqual(empty.events[0]["object"]["metadata"]["resourceVersion"], self.now())
        empty.close()
        self.b.create(TEMPLATES, template("a"))
        w = self.watch(resourceVersionMatch="NotOlderThan", **query)
        wait_for("the end of the list", lambda: len(w.events) >= 2)
        self.assertEqual(w.types()[:2], ["ADDED", "BOOKMARK"])
        self.assertEqual(w.events[1]["object"]["metadata"]["annotations"], {"k8s.io/initial-events-end": "true"})
        self.b.create(TEMPLATES, template("b"))
        wait_for("the watch goes on", lambda: "b" in [name_of(e) for e in w.events if e["type"] == "ADDED"])

    def test_410_as_an_event(self):
        old = self.now()
        self.churn(80)
        w = self.watch(resourceVersion=old)
        self.assertEqual(w.code, 200)
        self.assertTrue(w.ended.wait(10))
        self.assertEqual(w.types(), ["ERROR"])
        s = w.events[0]["object"]
        self.assertEqual((s["kind"], s["code"], s["reason"]), ("Status", 410, "Expired"))
        self.assertRegex(s["message"], rf"^too old resource version: {old} \(\d+\)$")

    def test_410_as_a_status(self):
        for i in range(4):
            self.b.create(TEMPLATES, template(f"t{i}"))
        page = self.b.get(TEMPLATES, limit=2).json
        self.churn(80, "t3")
        r = self.b.get(TEMPLATES, limit=2, **{"continue": page["metadata"]["continue"]})
        self.assertEqual((r.code, r.json["reason"]), (410, "Expired"))
        rest = self.b.get(TEMPLATES, limit=2, **{"continue": r.json["metadata"]["continue"]}).json
        self.assertEqual([o["metadata"]["name"] for o in rest["items"]], ["t2", "t3"])
        self.assertGreater(int(rest["metadata"]["resourceVersion"]), int(page["metadata"]["resourceVersion"]))
        r = self.b.get(TEMPLATES, resourceVersion=page["metadata"]["resourceVersion"], resourceVersionMatch="Exact")
        self.assertEqual((r.code, r.json["reason"]), (410, "Expired"))

    def test_a_version_of_the_future_waits(self):
        future = int(self.now()) + 3
        w = self.watch(resourceVersion=future)
        for name in "abcde":
            self.b.create(TEMPLATES, template(name))
        wait_for("what is after it", lambda: len(w.events) >= 2)
        self.assertTrue(all(int(e["object"]["metadata"]["resourceVersion"]) > future for e in w.events))
        self.assertEqual(self.b.get(TEMPLATES, watch="true", resourceVersion="x").code, 500)

    def test_table_watch(self):
        self.b.create(TEMPLATES, template("a"))
        connection = self.b.connect()
        connection.request("GET", TEMPLATES + "?watch=true&timeoutSeconds=1",
                           headers={**self.b.headers, "Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
        response = connection.getresponse()
        events = [json.loads(response.readline())["object"]]  # it looks
        self.b.create(TEMPLATES, template("b"))
        events += [json.loads(line)["object"] for line in response]
        connection.close()
        self.assertEqual([e["kind"] for e in events], ["Table", "Table"])
        self.assertTrue(events[0]["columnDefinitions"])
        self.assertIsNone(events[1]["columnDefinitions"])
        self.assertEqual([e["rows"][0]["cells"][0] for e in events], ["a", "b"])

    def test_after_a_restart_old_versions_are_expired(self):
        self.b.create(TEMPLATES, template("a"))
        old = int(self.now()) - 1
        self.b.stop()
        self.b.start()
        w = self.watch(resourceVersion=old)
        self.assertTrue(w.ended.wait(10))
        self.assertEqual(w.events[0]["object"]["code"], 410)
        self.assertGreater(int(self.b.create(TEMPLATES, template("b")).json["metadata"]["resourceVersion"]), old)

    def test_a_client_that_does_not_read(self):
        """It costs one chunk, and gets 410 when it comes back too late."""
        lazy = self.b.connect()
        lazy.request("GET", f"{TEMPLATES}?watch=true&resourceVersion={self.now()}", headers=self.b.headers)
        big = {"metadata": {"annotations": {"a": "x" * 200000}}}
        self.b.create(TEMPLATES, template("big"))
        for i in range(150):
            big["metadata"]["labels"] = {"i": str(i)}
            self.b.merge(TEMPLATES + "/big", big)
        self.assertEqual(self.b.get(TEMPLATES).code, 200)
        kinds = [json.loads(line)["type"] for line in lazy.getresponse()]
        lazy.close()
        self.assertEqual(kinds[-1], "ERROR")
        self.assertLess(len(kinds), 150)


main()
