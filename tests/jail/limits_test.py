# SPDX-License-Identifier: Apache-2.0
"""A job that wants more than its share: each limit, where a cgroup holds it and where the kernel's limits of a process
do; and the same job without the limit. The sandbox and its daemon live on."""
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from harness.case import Case, main

from jail import Jail, JailBackend, attack_bare, identity_of, local

MIB = 1 << 20


def _status():
    return dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines())


@dataclass(frozen=True)
class Row:
    name: str
    attack: str
    args: tuple
    limits: dict = field(default_factory=dict)
    off: tuple = ()         # instead of a limit: guards
    cgroup: tuple = (False, True)
    plain: bool = False     # works only without isolation
    is_bare: bool = False
    who: tuple = ("root", "user")


ROWS = [
    # touched pages where a cgroup counts them; else what a process may map
    Row("memory-cgroup", "take_memory", (128 * MIB,), {"memory": 64 * MIB}, cgroup=(True,)),
    Row("memory-cgroup-many", "take_memory_together", (6, 24 * MIB), {"memory": 96 * MIB}, cgroup=(True,)),
    Row("memory-of-a-process", "take_memory", (512 * MIB,), {"memory": 256 * MIB}, cgroup=(False,)),
    Row("processes", "take_processes", (80,), {"pids": 40}),
    Row("open-files", "take_descriptors_of_own", (80,), {"open_files": 64}),
    Row("file-size", "long_file", ("long", 2 * MIB), {"file_size": MIB}),
    Row("raised-again", "raise_limit", ("RLIMIT_NOFILE",), {"open_files": 64}, plain=True, is_bare=True, who=("root",)),
    Row("core-files", "core_files", (), off=("core",), is_bare=True),
    Row("tmp-size", "larger_than", ("/tmp", 1024 * MIB), off=("sizes",)),
    Row("shm-size", "larger_than", ("/dev/shm", 256 * MIB), off=("sizes",)),
    Row("run-filled", "fill", ("/run/fill", 65 * MIB), off=("sizes",)),
]


