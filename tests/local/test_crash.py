# SPDX-License-Identifier: Apache-2.0
"""The backend and the daemon are killed in front of each call that changes a disk or a socket, and the disk fills up or becomes
read-only. Afterwards every file that was acknowledged is there, or named with where it was put, and nothing that was
deleted by name is left.

A point is one kill at one call (crash_point.c). Each sweep covers a step from its first call to its last; where a step has more
calls than its share of points, they are spread evenly."""
import hashlib
import http.client
import mmap
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

from harness.case import Case, main
from harness.sandmux import BIN

from backend import CLAIMS, SANDBOXES, Backend, claim, condition, is_ready, wait_for

BINS = Path(BIN).parent
PVCS = "/api/v1/namespaces/default/persistentvolumeclaims"
POINTS = {"n": 0}


class Crash:
    """The file that crash_point.so maps."""

    def __init__(self, path, name):
        self.env = {"LD_PRELOAD": str(BINS / "crash_point.so"), "CRASH_POINT": str(path), "CRASH_NAME": name,
                    "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:detect_leaks=0"}
        path.write_bytes(bytes(16))
        with open(path, "r+b") as f:
            self.map = mmap.mmap(f.fileno(), 16)

    def arm(self, left):
        self.map[:] = struct.pack("qq", left, 0)

    @property
    def seen(self):
        return struct.unpack("qq", self.map)[1]


def points(calls, share):
    """At most `share` numbers from 1 to calls, first and last among them."""
    if calls <= share:
        return list(range(1, calls + 1))
    return sorted({1 + round(i * (calls - 1) / (share - 1)) for i in range(share)})


def sha(data):
    return hashlib.sha256(data).hexdigest()


