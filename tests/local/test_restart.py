# SPDX-License-Identifier: Apache-2.0
"""The backend is stopped or killed, and comes back with its objects and sandboxes."""
import contextlib
import os
import signal
import sqlite3
import subprocess
import threading

from harness.case import Case, main
from harness.sandmux import BIN, home_env

from backend import CLAIMS, LOCALD, PODS, POOLS, SANDBOXES, Backend, claim, condition, is_ready, wait_for


class Restart(Case):
    def setUp(self):
        self.b = Backend(self.tmp / "state")
        self.addCleanup(self.b.stop)

    def prepared(self):
        """A claim with a file in it; its name, pod and address."""
        got = self.b.ready_claim("c1")
        name, ip = got["status"]["sandbox"]["name"], got["status"]["sandbox"]["podIPs"][0]
        self.assertEqual(self.b.daemon(ip, "PUT", "/v1/files/kept.txt", b"kept").code, 204)
        return name, self.b.object(f"{PODS}/{name}")

    def check_came_back(self, name, before, words):
        pod = wait_for("the pod is ready again", lambda: (lambda p: p if condition(p, "Ready").get("status") == "True" else None)(
            self.b.object(f"{PODS}/{name}")))
        self.assertEqual(pod["metadata"]["uid"], before["metadata"]["uid"])
        status = pod["status"]["containerStatuses"][0]
        self.assertEqual(status["restartCount"], 1)
        self.assertEqual(status["lastState"]["terminated"]["reason"], "BackendRestarted")
        for message in (status["lastState"]["terminated"]["message"], condition(pod, "sandmux.local/Restarted")["message"],
                        condition(self.b.object(f"{SANDBOXES}/{name}"), "sandmux.local/Restarted")["message"]):
            self.assertIn(words, message)
        events = self.b.get("/api/v1/namespaces/default/events", fieldSelector="reason=BackendRestarted").json["items"]
        self.assertEqual({e["involvedObject"]["kind"] for e in events if e["involvedObject"]["name"] == name}, {"Pod", "Sandbox"})
        self.assertEqual(self.b.daemon(pod["status"]["podIP"], "GET", "/v1/files/kept.txt").body, b"kept")
        wait_for("the claim is Ready", lambda: is_ready(self.b.object(CLAIMS + "/c1")))

    def test_stopped(self):
        port, token = self.b.port, self.b.token
        name, pod = self.prepared()
        self.assertEqual(self.b.stop(), 0)
        self.b.start()
        self.assertEqual((self.b.port, self.b.token), (port, token))
        self.check_came_back(name, pod, "was stopped and was started again")

    def test_killed(self):
        name, pod = self.prepared()
        self.b.kill()
        self.b.start()
        self.check_came_back(name, pod, "died and was started again")

    def test_names_of_the_processes_that_died(self):
        self.need(os.path.exists(BIN), "sandmux is not built")
        name, pod = self.prepared()
        shell = subprocess.Popen([BIN, "--kubeconfig", str(self.b.kubeconfig), "run", "c1", "--", "sh", "-c", "sleep 300; true"],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env={**os.environ, **home_env(self.tmp / "home")})
        self.addCleanup(shell.communicate)
        self.addCleanup(shell.kill)

        def is_seen():
            with contextlib.closing(sqlite3.connect(f"file:{self.b.state}/objects.db?mode=ro", uri=True)) as db:
                return any("sleep" in value for value, in db.execute("select value from meta where key like 'procs/%'"))
        wait_for("the backend has looked", is_seen)
        self.assertIsNone(shell.poll())
        self.b.kill()
        self.b.start()
        self.check_came_back(name, pod, "processes that died: sh, sleep")

    def test_the_daemons_die_with_it(self):
        name, pod = self.prepared()
        ip = pod["status"]["podIP"]
        self.b.kill()

        def dead():
            try:
                self.b.daemon(ip, "GET", "/v1/health")
            except OSError:
                return True
        wait_for("nobody listens", dead, timeout=10)

    def test_a_daemon_that_dies_is_started_again(self):
        name, pod = self.prepared()
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.b.pid)], capture_output=True, text=True).stdout.split()
        self.assertTrue(children)
        for child in children:
            with contextlib.suppress(ProcessLookupError):  # one of them may have been there for a moment only
                os.kill(int(child), signal.SIGKILL)
        pod = wait_for("one restart", lambda: (lambda p: p if p["status"]["containerStatuses"][0]["restartCount"] == 1 and
                                               condition(p, "Ready").get("status") == "True" else None)(self.b.object(f"{PODS}/{name}")))
        self.assertEqual(pod["status"]["containerStatuses"][0]["lastState"]["terminated"]["exitCode"], 137)
        events = self.b.get("/api/v1/namespaces/default/events", fieldSelector=f"involvedObject.name={name},reason=DaemonExited").json["items"]
        self.assertIn("Killed", events[0]["message"])
        self.assertEqual(self.b.daemon(pod["status"]["podIP"], "GET", "/v1/files/kept.txt").body, b"kept")

    def test_killed_while_writing(self):
        stop, acknowledged = threading.Event(), []

        def write(k):
            i = 0
            while not stop.is_set():
                try:
                    r = self.b.create(POOLS, {"metadata": {"name": f"w{k}-{i}"}, "spec": {"replicas": 0, "sandboxTemplateRef": {"name": "local"}}})
                except (OSError, ValueError):
                    return
                if r.code == 201:
                    acknowledged.append((f"w{k}-{i}", r.json["metadata"]["resourceVersion"]))
                i += 1
        threads = [threading.Thread(target=write, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        wait_for("some are acknowledged", lambda: len(acknowledged) > 40, timeout=60)  # and the next are under way
        self.b.kill()
        stop.set()
        for t in threads:
            t.join()
        self.b.start()
        names = {o["metadata"]["name"] for o in self.b.get(POOLS).json["items"]}
        self.assertLessEqual({n for n, _ in acknowledged}, names, "what was answered is there")
        now = int(self.b.get(POOLS).json["metadata"]["resourceVersion"])
        self.assertGreaterEqual(now, max(int(v) for _, v in acknowledged))

    def test_one_backend_a_directory(self):
        r = subprocess.run([LOCALD, "--state-dir", str(self.b.state)], capture_output=True, text=True, timeout=20)
        self.assertEqual(r.returncode, 1)
        self.assertIn("sandmux-locald: op.already_open: another local backend uses", r.stderr)

    def test_wrong_use(self):
        for args in (["--nope"], ["--port", "x"], ["--isolation", "docker"], ["extra"]):
            r = subprocess.run([LOCALD, *args], capture_output=True, text=True, timeout=20)
            self.assertEqual(r.returncode, 2, args)
        for name in ("token", "kubeconfig", "tls/ca.key", "tls/server.key", "objects.db"):
            self.assertEqual(os.stat(self.b.state / name).st_mode & 0o077, 0, name)


main()