class Rows:
    @classmethod
    def setUpClass(cls):
        cls.identity = identity_of(cls.who)

    @classmethod
    def tearDownClass(cls):
        if cls.identity:
            cls.identity.close()

    def setUp(self):
        self.need(self.identity, "not root")

    def attack(self, row, **kw):
        with Jail(self.identity, **kw) as jail:
            result = jail.attack(row.attack, *map(str, row.args))
            self.assertTrue(jail.is_alive, "the sandbox lives on")
            self.assertEqual(jail.execute("true")[0], 0, "and runs what is asked")
            return result

    def check(self, row):
        for in_cgroup in row.cgroup:
            if in_cgroup and not self.identity.can_cgroup():
                continue
            with self.subTest("guarded", cgroup=in_cgroup):
                is_through, sign = self.attack(row, cgroup=in_cgroup, **row.limits)
                self.assertFalse(is_through, sign)
        with self.subTest("control"):
            is_through, sign = self.attack(row, off=row.off, plain=row.plain, **(row.limits if row.plain else {}))
            if not is_through and row.is_bare and not attack_bare(self.identity, row.plain, row.attack, *map(str, row.args))[0]:
                print(f"{row.name}, {self.who}: no control, this machine refuses it by itself: {sign}")
                return
            self.assertTrue(is_through, f"{row.name} does not work without the limit: {sign}")

    def test_the_number_of_processes_binds_for_roots_sandboxes_by_their_user(self):
        if not self.identity.is_root:
            return
        row = next(r for r in ROWS if r.name == "processes")
        self.assertTrue(self.attack(row, off=["host-user"], **row.limits)[0], "root is not counted by the kernel")

    def test_when_memory_runs_out_a_job_goes_before_the_daemon_and_that_before_the_backend(self):
        with Jail(self.identity) as jail:
            backend, daemon = (Path(f"/proc/{pid}/oom_score_adj").read_text().strip() for pid in (jail.host_pid, jail.daemon))
            self.assertFalse(jail.attack("as_hard_to_kill", backend)[0])
            self.assertFalse(jail.attack("as_hard_to_kill", daemon)[0])
            self.assertGreater(int(daemon), int(backend))
            self.assertTrue(attack_bare(self.identity, True, "as_hard_to_kill", backend)[0], "a process of no sandbox is as hard to kill")
            # only who has CAP_SYS_RESOURCE sets a score that others cannot lower again (proc_pid_oom_score_adj(5))
            if self.identity.is_root and int(_status()["CapEff"], 16) >> 24 & 1:
                self.assertFalse(jail.attack("lower_score")[0])
                self.assertTrue(attack_bare(self.identity, True, "lower_score")[0])

    def make(self, backend, name, storage, inodes):
        """A sandbox of that size, by the first template."""
        template = backend.object(local.TEMPLATES + "/local")
        template["spec"]["podTemplate"]["metadata"] = {"annotations": {"limits.sandmux.local/inodes": str(inodes)}}
        template["spec"]["volumeClaimTemplates"][0]["spec"]["resources"] = {"requests": {"storage": storage}}
        self.assertEqual(backend.call("PUT", local.TEMPLATES + "/local", template).code, 200)
        backend.ready_claim(name)

    def test_disk_and_inodes_of_a_workspace(self):
        """Which the backend measures: who takes more is stopped. The control has room for the same."""
        backend = JailBackend(self.identity, warm=0)
        self.addCleanup(backend.stop)
        env = {**self.identity.env, "KUBECONFIG": str(backend.kubeconfig)}
        self.make(backend, "roomy", "200Mi", 10000)
        self.make(backend, "flat", "20Mi", 10000)
        self.make(backend, "few", "200Mi", 300)
        greedy = {"flat": "head -c 41943040 /dev/zero > big", "few": "seq 600 | xargs touch"}
        for name, script in greedy.items():
            for where in (name, "roomy"):
                subprocess.run(self.identity.argv([self.identity.bin / "sandmux", "run", where, "--", "sh", "-c", script]), env=env, timeout=60,
                               capture_output=True)
        for name in greedy:
            local.wait_for(f"{name} is stopped", lambda: backend.pod(name).get("status", {}).get("reason") == "Evicted")
        self.assertTrue(local.is_ready(backend.pod("roomy")))
        self.assertEqual((backend.workspace("roomy") / "big").stat().st_size, 40 * MIB)

    def test_processor_time_by_cgroup(self):
        if not self.identity.can_cgroup():
            return

        def group(jail):
            path = next((line.split(":", 2)[2] for line in Path(f"/proc/{jail.daemon}/cgroup").read_text().splitlines()
                         if line.startswith("0::") and len(line) > 5 or "cpu" in line.split(":")[1].split(",")))
            for root in ("/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup"):
                if (Path(root + path) / "cpu.stat").exists():
                    return Path(root + path)
            raise AssertionError(f"no cpu.stat of {path}")

        def throttled(jail):
            return int(dict(line.split() for line in (group(jail) / "cpu.stat").read_text().splitlines()).get("nr_throttled", 0))
        with Jail(self.identity, cgroup=True, cpu_milli=100) as jail:
            self.assertIn("cpu", jail.cgroups)
            # on a busy machine it would not get as much as it may: here it goes before all others
            for name, most in (("cpu.shares", "262144"), ("cpu.weight", "10000")):
                if (group(jail) / name).exists():
                    (group(jail) / name).write_text(most)
            before = throttled(jail)
            jail.attack("burn", 50)
            self.assertGreater(throttled(jail), before)
        with Jail(self.identity, cgroup=True, cpu_milli=64000, memory=512 * MIB) as jail:
            before = throttled(jail)
            jail.attack("burn", 50)
            self.assertEqual(throttled(jail), before)

    def test_a_bomb_of_processes_leaves_the_sandbox_usable(self):
        """More than may be, again and again, and then all at once gone."""
        with Jail(self.identity, cgroup=self.identity.can_cgroup(), pids=40) as jail:
            for _ in range(3):
                self.assertFalse(jail.attack("take_processes", 80)[0])
            self.assertEqual(jail.execute("sh", "-c", "exit 7")[0], 7)


for _row in ROWS:
    def _test(self, row=_row):
        self.check(row)
    setattr(Rows, "test_" + _row.name.replace("-", "_"), _test)


def _for(who):
    skipped = {"test_" + r.name.replace("-", "_"): None for r in ROWS if who not in r.who}
    return type("As" + who.capitalize(), (Rows, Case), {"who": who, **skipped})


AsRoot, AsUser = _for("root"), _for("user")

if __name__ == "__main__":
    main()
