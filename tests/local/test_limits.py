# SPDX-License-Identifier: Apache-2.0
"""Limits of sandboxes: each binds, says so, and lets through what is below it. Small amounts only."""
import json
import os
import re
import socket
import subprocess
from pathlib import Path

from harness.case import Case, main
from harness.sandmux import BIN

from backend import CLAIMS, PODS, SANDBOXES, TEMPLATES, Backend, claim, condition, is_ready, wait_for

MIB = 1 << 20
USER = 30000 + os.getpid() % 20000  # of this program alone: the kernel counts the processes of a user
CGROUP = Path("/sys/fs/cgroup")
CONTROLLERS = ("memory", "pids", "cpu")


def user(*more):
    return ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "--pdeathsig", "TERM", *more]


class Limited(Case):
    """A backend without warm sandboxes; self.make() starts one with these limits."""
    wrap, flags, isolation = (), (), None

    def setUp(self):
        state = self.tmp / "state"
        state.mkdir()
        if self.wrap:
            os.chmod(self.tmp, 0o755)
            os.chown(state, USER, USER)
        self.b = Backend(state, *self.flags, warm=0, wrap=self.wrap, isolation=self.isolation)
        self.addCleanup(self.b.stop)

    def need_root(self):
        self.need(os.geteuid() == 0, "needs root, to start a backend as somebody else")

    def make(self, name="box", storage="1Gi", memory=None, **annotations):
        t = self.b.object(TEMPLATES + "/local")
        limits = {"cpu": "1"}
        if memory:
            limits["memory"] = memory
        pod = t["spec"]["podTemplate"]
        pod["spec"]["containers"][0]["resources"] = {"limits": limits}
        pod["metadata"] = {"annotations": {f"limits.sandmux.local/{k.replace('_', '-')}": str(v) for k, v in annotations.items()}}
        t["spec"]["volumeClaimTemplates"][0]["spec"]["resources"] = {"requests": {"storage": storage}}
        r = self.b.call("PUT", TEMPLATES + "/local", t)
        self.assertEqual(r.code, 200, r.body)
        o = self.b.ready_claim(name)
        self.assertEqual(o["status"]["sandbox"]["name"], name)
        return name

    def run_in(self, name, script, **kw):
        return self.sandmux("--kubeconfig", self.b.kubeconfig, "run", name, "--", "sh", "-c", script, **kw)

    def start_in(self, name, script):
        """Leaves it running there."""
        self.run_in(name, f"setsid sh -c '{script}' >/dev/null 2>&1 </dev/null &", check=0)

    def pod(self, name):
        return self.b.object(f"{PODS}/{name}")

    def rows(self, name):
        def annotated():
            return ((self.pod(name) or {}).get("metadata", {}).get("annotations") or {}).get("sandmux.local/limits")
        return {r["what"]: r for r in json.loads(wait_for("the pod tells its limits", annotated))}

    def events(self, reason):
        return [e for e in self.b.get("/api/v1/namespaces/default/events").json["items"] if e["reason"] == reason]

    def is_evicted(self, name):
        return (self.pod(name) or {}).get("status", {}).get("reason") == "Evicted"

    def evicted(self, name, pattern):
        """It was stopped for this; what it wrote is there."""
        wait_for(f"{name} is evicted", lambda: self.is_evicted(name))
        pod = self.pod(name)
        self.assertEqual(pod["status"]["phase"], "Failed")
        self.assertRegex(pod["status"]["message"], pattern)
        self.assertEqual(pod["status"]["containerStatuses"][0]["state"]["terminated"]["reason"], "Evicted")
        for path in (f"{SANDBOXES}/{name}", f"{CLAIMS}/{name}"):
            ready = wait_for("it is told", lambda: (lambda c: c if c.get("reason") == "PodFailed" else None)(condition(self.b.object(path))))
            self.assertRegex(ready["message"], "^Pod failed: Evicted: .*" + pattern)
        self.assertTrue([e for e in self.events("Evicted") if e["involvedObject"]["name"] == name and re.search(pattern, e["message"])])

    def volume(self, name):
        pvc = self.b.object(f"/api/v1/namespaces/default/persistentvolumeclaims/workspace-{name}")
        return self.b.state / "volumes" / pvc["metadata"]["uid"]