class Swept(Case):
    def setUp(self):
        self.crash = Crash(self.tmp / "point", "sandmux-locald")
        self.b = Backend(self.tmp / "state", isolation="none", warm=0, env=self.crash.env)
        self.addCleanup(self.b.stop)
        self.kept = {}  # claim: {path: hash}, all acknowledged
        self.gone = set()
        self.n = 0

    # ---- what must hold ----

    def volume(self, name):
        sandbox = self.b.object(f"{CLAIMS}/{name}")["status"]["sandbox"]["name"]
        return self.b.state / "volumes" / self.b.object(f"{PVCS}/workspace-{sandbox}")["metadata"]["uid"]

    def check(self, what):
        for name, files in self.kept.items():
            folder = self.volume(name)
            for path, digest in files.items():
                self.assertEqual(sha((folder / path).read_bytes()), digest, f"{what}: {name}/{path}")
        for name in self.gone:
            self.assertIsNone(self.b.object(f"{CLAIMS}/{name}"), f"{what}: {name} came back")
        self.assertEqual(list(self.b.state.glob("*.tmp-*")) + list(self.b.state.glob("*/*.tmp-*")), [], what)
        self.assertFalse((self.b.state / "quarantine").exists(), what)

    def check_at_the_end(self):
        """All of it through the daemons, and no folder that belongs to nobody."""
        for name in self.kept:
            wait_for(f"{name} is Ready", lambda: is_ready(self.b.object(f"{CLAIMS}/{name}")))
            for path, digest in self.kept[name].items():
                self.assertEqual(sha(self.b.daemon(self.address(name), "GET", f"/v1/files/{path}").body), digest)
        # a volume's object goes first, then its folder, by way of the trash
        wait_for("no folder is nobody's", lambda: {p.name for p in (self.b.state / "volumes").iterdir() if p.suffix != ".json"} <=
                 {o["metadata"]["uid"] for o in self.b.get(PVCS).json["items"]})
        wait_for("the trash is empty", lambda: not list((self.b.state / "trash").iterdir()))

    # ---- steps ----

    def address(self, name):
        return self.b.object(f"{CLAIMS}/{name}")["status"]["sandbox"]["podIPs"][0]

    def upload(self, name, path, data):
        self.assertEqual(self.b.daemon(self.address(name), "PUT", f"/v1/files/{path}", data).code, 204)
        self.kept.setdefault(name, {})[path] = sha(data)

    def make(self, name):
        self.b.ready_claim(name)
        self.upload(name, "precious.txt", os.urandom(1000))

    def remove(self, name):
        self.assertEqual(self.b.call("DELETE", f"{CLAIMS}/{name}").code, 200)
        self.kept.pop(name, None)
        self.gone.add(name)
        wait_for(f"{name} is gone", lambda: not self.b.object(f"{CLAIMS}/{name}"))

    def new_name(self):
        self.n += 1
        return f"n{self.n}"

    def died(self):
        return not self.b.proc.alive

    def run_step(self, step, done, left):
        """Whether the backend was killed in it, and how many calls there were."""
        self.crash.arm(left)
        try:
            step()
            end = time.monotonic() + 30
            while not self.died() and not done():
                self.assertLess(time.monotonic(), end, "the step does not end")
                time.sleep(0.01)
        except (OSError, http.client.HTTPException, ValueError, TypeError) as e:  # it was cut off in an answer
            wait_for(f"it is killed ({e!r})", self.died)
        calls = self.crash.seen
        self.crash.arm(0)
        if not self.died():
            try:  # who answers after that has gone past the call that would have been its last
                self.b.get("/readyz")
            except (OSError, http.client.HTTPException):
                wait_for("the kill that was on its way", self.died)
        return self.died(), calls

    def start_again(self):
        self.b.proc.proc.wait(10)
        self.assertEqual(self.b.proc.proc.returncode, -signal.SIGKILL, self.b.log()[-2000:])
        self.b.start()

    def sweep(self, what, share, prepare, step, done, after):
        """Once whole, to count its calls, then killed at each point. step(name, told) sets told["ok"] when it was acknowledged."""
        where = [0]
        for i in range(share + 1):
            if i == len(where):
                break
            name, told = prepare(), {"ok": False}
            killed, calls = self.run_step(lambda: step(name, told), lambda: done(name), where[i])
            if i == 0:
                self.assertFalse(killed)
                where += points(calls, share)
            if killed:
                POINTS["n"] += 1
                self.start_again()
            after(name, told["ok"])
            self.check(f"{what}, killed at call {where[i]}")
        print(f"{what}: {len(where) - 1} points", flush=True)

    def test_create(self):
        self.make("keeper")

        def step(name, told):
            told["ok"] = self.b.create(CLAIMS, claim(name)).code == 201

        def after(name, ok):
            if ok or self.b.object(f"{CLAIMS}/{name}"):
                self.assertIsNotNone(self.b.object(f"{CLAIMS}/{name}"), "it was acknowledged")
                self.remove(name)
        self.sweep("create", 45, self.new_name, step, lambda name: is_ready(self.b.object(f"{CLAIMS}/{name}")), after)
        self.check_at_the_end()

    def test_delete(self):
        self.make("keeper")
        files = {}

        def prepare():
            name = self.new_name()
            self.make(name)
            files[name] = self.volume(name) / "precious.txt", self.kept.pop(name)["precious.txt"]
            return name

        def step(name, told):
            told["ok"] = self.b.call("DELETE", f"{CLAIMS}/{name}").code == 200

        def done(name):
            return not self.b.object(f"{CLAIMS}/{name}") and not files[name][0].exists()

        def after(name, ok):
            left = self.b.object(f"{CLAIMS}/{name}")
            if left and not ok and "deletionTimestamp" not in left["metadata"]:
                self.assertEqual(sha(files[name][0].read_bytes()), files[name][1], "it was not deleted")
                self.remove(name)
            self.gone.add(name)
            wait_for("its files are gone", lambda: not files[name][0].exists())
        self.sweep("delete", 45, prepare, step, done, after)
        self.check_at_the_end()

    def test_suspend_and_resume(self):
        self.make("keeper")
        sandbox = self.b.object(f"{CLAIMS}/keeper")["status"]["sandbox"]["name"]

        def is_suspended():
            return condition(self.b.object(f"{SANDBOXES}/{sandbox}"), "Suspended").get("status") == "True"

        def is_running():
            return is_ready(self.b.object(f"{SANDBOXES}/{sandbox}"))

        def set_mode(mode, told=None):
            code = self.b.merge(f"{SANDBOXES}/{sandbox}", {"spec": {"operatingMode": mode}}).code
            if told is not None:
                told["ok"] = code == 200

        def bring(mode, reached):
            set_mode(mode)
            wait_for(mode, reached)

        def check_mode(mode):
            def after(_, ok):
                if ok:
                    self.assertEqual(self.b.object(f"{SANDBOXES}/{sandbox}")["spec"]["operatingMode"], mode)
            return after
        self.sweep("suspend", 25, lambda: bring("Running", is_running), lambda _, told: set_mode("Suspended", told),
                   lambda _: is_suspended(), check_mode("Suspended"))
        self.sweep("resume", 25, lambda: bring("Suspended", is_suspended), lambda _, told: set_mode("Running", told),
                   lambda _: is_running(), check_mode("Running"))
        bring("Running", is_running)
        self.check_at_the_end()

    def test_start(self):
        """Killed while it starts on what another crash left."""
        self.make("keeper")
        self.b.kill()
        self.crash.arm(0)
        self.b.start()
        where = points(self.crash.seen, 30)
        for left in where:
            self.b.kill()
            self.crash.arm(left)
            try:
                self.b.start()
                wait_for("it is killed", self.died)
            except (RuntimeError, OSError):
                self.assertTrue(self.died())
            POINTS["n"] += 1
            self.crash.arm(0)
            self.b.start()
            self.check(f"start, killed at call {left}")
        print(f"start: {len(where)} points", flush=True)
        self.check_at_the_end()


