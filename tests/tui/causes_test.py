#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the program says about every cause of tests/cases/causes.json, all in one cluster at once: the sentence, since
when, and the next step, in ls, describe, and on a failed create. (tests/unit/engine/fleet/causes_test.c reads the same.)"""
import json
import re
import time

from harness import Case, main
from harness.sandmux import REPO
from harness.scripted_api import ScriptedApi, uid

CAUSES = json.loads((REPO / "tests/cases/causes.json").read_text())
CLAIM, SANDBOX, POD, POOL, VOLUME, EVENT = range(1, 7)
KINDS = {"claim": ("SandboxClaim", CLAIM), "sandbox": ("Sandbox", SANDBOX), "pod": ("Pod", POD), "pool": ("SandboxWarmPool", POOL),
         "pvc": ("PersistentVolumeClaim", VOLUME)}


def thing(kind: int, n: int, name: str, said=None, **metadata) -> dict:
    said = said or {}
    kept = {k: said[k] for k in ("deletionTimestamp", "finalizers", "annotations") if k in said}
    return {"metadata": {"name": name, "namespace": "default", "uid": uid(kind, n), "resourceVersion": "1", "generation": 1,
                         "creationTimestamp": "2026-01-02T03:04:05Z", **metadata, **kept}}


def objects(causes) -> dict:
    """Them as the API has them."""
    all_ = {"sandboxclaims": [], "sandboxes": [], "pods": [], "events": [], "sandboxtemplates": [thing(POOL, 1, "tool")],
            "sandboxwarmpools": [{**thing(POOL, 0, "tools"), "spec": {"sandboxTemplateRef": {"name": "tool"}}}]}
    for n, cause in enumerate(causes, 11):
        name, claim = cause["name"], cause.get("claim", {})
        box, pod, pool = cause.get("sandbox"), cause.get("pod"), cause.get("pool")
        status = {"conditions": claim.get("conditions", (box or {}).get("conditions"))}
        if box:
            status["sandbox"] = {"name": name}
            all_["sandboxes"].append({**thing(SANDBOX, n, name, labels={"agents.x-k8s.io/claim-uid": uid(CLAIM, n)},
                                              annotations={"agents.x-k8s.io/sandbox-template-ref": "tool"}),
                                      "spec": {"operatingMode": box.get("operatingMode", "Running")},
                                      "status": {"conditions": box["conditions"]}})
        all_["sandboxclaims"].append({**thing(CLAIM, n, name, claim), "spec": {"warmPoolRef": {"name": claim.get("pool", "tools")}},
                                      "status": status})
        if pod:
            owner = {"kind": "Sandbox", "name": name, "uid": uid(SANDBOX, n), "controller": True}
            all_["pods"].append({**thing(POD, n, name, pod, ownerReferences=[owner]), "spec": pod["spec"], "status": pod["status"]})
        if pool:
            all_["sandboxwarmpools"].append({**thing(POOL, n, pool["name"]), "spec": {"sandboxTemplateRef": {"name": pool["template"]}}})
        for i, event in enumerate(cause.get("events", [])):
            about, _, volume = event["about"].partition(":")
            kind, number = KINDS[about]
            all_["events"].append({**thing(EVENT, n * 100 + i, f"{name}.{i}"), **{k: event[k] for k in ("type", "reason", "message", "count")},
                                   "lastTimestamp": event["at"],
                                   "involvedObject": {"kind": kind, "namespace": "default", "name": volume or name, "uid": uid(number, n)}})
    return all_


class Causes(Case):
    def setUp(self):
        self.api = ScriptedApi()
        self.addCleanup(self.api.stop)
        self.api.objects = objects(CAUSES)
        self.api.kubeconfig(self.tmp / "kubeconfig")
        self.at = ("--kubeconfig", str(self.tmp / "kubeconfig"))

    def test_ls_says_each(self):
        """All of them in one list: the sentence, since when, the next step."""
        items = json.loads(self.sandmux(*self.at, "ls", "-o", "json", check=0).out)["items"]
        said = {i["claim"]: {k: i[k] for k in ("state", "why", "whySince", "next")} for i in items}
        wanted = {c["name"]: {"state": c["state"], "why": c["why"], "whySince": c["since"], "next": c["next"]} for c in CAUSES}
        self.assertGreaterEqual(len(wanted), 25)
        for name in wanted:
            self.assertEqual(wanted[name], said[name], name)

    def test_the_dashboard_says_the_same(self):
        """In the row as far as there is room, and whole on the page: why, since when, what next, the condition, the story."""
        for rows, cols in ((35, 120), (24, 80), (10, 40)):
            scr = self.sandmux_screen(*self.at, rows=rows, cols=cols)
            scr.wait_for("sandboxes")
            for name in ("crash-loop", "unschedulable", "finalizer"):
                cause = next(c for c in CAUSES if c["name"] == name)
                scr.type("/").key("C-u").type(f"name:{name}\r")
                scr.wait_for(re.compile(rf"{name[:6]}.* {cause['state']}" if cols > 40 else name[:6]))
                scr.wait_idle()
                scr.type("d")
                scr.wait_for(re.compile(rf"\S {name}.* {cause['state']} since \d"))
                words = " ".join(scr.text().replace("│", " ").split())
                seen = words.replace("- ", "-")
                self.assertIn(cause["why"][:40].replace("- ", "-"), seen)
                if cols > 40:
                    self.assertIn("→ " + cause["next"][:60], seen)
                    scr.wait_for("conditions")
                scr.type("q")
                scr.wait_for("sandboxes")
            scr.stop()

    def test_errors_say_it_too(self):
        """Of a sandbox that is not ready: why, and what next, behind what could not be done."""
        r = self.sandmux(*self.at, "--set", "resolve-timeout=1s", "wait", "pool-stuck", "--timeout", "2s", "--for", "ready", timeout=60)
        self.assertEqual(r.code, 5)
        self.assertIn("WarmPoolNotProgressing", r.err)
        self.assertIn("look at the pool's own sandboxes", r.err)

    def test_a_wait_is_no_longer_than_asked_for(self):
        """Whatever a name may take to be looked up, and for a claim that has nothing behind it as well."""
        for args in (("wait", "pool-stuck", "--timeout", "1s"), ("wait", "pool-stuck", "--for", "suspended", "--timeout", "1s"),
                     ("--set", "ready-timeout=1s", "run", "pool-stuck", "--", "true"),
                     ("--set", "resolve-timeout=1s", "--set", "ready-timeout=2s", "run", "pool-stuck", "--", "true"),
                     ("run", "pool-stuck", "--timeout", "1s", "--", "true")):
            began = time.monotonic()
            r = self.sandmux(*self.at, *args, timeout=60)
            self.assertNotEqual(r.code, 0, args)
            self.assertLess(time.monotonic() - began, 15, args)
            self.assertIn("pool-stuck", r.err)

    def test_describe_says_the_same(self):
        for name in ("unschedulable", "oom-loop", "image-denied"):
            cause = next(c for c in CAUSES if c["name"] == name)
            out = self.sandmux(*self.at, "describe", name, check=0).out
            self.assertRegex(out, r"(?m)^State +" + cause["state"])
            self.assertRegex(out, r"(?m)^Next +" + cause["next"].replace("(", r"\(").replace(")", r"\)"))
            why = next(line for line in out.splitlines() if line.startswith("Why"))
            self.assertIn(cause["why"], why)
            self.assertRegex(why, r" \(for \d+[a-z]")  # the age of what it stands on
        self.assertRegex(self.sandmux(*self.at, "describe", "oom-once", check=0).out,
                         r"(?m)^Story\n  2026-01-02T03:04:05Z  \+ created cold, of pool tools\n"
                         r"  2026-03-01T10:00:00Z  ● ready\n"
                         r"  2026-03-01T10:05:00Z  ↻ container main restarted: OOMKilled, exit code 137 \(1×\); its processes are lost$")


if __name__ == "__main__":
    main()