class Disk(Limited):
    def test_a_workspace_above_its_size(self):
        large, small = self.make("large", storage="200Mi"), self.make("small", storage="20Mi")
        for name in (large, small):
            self.run_in(name, "head -c 41943040 /dev/zero > big")
        self.evicted(small, r"The workspace of this pod uses [2-4]\d(\.\d)?Mi, its limit is 20Mi")
        self.assertGreater((self.volume(small) / "big").stat().st_size, 20 * MIB)
        page = self.sandmux("--kubeconfig", self.b.kubeconfig, "describe", small, check=0).out
        self.assertRegex(page, r"(?m)^Why +Pod small was evicted\b.*: The workspace of this pod uses")
        self.assertTrue(is_ready(self.b.object(f"{CLAIMS}/{large}")))
        # there is a way back: it may be started, and cleared
        self.b.merge(f"{SANDBOXES}/{small}", {"spec": {"operatingMode": "Suspended"}})
        wait_for("Suspended", lambda: condition(self.b.object(f"{SANDBOXES}/{small}"), "Suspended").get("status") == "True")
        self.b.merge(f"{SANDBOXES}/{small}", {"spec": {"operatingMode": "Running"}})
        wait_for("Ready again", lambda: is_ready(self.b.object(f"{SANDBOXES}/{small}")) and is_ready(self.b.object(f"{CLAIMS}/{small}")))
        self.rows(small)  # it was measured
        self.run_in(small, "rm big && head -c 1000 /dev/zero > little", check=0)
        # but it may not grow
        self.run_in(small, "head -c 62914560 /dev/zero > bigger")
        self.evicted(small, "its limit is 20Mi")

    def test_an_evicted_one_stays_so_when_the_backend_starts_again(self):
        name = self.make(storage="20Mi")
        self.run_in(name, "head -c 41943040 /dev/zero > big")
        self.evicted(name, "its limit is 20Mi")
        self.b.stop()
        self.b.start()
        self.evicted(name, "its limit is 20Mi")

    def test_many_files(self):
        many, few = self.make("many"), self.make("few", inodes=500)
        for name in (many, few):
            self.run_in(name, "seq 1000 | xargs touch")
        self.evicted(few, "The workspace of this pod has more than 500 files and folders")
        self.assertGreater(len(list(self.volume(few).iterdir())), 500)
        self.assertTrue(is_ready(self.b.object(f"{CLAIMS}/{many}")))

    def test_hard_links_count_once(self):
        name = self.make(storage="20Mi", inodes=100)
        self.run_in(name, "head -c 10485760 /dev/zero > a; for i in $(seq 50); do ln a l$i; done; echo done > b", check=0)
        self.assertEqual(len(list(self.volume(name).iterdir())), 52)
        self.run_in(name, "seq 200 | xargs touch")  # so that it is looked at
        self.evicted(name, "more than 100 files")  # and not its 510 MiB

    def test_files_that_are_deleted_and_still_open(self):
        name = self.make(storage="20Mi")
        self.start_in(name, "exec 3>x; rm x; head -c 41943040 /dev/zero >&3; exec sleep 600")
        self.evicted(name, r"uses [2-4]\d(\.\d)?Mi, its limit is 20Mi \(most of it in deleted files")
        self.assertEqual(list(self.volume(name).iterdir()), [])


    def test_a_workspace_without_a_volume(self):
        t = self.b.object(TEMPLATES + "/local")
        del t["spec"]["volumeClaimTemplates"]
        container = t["spec"]["podTemplate"]["spec"]["containers"][0]
        container["volumeMounts"], container["resources"] = [], {"limits": {"ephemeral-storage": "20Mi"}}
        self.assertEqual(self.b.call("PUT", TEMPLATES + "/local", t).code, 200)
        self.b.ready_claim("box")
        self.run_in("box", "head -c 41943040 /dev/zero > big")
        self.evicted("box", "its limit is 20Mi")
        self.assertGreater((self.b.state / "pods" / self.pod("box")["metadata"]["uid"] / "workspace/big").stat().st_size, 20 * MIB)

    def test_a_limit_can_be_raised(self):
        name = self.make(storage="20Mi")
        path = f"/api/v1/namespaces/default/persistentvolumeclaims/workspace-{name}"
        self.assertEqual(self.b.merge(path, {"spec": {"resources": {"requests": {"storage": "60Mi"}}}}).code, 200)
        self.run_in(name, "head -c 41943040 /dev/zero > big", check=0)
        self.run_in(name, "head -c 41943040 /dev/zero > bigger")
        self.evicted(name, "its limit is 60Mi")