class Uploads(Case):
    """The daemon alone is killed: a file is the old one or the new one, and the new one if that was acknowledged."""

    def start(self):
        env = {**os.environ, **self.crash.env}
        self.proc = subprocess.Popen([str(BINS / "sandmux-sandboxd"), f"--root-dir={self.root}", "--rest-port=0", "--grpc-port=0"],
                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True, env=env)
        line = self.proc.stdout.readline()
        self.host, port = line.split()[0].split("=")[1].rsplit(":", 1)
        self.port = int(port)

    def end(self):
        self.proc.kill()
        self.proc.wait()
        self.proc.stdout.close()

    def put(self, path, data):
        """The status, or None if the daemon died."""
        try:
            c = http.client.HTTPConnection(self.host, self.port, timeout=10)
            c.request("PUT", "/v1/files/" + path, data)
            return c.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            c.close()

    def test_upload(self):
        self.root = self.tmp / "root"
        self.root.mkdir()
        self.crash = Crash(self.tmp / "point", "sandmux-sandboxd")
        total = 0
        for what, path, size in (("a new file", "new{}", 100), ("in new folders", "a{}/b/c/new", 100), ("over another", "same", 5000),
                                 ("a large one", "large{}", 3000000), ("a large one over another", "large", 3000000)):
            where, files = [0], {}
            for i in range(25):
                if i == len(where):
                    break
                self.start()
                target, data = path.format(i), os.urandom(size)
                self.crash.arm(where[i])
                status = self.put(target, data)
                if i == 0:
                    where += points(self.crash.seen, 24)
                    self.assertEqual(status, 204)
                self.end()
                old = files.get(target)
                now = self.root / target
                new = sha(now.read_bytes()) if now.exists() else None
                self.assertIn(new, {old, sha(data)} - ({old} if status == 204 else set()), f"{what}, killed at call {where[i]}")
                files[target] = new
                POINTS["n"] += i > 0
                self.crash.arm(0)
            total += len(where) - 1
            self.start()  # sweeps
            wait_for("no temporary file is left", lambda: not list(self.root.rglob(".sandboxd-tmp-*")))
            self.end()
            for name, digest in files.items():
                if digest:
                    self.assertEqual(sha((self.root / name).read_bytes()), digest)
        print(f"upload: {total} points", flush=True)

    def test_backend_killed_during_uploads_into_jails(self):
        b = Backend(self.tmp / "state", warm=0)
        self.addCleanup(b.stop)
        b.ready_claim("c1")
        kept = {}
        for i in range(6):
            wait_for("it is Ready", lambda: is_ready(b.object(f"{CLAIMS}/c1")))
            address = b.object(f"{CLAIMS}/c1")["status"]["sandbox"]["podIPs"][0]
            killer = threading.Timer(0.013 * i, b.kill)  # somewhere in one of the next
            for k in range(10000):
                if k == 2:
                    killer.start()
                data, name = os.urandom(20000), f"f{i}-{k}"
                try:
                    if b.daemon(address, "PUT", f"/v1/files/{name}", data).code == 204:
                        kept[name] = sha(data)
                except (OSError, http.client.HTTPException):
                    break
            killer.join()
            POINTS["n"] += 1
            b.start()
            folder, = (p for p in (b.state / "volumes").iterdir() if p.suffix != ".json")
            for name, digest in kept.items():
                self.assertEqual(sha((folder / name).read_bytes()), digest)
        self.assertGreaterEqual(len(kept), 12)
        wait_for("temporary files are swept", lambda: not list(folder.rglob(".sandboxd-tmp-*")))


