# SPDX-License-Identifier: Apache-2.0
"""What sandboxes use, on a scripted API server: shown where it is measured, and where the metrics API hangs, is missing,
forbidden, broken or sends garbage nothing else is the worse for it, and the reason can be had."""
import json
import re
import subprocess
import time

from harness import Case, main
from harness.sandmux import BIN, home_env
from harness.scripted_api import ScriptedApi


def usage(name: str, turn: int) -> dict:
    n = int(name.rsplit("-", 1)[1])
    return {"cpu": f"{(n + 1) * 100000000}n", "memory": f"{(n + 1) * 10}Mi"}


WRONG = {"hang": "waiting for metrics.k8s.io", None: "serves no metrics.k8s.io", "broken": "no endpoints for metrics-server",
         "garbage": "are not known", "huge": "are not known"}


class Usage(Case):
    def bed(self, count: int, metrics) -> ScriptedApi:
        api = ScriptedApi(count)
        self.addCleanup(api.stop)
        api.metrics = metrics
        self.options = ("--kubeconfig", api.kubeconfig(self.tmp / "kubeconfig"), "--set", "usage-interval=1s")
        return api

    def asked(self, api) -> list:
        return [r for r in api.requests if r.startswith("/apis/metrics.k8s.io/")]

    def until(self, condition, what: str):
        deadline = time.monotonic() + 20
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.02)

    def usage_says(self, scr, said: str):
        """A note that goes by itself: asked for again until it is that one."""
        deadline = time.monotonic() + 20
        while True:
            scr.type(":usage\r")
            try:
                scr.wait_for(said, timeout=1)
                return
            except AssertionError:
                self.assertLess(time.monotonic(), deadline, scr.dump(said))

    def top(self, *args):
        return self.sandmux(*self.options, "top", *args)

    def test_rows_and_keys_do_not_wait_for_a_metrics_api_that_is_wrong(self):
        for metrics, said in WRONG.items():
            with self.subTest(metrics=metrics):
                api = self.bed(3, metrics)
                scr = self.sandmux_screen(*self.options, rows=24, cols=120)
                scr.wait_for("claim-00002")
                self.until(lambda: self.asked(api), "it was never asked")
                scr.key("Down")
                scr.wait_for("3 sandboxes")
                self.usage_says(scr, said)
                asked = len(self.asked(api))
                for resource in "sandboxclaims", "sandboxes":
                    api.emit(resource, "DELETED", api.objects[resource][2])
                scr.wait_for("2 sandboxes")
                time.sleep(1.5)  # longer than the interval
                self.assertEqual(asked, len(self.asked(api)), "asked again at once")
                scr.stop()

    def names(self, scr) -> list:
        return re.findall(r"claim-0000\d(?= .*Ready)", "\n".join(line for line in scr.lines() if "│" not in line))

    def test_the_list_shows_it_and_keeps_its_order_by_it(self):
        first = {"is": 2}

        def moving(name: str, turn: int) -> dict:
            n = int(name.rsplit("-", 1)[1])
            return {"cpu": f"{900 if n == first['is'] else 100 + n}m", "memory": "5Mi"}

        api = self.bed(3, moving)
        scr = self.sandmux_screen(*self.options, rows=24, cols=120)
        scr.wait_for(lambda s: "900m" in s.text() and "101m" in s.text() and "5.0Mi" in s.text())
        self.assertEqual(self.names(scr), [f"claim-0000{n}" for n in (0, 1, 2)])
        scr.type(":sort cpu\r")
        scr.wait_for(lambda s: self.names(s) == [f"claim-0000{n}" for n in (2, 1, 0)])
        first["is"] = 0
        api.measured.clear()
        scr.wait_for(lambda s: self.names(s) == [f"claim-0000{n}" for n in (0, 2, 1)])

    def test_a_forbidden_metrics_api_is_named(self):
        api = self.bed(1, usage)
        api.forbidden.add(("list", "podmetrics"))
        scr = self.sandmux_screen(*self.options, rows=24, cols=120)
        scr.wait_for("claim-00000")
        self.until(lambda: self.asked(api), "it was never asked")
        self.usage_says(scr, "pods.metrics.k8s.io is forbidden")
        r = self.top()
        self.assertEqual((r.code, r.out), (4, ""), r.err)
        self.assertIn("pods.metrics.k8s.io is forbidden", r.err)

    def test_top_shows_the_most_first(self):
        self.bed(4, usage)
        r = self.top()
        self.assertEqual(r.code, 0, r.err)
        lines = [line.split() for line in r.out.splitlines()]
        self.assertEqual(lines[0][:3], ["NAME", "STATE", "CPU(cores)"])
        self.assertEqual([line[0] for line in lines[1:]], [f"claim-{n:05d}" for n in (3, 2, 1, 0)])
        self.assertEqual(lines[1][2:6], ["400m", "-", "40Mi", "-"])
        items = json.loads(self.top("-o", "json").out)["items"]
        self.assertEqual([i["cpuMillis"] for i in items], [400, 300, 200, 100])
        self.assertEqual((items[0]["memoryBytes"], items[0]["cpuLimitMillis"], items[0]["diskBytes"]), (40 << 20, None, None))
        items = json.loads(self.top("--sort-by", "memoryBytes", "-o", "json").out)["items"]
        self.assertEqual([i["cpuMillis"] for i in items], [100, 200, 300, 400])

    def test_top_of_names_asks_for_these_alone(self):
        api = self.bed(4, usage)
        r = self.top("claim-00001", "claim-00002", "-o", "json")
        self.assertEqual([i["cpuMillis"] for i in json.loads(r.out)["items"]], [300, 200], r.err)
        self.assertEqual(sorted(q.rsplit("/", 1)[1] for q in self.asked(api)), ["pool-00001", "pool-00002"])
        r = self.top("claim-00001", "nobody")
        self.assertEqual(r.code, 3)
        self.assertIn("claim.not_found", r.err)

    def test_top_without_a_metrics_api_says_so(self):
        self.bed(2, None)
        r = self.top()
        self.assertNotEqual(r.code, 0)
        self.assertEqual(r.out, "")
        self.assertIn("kube.not_served", r.err)
        r = self.sandmux(*self.options, "doctor")
        self.assertRegex(r.out, "CPU and memory of sandboxes +this cluster serves no metrics.k8s.io")

    def test_a_watch_goes_on_with_what_has_changed(self):
        def moving(name: str, turn: int) -> dict:
            return {"cpu": "7m" if name == "pool-00000" else f"{10 + turn}m", "memory": "1Mi"}

        self.bed(2, moving)
        proc = subprocess.Popen([BIN, *self.options, "top", "-w", "-o", "json"], env=home_env(self.tmp), stdout=subprocess.PIPE, text=True)
        try:
            seen = [json.loads(proc.stdout.readline()) for _ in range(5)]
        finally:
            proc.terminate()
            proc.wait()
            proc.stdout.close()
        self.assertEqual(sum(o["claim"] == "claim-00000" for o in seen), 1, seen)  # the same each time: said once
        self.assertEqual(len({o["cpuMillis"] for o in seen if o["claim"] == "claim-00001"}), 4, seen)


if __name__ == "__main__":
    main()