class DiskWithoutIsolation(Limited):
    isolation = "none"

    def test_a_workspace_above_its_size(self):
        name = self.make(storage="20Mi")
        self.assertNotIn("/tmp", self.rows(name))
        self.run_in(name, "head -c 41943040 /dev/zero > big")
        self.evicted(name, "its limit is 20Mi")


class DiskOfAUser(Disk):
    """An ordinary user's sandbox may close its folders to that same user."""
    wrap = user()

    def setUp(self):
        self.need_root()
        super().setUp()

    def test_folders_without_rights(self):
        name = self.make(storage="20Mi", inodes=500)
        self.run_in(name, "mkdir -p a/b && exec 3>a/b/big && chmod 000 a/b a && head -c 41943040 /dev/zero >&3")
        seen = subprocess.run(user("du", "-sm", str(self.volume(name))), capture_output=True, text=True)
        self.assertIn("ermission denied", seen.stderr)  # the control: who just looks sees nothing
        self.assertLess(int(seen.stdout.split()[0]), 5)
        self.evicted(name, r"uses [2-4]\d(\.\d)?Mi, its limit is 20Mi")

    def test_temporary_files(self):
        few, many = self.make("few", tmp_inodes=500), self.make("many", tmp_inodes=100000)
        for name in (few, many):
            self.assertEqual(self.rows(name)["temporary files"]["how"], "watched")
            self.run_in(name, "cd /tmp && seq 1000 | xargs touch")
        self.evicted(few, r"/tmp of this pod has \d+ files and folders, its limit is 500")
        self.assertTrue(is_ready(self.b.object(f"{CLAIMS}/{many}")))


class Floor(Limited):
    """The machine keeps some space: here it has always less free than it should."""

    def setUp(self):
        fs = os.statvfs(self.tmp)
        self.flags = ("--disk-floor", str(fs.f_blocks * fs.f_frsize))
        super().setUp()

    def test_the_one_that_grows_goes(self):
        quiet, busy = self.make("quiet"), self.make("busy")
        for name in (quiet, busy):
            self.rows(name)
        self.run_in(busy, "head -c 31457280 /dev/zero > big")
        self.evicted(busy, r"The disk of this machine has less than .* left, and the workspace of this pod grew most lately, by")
        self.assertGreater((self.volume(busy) / "big").stat().st_size, 0)
        self.assertTrue(is_ready(self.b.object(f"{CLAIMS}/{quiet}")))


class MemoryByCgroup(Limited):
    def setUp(self):
        super().setUp()
        self.small, self.large = self.make("small", memory="64Mi"), self.make("large", memory="1Gi")
        self.need(self.rows(self.small)["memory"]["how"] == "cgroup", "no memory cgroup can be made here")

    def test_a_job_dies_and_the_sandbox_lives(self):
        hog = "head -c 209715200 /dev/zero | tail | wc -c"
        self.assertEqual(self.run_in(self.large, hog, check=0).out.strip(), str(200 * MIB))
        self.assertEqual(self.run_in(self.small, hog).out.strip(), "0")
        event = wait_for("it is told", lambda: self.events("OOMKilling"))[0]
        self.assertEqual((event["involvedObject"]["name"], "at the limit of 64Mi" in event["message"]), (self.small, True))
        self.assertEqual(self.run_in(self.small, "echo alive", check=0).out, "alive\n")
        self.assertEqual(self.pod(self.small)["status"]["containerStatuses"][0]["restartCount"], 0)

    def test_what_lies_in_tmp_counts(self):
        fill = "head -c 209715200 /dev/zero > /tmp/x; stat -c %s /tmp/x"
        self.assertEqual(self.run_in(self.large, fill, check=0).out.strip(), str(200 * MIB))
        self.assertLess(int(self.run_in(self.small, fill).out or 0), 100 * MIB)