class Disk(Case):
    """A disk that takes nothing."""

    def setUp(self):
        self.need(os.geteuid() == 0, "mounting needs root")
        self.disk = self.tmp / "disk"
        self.disk.mkdir()
        r = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m,mode=0700", "tmpfs", str(self.disk)], capture_output=True, text=True)
        self.need(r.returncode == 0, f"a tmpfs cannot be mounted: {r.stderr}")
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.disk)])
        self.b = Backend(self.disk / "state", isolation="none", warm=0)
        self.addCleanup(self.b.stop)
        self.b.ready_claim("c1")
        self.put("precious", b"precious", 204)

    def put(self, name, data, code):
        address = self.b.object(f"{CLAIMS}/c1")["status"]["sandbox"]["podIPs"][0]
        self.assertEqual(self.b.daemon(address, "PUT", "/v1/files/" + name, data).code, code)

    def check(self):
        folder, = (p.parent for p in (self.b.state / "volumes").glob("*/precious"))
        self.assertEqual((folder / "precious").read_bytes(), b"precious")
        self.assertFalse((folder / "more").exists())
        self.assertEqual(list(folder.glob(".sandboxd-tmp-*")), [])
        self.assertFalse((self.b.state / "quarantine").exists())

    def fill(self):
        with open(self.disk / "ballast", "wb", buffering=0) as f:
            try:
                while True:
                    f.write(bytes(4096))
            except OSError:
                pass

    def refused(self, *words):
        r = subprocess.run([str(BINS / "sandmux-locald"), "--state-dir", str(self.b.state), "--isolation", "none"], capture_output=True,
                           text=True, timeout=30)
        self.assertNotEqual(r.returncode, 0)
        for word in (str(self.b.state), *words):
            self.assertIn(word, r.stderr)

    def test_full(self):
        self.fill()
        refused = 0
        for i in range(200):  # what was allocated before may still take some
            r = self.b.create(CLAIMS, claim(f"x{i}"))
            self.assertIn(r.code, (201, 500), r.body)
            refused += r.code == 500
            if refused:
                break
        self.assertTrue(refused)
        self.assertIn("full", r.json["message"])
        self.put("more", os.urandom(100000), 500)
        self.put("precious", os.urandom(100000), 500)
        self.check()
        self.b.kill()
        self.refused("No space left on device")
        self.check()
        (self.disk / "ballast").unlink()
        self.b.start()
        self.check()
        wait_for("it is Ready", lambda: is_ready(self.b.object(f"{CLAIMS}/c1")))
        self.put("more2", os.urandom(100000), 204)
        for k in range(i):
            self.b.call("DELETE", f"{CLAIMS}/x{k}")
        self.b.ready_claim("after")

    def test_full_and_free_again_without_a_restart(self):
        """In the middle of making some and deleting others; a little room at a time."""
        for i in range(4):
            self.b.ready_claim(f"x{i}")
        for i in range(4, 8):
            self.assertEqual(self.b.create(CLAIMS, claim(f"x{i}")).code, 201)
        self.fill()
        codes = []
        for i in range(2, 6):
            codes.append(self.b.call("DELETE", f"{CLAIMS}/x{i}").code)
            with open(self.disk / "ballast", "r+b") as f:
                f.truncate(os.fstat(f.fileno()).st_size - 30000)
            time.sleep(0.5)
        self.assertIn(500, codes)
        (self.disk / "ballast").unlink()
        for i in (0, 2, 3, 4, 5):
            self.assertIn(self.b.call("DELETE", f"{CLAIMS}/x{i}").code, (200, 404))
        wait_for("what was begun is Ready", lambda: all(is_ready(o) for o in self.b.get(CLAIMS).json["items"]), timeout=60)
        self.check()
        claims = {o["metadata"]["name"] for o in self.b.get(CLAIMS).json["items"]}
        self.assertEqual(claims, {"c1", "x1", "x6", "x7"})
        wait_for("what was deleted is gone", lambda: len(self.b.get(SANDBOXES).json["items"]) == len(claims) ==
                 len(self.b.get("/api/v1/namespaces/default/pods").json["items"]) ==
                 len([p for p in (self.b.state / "volumes").iterdir() if p.suffix != ".json"]), timeout=60)
        self.check()

    def test_read_only(self):
        self.b.stop()
        subprocess.run(["mount", "-o", "remount,ro", str(self.disk)], check=True)
        self.refused()
        self.check()
        subprocess.run(["mount", "-o", "remount,rw", str(self.disk)], check=True)
        self.b.start()
        self.check()
        wait_for("it is Ready", lambda: is_ready(self.b.object(f"{CLAIMS}/c1")))


class ZPoints(Case):  # the last
    def test_that_was_enough(self):
        ran_all = not any(a.startswith(("-k", "Swept", "Uploads", "Disk", "ZPoints")) for a in sys.argv[1:])
        self.need(ran_all, "only some were asked for")
        print(f"{POINTS['n']} points in all", flush=True)
        self.assertGreaterEqual(POINTS["n"], 200)


if __name__ == "__main__":
    main()
