# SPDX-License-Identifier: Apache-2.0
"""What this user may not read or do: greyed where it shows, with the rule that is missing, and nothing else of it worse."""
import re

from harness import Case, main
from harness.scripted_api import ScriptedApi, claim, conditions, sandbox, uid

RESOURCES = ("sandboxclaims", "sandboxes", "pods", "events", "sandboxtemplates", "sandboxwarmpools")


def pod(n: int, restarts: int = 3) -> dict:
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": f"pool-{n:05d}", "namespace": "default", "uid": uid(3, n), "resourceVersion": "1",
                         "creationTimestamp": "2026-01-02T03:04:05Z",
                         "ownerReferences": [{"apiVersion": "agents.x-k8s.io/v1beta1", "kind": "Sandbox", "name": f"pool-{n:05d}",
                                              "uid": uid(2, n), "controller": True}]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
                       "containerStatuses": [{"name": "main", "restartCount": restarts}]}}


def pool(name: str) -> dict:
    return {"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxWarmPool",
            "metadata": {"name": name, "namespace": "default", "uid": uid(4, 1), "resourceVersion": "1"},
            "spec": {"replicas": 2, "sandboxTemplateRef": {"name": "template"}}, "status": {"readyReplicas": 1}}


class Rights(Case):
    def api(self, *forbidden, count=3):
        api = ScriptedApi(count)
        self.addCleanup(api.stop)
        api.objects["pods"] = [pod(n) for n in range(count)]
        api.objects["sandboxwarmpools"] = [pool("pool")]
        for what in forbidden:
            resource, _, verbs = what.partition(":")
            api.forbid(resource, *filter(None, verbs.split(",")))
        return api

    def open(self, api, *args, rows=24, cols=140, wait="3 sandboxes"):
        scr = self.sandmux_screen("--kubeconfig", api.kubeconfig(self.tmp / "kubeconfig"), *args, rows=rows, cols=cols)
        scr.api = api
        scr.wait_for(wait)
        return scr

    def row_of(self, scr, name):
        return next(line for line in scr.lines() if name in line)

    def is_greyed(self, scr, key, hint):
        """In the hints: in parentheses, and in another colour than the others."""
        line = scr.row(scr.rows - 1)
        at = line.find(f"({key} {hint})")
        return at >= 0 and scr.cell(scr.rows - 1, at + 2 + len(key)).fg != scr.cell(scr.rows - 1, line.index("help")).fg

    def refuses(self, scr, keys, *words):
        """A dialog with the reason, at once: nothing is asked and nothing is sent."""
        before = self.writes(scr)
        scr.key(*keys)
        scr.wait_for("kube.forbidden")
        text = " ".join(re.sub(r"[│┌┐└┘─]", " ", scr.text()).split())
        for word in words:
            self.assertIn(word, text)
        scr.key("Enter")
        scr.wait_gone("kube.forbidden")
        self.assertEqual(self.writes(scr), before)

    @staticmethod
    def writes(scr):
        return [r for r in scr.api.requests if not r.startswith("/") and "selfsubject" not in r]

    # ---- reading
    def test_each_alone_is_said_once_and_harms_nothing_else(self):
        for resource in RESOURCES:
            with self.subTest(resource=resource):
                scr = self.open(self.api(resource))
                scr.wait_for(re.compile(f"not allowed: (list|watch) {resource} in namespace default"))
                group = {"pods": "", "events": "", "sandboxes": ".agents.x-k8s.io"}.get(resource, ".extensions.agents.x-k8s.io")
                scr.wait_for(re.compile(rf"a Role needs: get, list, watch on {resource}{re.escape(group)}(?!\S)"))
                name = "pool-00001" if resource == "sandboxclaims" else "claim-00001"
                self.assertRegex(self.row_of(scr, name), r"Ready +")
                self.assertIn("3 Ready", scr.text())
                self.assertEqual(scr.text().count("not allowed"), 1)
                for word in ("retrying", "forbidden", "does not exist", "Pending", "! "):
                    self.assertNotIn(word, scr.text())
                self.assertNotRegex(scr.text(), r"data \S+ old")  # what is read is as good as ever
                scr.stop()

    def test_facts_of_pods(self):
        scr = self.open(self.api())
        scr.wait_for(re.compile(r"claim-00001 +\S Ready ↻3 .*restarted 3 times"))
        scr.stop()
        scr = self.open(self.api("pods"), rows=60)
        scr.wait_for(re.compile(r"claim-00001 +\S Ready +pool-00001 (?!.*↻)"))
        scr.type("d")
        scr.wait_for(re.compile(r"restarts +– pods may not be read here"))
        scr.wait_for("cannot be read: pods is forbidden")
        scr.wait_for(re.compile("[0-9] conditions fine"))

    def test_events(self):
        scr = self.open(self.api("events"), rows=60)
        scr.type("d")
        scr.wait_for(re.compile(r"▾ events *\n +– events may not be read here: events is forbidden: User \"you\" cannot list"))

    def test_pools_are_typed(self):
        scr = self.open(self.api("sandboxwarmpools"))
        scr.wait_for("not allowed")
        scr.type("n")
        scr.wait_for("The warm pools may not be listed here: type the name of one.")
        self.assertNotIn("No warm pool is known", scr.text())
        scr.key("Escape")
        scr.type(":detail\r")
        scr.wait_for(re.compile(r"template +– sandboxwarmpools may not be read here"))

    def test_sandboxes_are_known_by_their_claims(self):
        api = self.api("sandboxes")
        api.objects["sandboxclaims"][1] = claim(1, 1, ready=False)
        scr = self.open(api)
        scr.wait_for(re.compile(r"claim-00000 +\S Ready +pool-00000 +– "))
        scr.wait_for(re.compile(r"claim-00001 +\S Creating"))
        self.refuses(scr, ["p"], "sandboxes may not be listed here")

    def test_claims_out_of_sight(self):
        scr = self.open(self.api("sandboxclaims"))
        scr.wait_for(re.compile(r"pool-00001 +\S Ready"))
        scr.wait_for(lambda s: self.is_greyed(s, "n", "new"))
        self.assertTrue(self.is_greyed(scr, "ctrl-d", "delete"))
        self.refuses(scr, ["n"], "sandboxclaims may not be listed here")
        self.refuses(scr, ["e"], "belongs to a SandboxClaim")
        self.refuses(scr, ["C-d"], "belongs to a SandboxClaim")
        scr.key("p")  # the Sandbox itself is in sight
        scr.wait_for("Suspend 1 sandbox?")

    def test_nothing_at_all(self):
        scr = self.open(self.api("sandboxclaims", "sandboxes"), wait="not allowed")
        scr.wait_for("Neither sandboxclaims nor sandboxes may be listed here.")
        self.assertNotIn("No sandboxes in namespace", scr.text())

    def test_taken_away_and_given_back(self):
        api = self.api()
        scr = self.open(api)
        scr.wait_for(re.compile(r"claim-00001 +\S Ready ↻3 "))
        self.assertNotIn("not allowed", scr.text())
        api.forbid("pods")
        scr.wait_for("not allowed: list pods in namespace default")
        scr.wait_for(re.compile(r"claim-00001 +\S Ready (?! *↻)"))
        self.assertNotIn("does not exist", scr.text())
        asked = len([r for r in api.requests if "/pods" in r])
        api.emit("sandboxes", "MODIFIED", {**sandbox(1, 0), "status": {"conditions": [
            *conditions(False), {"type": "Finished", "status": "True", "reason": "PodSucceeded", "observedGeneration": 1}]}})
        scr.wait_for(re.compile(r"claim-00001 +\S Finished"))  # no pod in sight is no pod on its way
        scr.wait_idle()
        self.assertEqual(len([r for r in api.requests if "/pods" in r]), asked)  # not asked again and again
        scr.key("C-r")
        scr.wait_for(lambda s: len([r for r in api.requests if "/pods" in r]) > asked)
        scr.wait_for(re.compile("not allowed: (list|watch) pods"))
        api.forbidden.clear()
        scr.key("C-r")
        scr.wait_gone("not allowed")
        scr.wait_for(re.compile(r"claim-00000 +\S Ready ↻3 "))

    def test_what_may_be_listed_but_not_watched(self):
        """All is shown and usable, as old as the last list; the head says so."""
        api = self.api("sandboxclaims:watch", "sandboxes:watch", "pods:watch")
        scr = self.open(api, "--set", "poll-interval=1s")
        scr.wait_for("not allowed: watch pods, sandboxes, sandboxclaims in namespace default")
        scr.wait_for("what may not be watched is listed every 1s; a Role needs: get, list, watch on pods, sandboxes.agents")
        scr.wait_for(re.compile(r"claim-00001 +\S Ready ↻3 "))
        self.assertFalse(self.is_greyed(scr, "n", "new"))
        self.assertFalse(self.is_greyed(scr, "ctrl-d", "delete"))
        self.assertNotIn("! ", scr.text())
        del api.objects["sandboxclaims"][2], api.objects["sandboxes"][2]
        api.objects["sandboxclaims"][1], api.objects["sandboxes"][1] = claim(1, 2, ready=False), sandbox(1, 2, ready=False)
        api.pages.clear()
        scr.wait_for(re.compile(r"claim-00002 +† Deleted"))
        scr.wait_for(re.compile(r"claim-00001 +\S Degraded"))
        api.forbidden.clear()
        scr.wait_gone("not allowed")
        api.emit("sandboxclaims", "DELETED", claim(0, 3))
        scr.wait_for(re.compile(r"claim-00000 +† Deleted"))

    def test_listed_again_for_a_script(self):
        api = self.api("sandboxclaims:watch", "sandboxes:watch")
        scr = self.sandmux_screen("--kubeconfig", api.kubeconfig(self.tmp / "kubeconfig"), "--set", "poll-interval=1s", "ls", "--watch",
                                  rows=30, cols=200)
        scr.wait_for(re.compile("claim-00001 +Ready"))
        note = "not allowed: watch sandboxes, sandboxclaims in namespace default; what may not be watched is listed every 1s; a Role needs"
        scr.wait_for(note)
        del api.objects["sandboxclaims"][2], api.objects["sandboxes"][2]
        api.pages.clear()
        scr.wait_for(re.compile(r"^claim-00002 +Deleted", re.M))
        self.assertEqual(scr.text().count(note), 1)

    def test_other_trouble_has_its_own_line(self):
        api = self.api("events")
        scr = self.open(api, cols=200)
        scr.wait_for(re.compile("not allowed: (list|watch) events"))
        api.stop()
        scr.wait_for("API server refuses connections")
        self.assertRegex(scr.text(), "not allowed: (list|watch) events")

    def test_sizes(self):
        masks = [("not allowed: (list|watch)", "not allowed: list"), (r"(?m) +\d+d(?= |$)", "  000d")]
        for rows, cols in ((24, 80), (40, 120), (10, 40)):
            scr = self.open(self.api("pods", "events", "sandboxwarmpools", "sandboxclaims:delete"), rows=rows, cols=cols)
            scr.wait_for(re.compile("not allowed: (list|watch) pods, events, sandbox"))
            if cols > 80:
                scr.wait_for("(ctrl-d delete)")
            scr.golden(f"tui/rights-{cols}x{rows}", masks)
            scr.stop()

    # ---- doing
    def test_what_may_not_be_done_is_greyed_and_says_why(self):
        scr = self.open(self.api("sandboxclaims:create,delete,patch", "sandboxes:patch", "pods/portforward:create"))
        scr.wait_for(lambda s: sum("selfsubject" in r for r in s.api.requests) == 7)
        for key, hint in (("s", "shell"), ("f", "files"), ("n", "new"), ("ctrl-d", "delete")):
            scr.wait_for(lambda s: self.is_greyed(s, key, hint))
        self.assertIn(" enter detail", scr.row(scr.rows - 1))
        scr.type(":suspend")
        scr.wait_for("you may not patch sandboxes")
        scr.key("Escape")
        scr.wait_gone(":suspend")
        self.refuses(scr, ["C-d"], "you may not delete sandboxclaims in namespace default",
                     "a Role needs: delete on sandboxclaims.extensions.agents.x-k8s.io")
        self.refuses(scr, ["n"], "you may not create sandboxclaims")
        self.refuses(scr, ["e"], "you may not patch sandboxclaims")
        for key in "pr":
            self.refuses(scr, [key], "you may not patch sandboxes", "patch on sandboxes.agents.x-k8s.io")
        for key in "sf":
            scr.key(key)
            scr.wait_for("portfwd.denied")
            scr.wait_for("you may not create pods/portforward")
            scr.key("Enter")
            scr.wait_gone("portfwd.denied")
        self.assertFalse([r for r in scr.api.requests if "portforward" in r])

    def test_help_and_palette_say_why(self):
        scr = self.open(self.api("sandboxclaims:delete"))
        scr.wait_for("(ctrl-d delete)")
        scr.type(":del")
        scr.wait_for(re.compile(r"delete .*you may not delete sandboxclaims in namespace default"))
        scr.key("Escape")
        scr.type("?")
        scr.type("/asks\r")
        scr.wait_for(re.compile(r"ctrl-d +delete it \(asks\) +you may not"))
        scr.key("Escape")
        scr.type("/suspend\r")
        scr.wait_for(re.compile(r"p +suspend it"))
        self.assertNotIn("you may not", scr.text())

    def test_without_reviews_the_first_refusal_teaches(self):
        api = self.api("selfsubjectaccessreviews:create", "sandboxclaims:delete")
        scr = self.open(api)
        scr.wait_for(lambda s: any("selfsubjectaccessreviews" in r for r in s.api.requests))
        scr.wait_idle()
        self.assertNotIn("(", scr.row(scr.rows - 1))
        scr.key("C-d")
        scr.wait_for("Delete 1 sandbox?")
        scr.type("d")
        scr.wait_for("Not deleted: claim-00000")
        self.answer(scr, "OK")
        scr.wait_for(lambda s: self.is_greyed(s, "ctrl-d", "delete"))
        self.assertNotIn("(n new)", scr.text())
        self.refuses(scr, ["C-d"], "you may not delete sandboxclaims")
        api.forbidden.clear()
        scr.key("C-r")
        scr.wait_for(lambda s: " ctrl-d delete" in s.row(s.rows - 1))
        scr.key("C-d")
        scr.wait_for("Delete 1 sandbox?")
        scr.key("Escape")
        scr.wait_gone("Delete 1 sandbox?")
        api.forbid("sandboxclaims", "delete")  # reviews work by now: they are asked again
        scr.key("C-r")
        scr.wait_for(lambda s: self.is_greyed(s, "ctrl-d", "delete"))

    def test_a_refusal_that_is_no_missing_right_teaches_nothing(self):
        api = self.api()
        original = api.server.RequestHandlerClass.change

        def change(handler):
            handler.reply(403, b'{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,'
                               b'"message":"admission webhook \\"policy\\" denied the request: not on Fridays"}')
        api.server.RequestHandlerClass.change = change
        scr = self.open(api)
        scr.key("C-d")
        scr.wait_for("Delete 1 sandbox?")
        scr.type("d")
        scr.wait_for("not on Fridays")
        self.answer(scr, "OK")
        scr.wait_gone("not on Fridays")
        scr.wait_for(" ctrl-d delete")
        api.server.RequestHandlerClass.change = original

    def test_rights_are_those_of_the_row_in_all_namespaces(self):
        api = self.api()
        other = claim(7, 1)
        other["metadata"]["namespace"] = "other"
        box = sandbox(7, 1)
        box["metadata"]["namespace"] = "other"
        api.objects["sandboxclaims"].append(other)
        api.objects["sandboxes"].append(box)
        api.forbidden_in = {"": {("delete", "sandboxclaims")}, "other": {("delete", "sandboxclaims")}}
        scr = self.open(api, "-A", wait="4 sandboxes")
        scr.wait_for(" ctrl-d delete")
        scr.key("G")
        scr.wait_for("(ctrl-d delete)")
        scr.key("g")
        scr.wait_for(" ctrl-d delete")

    def test_headless_verbs(self):
        """They ask for no review, and list what may be seen."""
        for hidden, shown in ((), "claim-00001 +Ready"), (("pods", "events"), "claim-00001 +Ready"), (("sandboxes",), "claim-00001 +Ready"), \
                (("sandboxclaims",), "pool-00001 +Ready"), (("sandboxclaims", "sandboxes"), None):
            with self.subTest(hidden=hidden):
                api = self.api(*hidden)
                r = self.sandmux("--kubeconfig", api.kubeconfig(self.tmp / "kubeconfig"), "ls", "-o", "wide")
                self.assertEqual(r.code, 0 if shown else 4, r.err)
                self.assertRegex(r.out, shown or "^$")
                self.assertEqual("listed: " in r.err, len(hidden) == 1, r.err)
                self.assertFalse([r for r in api.requests if "selfsubject" in r])


if __name__ == "__main__":
    main()