class MemoryWatched(Limited):
    wrap = user()

    def setUp(self):
        self.need_root()
        super().setUp()
        self.small, self.large = self.make("small", memory="64Mi"), self.make("large", memory="1Gi")
        self.need(self.rows(self.small)["memory"]["how"] == "watched", "this user may make cgroups")

    def killed(self):
        def last():
            return self.pod(self.small)["status"]["containerStatuses"][0].get("lastState", {}).get("terminated")
        t = wait_for("it was stopped", last)
        self.assertEqual((t["reason"], t["exitCode"]), ("OOMKilled", 137))
        self.assertRegex(t["message"], r"out of memory: this pod uses \d+(\.\d)?Mi, its limit is 64Mi")
        wait_for("and started again", lambda: is_ready(self.b.object(f"{CLAIMS}/{self.small}")))
        status = self.pod(self.large)["status"]["containerStatuses"][0]
        self.assertEqual((status["restartCount"], status["ready"]), (0, True))

    def both(self, script):
        for name in (self.large, self.small):
            self.start_in(name, script)
        self.killed()

    def test_many_processes_together(self):
        self.both("for i in 1 2 3 4; do (head -c 41943040 /dev/zero; sleep 600) | tail & done; wait")

    def test_what_lies_in_tmp_counts(self):
        self.both("head -c 104857600 /dev/zero > /tmp/x; sleep 600")

    def test_memory_that_nothing_maps_counts(self):
        self.need(Path("/usr/bin/python3").exists(), "needs Python in the sandbox")
        self.both('exec python3 -c "import os, time; f = os.memfd_create(\\"x\\"); [os.write(f, bytes(1 << 20)) for i in range(100)]; time.sleep(600)"')

    def test_segments_that_nobody_is_attached_to_count(self):
        self.need(Path("/usr/bin/python3").exists(), "needs Python in the sandbox")
        self.both('exec python3 -c "import ctypes, time; c = ctypes.CDLL(None); c.shmat.restype = ctypes.c_void_p; n = 100 << 20; '
                  's = c.shmget(0, ctypes.c_size_t(n), 0o600); p = c.shmat(s, None, 0); ctypes.memset(p, 1, n); c.shmdt(ctypes.c_void_p(p)); time.sleep(600)"')

    def test_memory_shared_by_several_counts_once(self):
        self.need(Path("/usr/bin/python3").exists(), "needs Python in the sandbox")
        name = self.make("forks", memory="160Mi")
        # each of the five seems to have 60 MiB; together they have that once
        r = self.run_in(name, 'exec python3 -c "import os, time; x = bytes([1]) * (60 << 20); p = [os.fork() or os._exit(time.sleep(8) or len(x) and 0) '
                              'for i in range(4)]; [os.waitpid(i, 0) for i in p]; print(len(x))"', timeout=60)
        self.assertEqual((r.code, r.out.strip()), (0, str(60 * MIB)))
        self.assertEqual(self.pod(name)["status"]["containerStatuses"][0]["restartCount"], 0)

    def test_one_process_alone_gets_no_more(self):
        self.assertNotEqual(self.run_in(self.small, "head -c 209715200 /dev/zero | tail > /dev/null").code, 0)
        self.run_in(self.large, "head -c 209715200 /dev/zero | tail > /dev/null", check=0)


class Processes(Limited):
    def check(self, how):
        script = "for i in $(seq 100); do sleep 600 & done 2>/dev/null; ls /proc | grep -c '^[0-9]'"
        few, many = self.make("few", pids=40), self.make("many")
        self.assertEqual((self.rows(few)["processes"]["how"], self.rows(few)["processes"]["value"]), (how, "40"))
        self.assertLess(int(self.run_in(few, script).out or 0), 60)
        self.assertGreater(int(self.run_in(many, script, check=0).out), 100)
        self.assertTrue(is_ready(self.b.object(f"{CLAIMS}/{few}")))

    def test_as_it_is(self):
        self.check("cgroup" if self.rows(self.make("probe"))["memory"]["how"] == "cgroup" else "rlimit")

    def test_who_dies_first_when_memory_runs_out(self):
        name = self.make()
        job, daemon = self.run_in(name, "cat /proc/self/oom_score_adj /proc/1/oom_score_adj", check=0).out.split()
        backend = Path(f"/proc/{self.b.pid}/oom_score_adj").read_text()
        self.assertTrue(int(job) > int(daemon) > int(backend), (job, daemon, backend))


class ProcessesOfAUser(Processes):
    wrap = user()

    def setUp(self):
        self.need_root()
        super().setUp()


class DelegatedByChown(Limited):
    """Somebody gave this user a cgroup of their own."""

    def setUp(self):
        self.need_root()
        self.need((CGROUP / "memory/cgroup.procs").exists(), "no cgroups of version 1 here")
        self.groups = [self.group(c) for c in CONTROLLERS]
        join = "".join(f"echo $$ > {g}/cgroup.procs; " for g in self.groups)
        self.wrap = ["sh", "-c", join + 'exec "$@"', "sh", *user()]
        super().setUp()

    def group(self, controller):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, names, path = line.split(":", 2)
            if controller in names.split(","):
                own = CGROUP / controller / path.lstrip("/")
        group = own / f"sandmux-test-{os.getpid()}"
        group.mkdir()
        os.chown(group, USER, USER)
        self.addCleanup(lambda: subprocess.run(["find", str(group), "-depth", "-type", "d", "-exec", "rmdir", "{}", "+"], check=True))
        return group

    def test_they_bind(self):
        small, large, few = self.make("small", memory="64Mi"), self.make("large", memory="1Gi"), self.make("few", pids=40)
        rows = self.rows(small)
        self.assertEqual({rows[w]["how"] for w in ("memory", "processes", "cpu")}, {"cgroup"})
        hog = "head -c 209715200 /dev/zero > /tmp/x; stat -c %s /tmp/x"
        self.assertEqual(self.run_in(large, hog, check=0).out.strip(), str(200 * MIB))
        self.assertLess(int(self.run_in(small, hog).out or 0), 100 * MIB)
        wait_for("it is told", lambda: self.events("OOMKilling"))
        script = "for i in $(seq 100); do sleep 600 & done 2>/dev/null; ls /proc | grep -c '^[0-9]'"
        self.assertLess(int(self.run_in(few, script).out or 0), 60)


class Defaults(Limited):
    def test_the_first_template_has_limits(self):
        t = self.b.object(TEMPLATES + "/local")
        limits = t["spec"]["podTemplate"]["spec"]["containers"][0]["resources"]["limits"]
        self.assertEqual(set(limits), {"cpu", "memory", "ephemeral-storage"})
        self.b.ready_claim("box")
        # those of its mounts are told when it has been looked at
        rows = wait_for("all rows", lambda: (lambda r: r if {"/tmp", "/dev/shm", "/run"} <= set(r) else None)(self.rows("box")))
        self.assertEqual({k: rows[k].get("value") for k in ("cpu", "processes", "workspace", "workspace files")},
                         {"cpu": limits["cpu"], "processes": "1024", "workspace": "10Gi", "workspace files": "1000000"})
        self.assertEqual(self.pod("box")["status"]["qosClass"], "Guaranteed")
        for path in ("/tmp", "/dev/shm", "/run"):
            self.assertEqual(rows[path]["how"], "tmpfs")

    def test_the_machine_is_safe_without(self):
        name = self.make()
        half = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
        row = self.rows(name)["memory"]
        self.assertIn("half of this machine's", row["why"])
        self.assertEqual(row["value"], f"{half / (1 << 30):.1f}Gi" if half >= 10000 << 20 else row["value"])


class Told(Limited):
    """describe, local status and doctor say what holds."""

    def check(self, memory, words):
        name = self.make(memory="64Mi")
        self.need(self.rows(name)["memory"]["how"] == memory, "another kind of machine")
        page = self.sandmux("--kubeconfig", self.b.kubeconfig, "describe", name, check=0).out
        self.assertRegex(page, rf"(?m)^  memory +64Mi +{words}")
        self.assertRegex(page, r"(?m)^  workspace +1Gi +watching +stopped when it is found above, its files are kept$")
        got = json.loads(self.sandmux("--kubeconfig", self.b.kubeconfig, "describe", name, "-o", "json", check=0).out)
        self.assertIn({"what": "processes", "value": "1024", "how": self.rows(name)["processes"]["how"]}, got["limits"])
        self.assertRegex(self.status(), rf"(?m)^  memory +- +{words}")
        got = json.loads(self.status("-o", "json"))
        self.assertEqual({r["what"]: r["how"] for r in got["limits"]}["memory"], memory)
        findings = json.loads(self.sandmux("--kubeconfig", self.b.kubeconfig, "doctor", "-o", "json").out)
        return {f["check"]: f for f in findings if f["check"].startswith("limit")}

    def status(self, *args):
        """As the backend's user: nobody else may look into its folder."""
        r = subprocess.run([*self.wrap, BIN, "--state-dir", str(self.b.state), "local", "status", *args], capture_output=True, text=True, timeout=30,
                           env={**os.environ, "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"})
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        return r.stdout

    def test_with_cgroups(self):
        findings = self.check("cgroup", "the kernel, by a cgroup")
        self.assertEqual({f["level"] for f in findings.values()}, {"ok"})


class ToldToAUser(Told):
    wrap = user()

    def setUp(self):
        self.need_root()
        super().setUp()

    test_with_cgroups = None

    def test_without(self):
        findings = self.check("watched", "watching")
        self.assertEqual((findings["limit of memory"]["level"], findings["limit of cpu"]["level"]), ("warning", "warning"))
        self.assertIn("nothing holds it: no cgroup can be made in ", findings["limit of cpu"]["found"])
        self.assertIn("Delegate=yes", findings["limit of cpu"]["fix"])
        self.assertEqual(findings["limit of workspace"]["level"], "ok")


NOBODY = 65534  # has a name, by which systemd goes


def nobody(*argv):
    return ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups", "--pdeathsig", "TERM", *argv]


class Scope(Case):
    """`local up` asks the user's systemd for a cgroup; here a script stands for systemd-run."""

    def setUp(self):
        self.need(os.geteuid() == 0, "needs root, to be another user")
        os.chmod(self.tmp, 0o755)
        for name in ("bin", "home", "run", "run/systemd"):
            (self.tmp / name).mkdir()
            os.chown(self.tmp / name, NOBODY, NOBODY)
        self.env = {**os.environ, "HOME": str(self.tmp / "home"), "XDG_RUNTIME_DIR": str(self.tmp / "run"),
                    "SANDMUX_LOCAL_DIR": str(self.tmp / "home/state"), "PATH": f"{self.tmp}/bin:{os.environ['PATH']}"}
        self.log = self.tmp / "home/asked"

    def manager(self):
        s = socket.socket(socket.AF_UNIX)
        self.addCleanup(s.close)
        s.bind(str(self.tmp / "run/systemd/private"))
        os.chmod(self.tmp / "run/systemd/private", 0o666)
        s.listen()

    def up(self, script):
        path = self.tmp / "bin/systemd-run"
        path.write_text(f"#!/bin/sh\necho \"$@\" >> {self.log}\n{script}\n")
        path.chmod(0o755)
        self.addCleanup(subprocess.run, nobody(BIN, "local", "down"), env=self.env, capture_output=True, timeout=30)
        r = subprocess.run(nobody(BIN, "local", "up"), env=self.env, capture_output=True, text=True, timeout=60)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        self.assertIn("ready, pid", r.stdout)
        self.told = r.stderr

    def asked(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    def test_one_is_asked_for(self):
        self.manager()
        self.up('while [ "$1" != -- ]; do shift; done; shift; SCOPED=yes exec "$@"')
        trial, real = self.asked()
        self.assertEqual(trial, "--user --scope --quiet --collect --property=Delegate=yes -- true")
        self.assertRegex(real, "^--user --scope --quiet --collect --property=Delegate=yes -- /.*/sandmux-locald --state-dir ")
        pid = (self.tmp / "home/state/pid").read_text().split()[0]
        self.assertIn(b"SCOPED=yes", Path(f"/proc/{pid}/environ").read_bytes())

    def test_it_ends_at_logout(self):
        group = CGROUP / f"systemd/user@{NOBODY}.service"
        self.need(os.access(group.parent / "cgroup.procs", os.W_OK) and not group.exists(), "systemd is at work here, or has no hierarchy of its own")
        group.mkdir()
        self.addCleanup(group.rmdir)
        os.chown(group / "cgroup.procs", NOBODY, NOBODY)
        self.manager()
        self.up(f'while [ "$1" != -- ]; do shift; done; shift; echo $$ > {group}/cgroup.procs; exec "$@"')
        self.assertIn("it ends when you log out", self.told)
        subprocess.run(nobody(BIN, "local", "down"), env=self.env, timeout=30, check=True)

    def test_it_refuses(self):
        self.manager()
        self.up("exit 1")
        self.assertEqual((len(self.asked()), self.told), (1, ""))

    def test_there_is_no_manager(self):
        self.up("exit 1")
        self.assertEqual(self.asked(), [])
        r = subprocess.run(nobody(BIN, "local", "reset", "--yes"), env=self.env, capture_output=True, text=True, timeout=60)
        self.assertEqual(r.returncode, 0, r.stderr)
        self.assertEqual([p.name for p in (self.tmp / "home").glob("state/*")], [])  # nothing that was written down stays


if __name__ == "__main__":
    main()
