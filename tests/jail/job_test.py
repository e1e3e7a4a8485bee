# SPDX-License-Identifier: Apache-2.0
"""A hostile job: every row of table.py against a whole sandbox, with and without a cgroup, started by root and by an
ordinary user; and, for each, a sandbox with those guards off in which it works."""
import ctypes
import os
import shutil
import socket
import subprocess
from pathlib import Path

from harness.case import Case, main

import table
from jail import TOKEN, TOKEN_SHA256, Greeter, Jail, attack_bare, identity_of, libc, rpc

KEY = "sandmux-test"


def landlock_abi():
    libc.syscall.restype = ctypes.c_long
    return max(0, libc.syscall(444, None, 0, 1))


class Segment:
    """System V memory and a queue under one key, for everybody."""

    def __init__(self):
        self.key = 0x5A000000 + os.getpid()
        self.memory = libc.shmget(self.key, 4096, 0o1666)
        self.queue = libc.msgget(self.key, 0o1666)
        libc.shmat.restype = ctypes.c_void_p
        at = libc.shmat(self.memory, None, 0)
        ctypes.memmove(at, b"greetings\0", 10)
        libc.shmdt(ctypes.c_void_p(at))

    def close(self):
        libc.shmctl(self.memory, 0, None)
        libc.msgctl(self.queue, 0, None)


class World:
    """What one identity's sandboxes may not reach, and the sandboxes, each made when it is first asked for."""

    def __init__(self, identity):
        self.identity = identity
        self.jails = {}
        self.tcp, self.udp = Greeter(), Greeter(kind=socket.SOCK_DGRAM)
        self.tcp6 = Greeter(socket.AF_INET6, ("::1", 0)) if Path("/proc/net/if_inet6").read_text().strip() else None
        self.abstract = f"@sandmux-test-{os.getpid()}-{identity.name}"
        self.greeters = [self.tcp, self.udp, Greeter(socket.AF_UNIX, "\0" + self.abstract[1:])]
        self.folder = identity.folder("world")
        self.folder.chmod(0o711)
        self.unix = self.folder / "greeter.sock"
        self.greeters.append(Greeter(socket.AF_UNIX, str(self.unix)))
        self.unix.chmod(0o666)
        self.segment = Segment()
        self.shm = Path(f"/dev/shm/sandmux-test-{os.getpid()}-{identity.name}")
        self.shm.write_text("the host's\n")
        self.shm.chmod(0o666)
        for name, mode in (("marker", 0o666), ("private", 0o600)):
            (self.folder / name).write_text("the host's\n")
            (self.folder / name).chmod(mode)
            identity.give(self.folder / name)
        self.others, self.results = {}, {}

    def jail(self, off=(), cgroup=False, plain=False):
        key = (tuple(sorted(off)), cgroup, plain)
        if key not in self.jails:
            limits = {"memory": 512 << 20, "pids": 200} if cgroup else {}
            self.jails[key] = Jail(self.identity, off=off, cgroup=cgroup, plain=plain, key=KEY, **limits)
            if cgroup and not self.jails[key].cgroups:
                raise AssertionError("the cgroup does not hold it")
        return self.jails[key]

    def other(self, off):
        """A second sandbox with a job, whole where the first one is, and open where that is."""
        is_open = bool(off)
        if is_open not in self.others:
            jail = Jail(self.identity, off=("network", "pids", "landlock", "host-user") if is_open and self.identity.is_root
                        else ("network", "pids", "landlock") if is_open else ())
            secret = jail.workspace / "secret"
            secret.write_text("another's\n")
            secret.chmod(0o600)
            if os.getuid() == 0 and "host-user" not in jail.off:
                os.chown(secret, jail.host_uid, -1)
            jail.workspace.chmod(0o700)
            abstract = f"@sandmux-other-{os.getpid()}-{self.identity.name}-{is_open}"
            jobs = [jail.start("listen", abstract), jail.start("listen", "127.0.0.1", "0")]
            for job in jobs:
                job.wait_out(b"listening")
            pid = next(p for p in map(int, filter(str.isdigit, os.listdir("/proc"))) if self._is_job(p, abstract))
            self.others[is_open] = {"jail": jail, "jobs": jobs, "other_abstract": abstract, "other_port": jobs[1].out.split()[1].decode(),
                                    "other_address": jail.address, "other_rest": jail.rest, "other_job": pid, "other_file": secret}
        return self.others[is_open]

    @staticmethod
    def _is_job(pid, text):
        try:
            return text.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False

    def facts(self, jail):
        procs = Path("/sys/fs/cgroup/cgroup.procs")
        return {"port": self.tcp.port, "udp_port": self.udp.port, "port6": self.tcp6.port if self.tcp6 else 1, "abstract": self.abstract,
                "unix": self.unix, "marker": self.folder / "marker", "private": self.folder / "private", "shm": self.shm, "daemon": jail.inner_daemon,
                "host_pid": jail.host_pid, "proxy": jail.children().get("sandmux-port-pr", 1), "ipc_key": self.segment.key, "key": KEY,
                "here": "." if jail.has_pids else jail.workspace,
                "cgroup_procs": procs if procs.exists() else "/sys/fs/cgroup/pids/cgroup.procs",
                **{k: v for k, v in self.other(jail.off).items() if k.startswith("other_")}}

    def attack(self, row, jail):
        facts = self.facts(jail)
        return jail.attack(row.attack, *(a.format(**facts) for a in row.args))

    def guarded(self, row, cgroup):
        """Against a whole sandbox: all rows are tried at the first question."""
        if cgroup not in self.results:
            jail = self.jail((), cgroup)
            facts = self.facts(jail)
            rows = [r for r in table.ROWS if self.identity.name in r.who]
            answers = jail.attack_many([(r.attack, *(a.format(**facts) for a in r.args)) for r in rows])
            self.results[cgroup] = {r.name: answer for r, answer in zip(rows, answers)}
        return self.results[cgroup][row.name]

    def close(self):
        for other in self.others.values():
            other["jail"].close()
        for jail in self.jails.values():
            jail.close()
        for greeter in self.greeters:
            greeter.close()
        self.segment.close()
        self.shm.unlink()
        self.identity.close()


class Rows:
    """Mixed into a class for each identity; a test method for each row is put in below."""

    @classmethod
    def setUpClass(cls):
        identity = identity_of(cls.who)
        cls.world = World(identity) if identity else None

    @classmethod
    def tearDownClass(cls):
        if cls.world:
            cls.world.close()

    def setUp(self):
        self.need(self.world, "not root")

    def refused(self, row, result):
        self.assertIsNotNone(result, f"{row.name}: the attack broke")
        is_through, sign = result
        self.assertFalse(is_through, f"{row.name} is through: {sign}")

    def control(self, row, off):
        """It works with the guards off; and each of them alone refuses it."""
        identity = self.world.identity
        jail = self.world.jail((), plain=True) if row.plain else self.world.jail(off)
        is_through, sign = self.world.attack(row, jail)
        if not is_through and row.is_bare:
            facts = self.world.facts(jail)
            facts["here"] = identity.home
            by_itself, why = attack_bare(identity, row.plain, row.attack, *(a.format(**facts) for a in row.args))
            if not by_itself:
                print(f"{row.name}, {identity.name}: no control, this machine refuses it by itself: {why}")
                return
        self.assertTrue(is_through, f"{row.name} does not work without {off or 'any guard'}: {sign}")
        for guard in off if len(off) > 1 else ():
            with self.subTest(alone=guard):
                if guard != "landlock" or landlock_abi() >= row.landlock:
                    self.refused(row, self.world.attack(row, self.world.jail([g for g in off if g != guard])))

    def check(self, row):
        with self.subTest("guarded"):
            self.refused(row, self.world.guarded(row, False))
        if self.world.identity.can_cgroup():
            with self.subTest("guarded, in a cgroup"):
                self.refused(row, self.world.guarded(row, True))
        with self.subTest("control"):
            self.control(row, row.guards(self.world.identity))

    # ---- what needs more than a row

    def test_debuggers_work_on_their_own_children(self):
        jail = self.world.jail()
        self.assertEqual(jail.attack("debug_own_child"), (True, "traced; it exited with 7"))
        for argv in (("strace", "-f", "-o", "/dev/null", "/bin/true"), ("gdb", "-q", "-batch", "-ex", "run", "/bin/true")):
            if shutil.which(argv[0]):
                with self.subTest(argv[0]):
                    is_through, text = jail.attack("run", *argv)
                    self.assertTrue(is_through, text)

    def test_a_setuid_program_gains_nothing(self):
        self.need(os.getuid() == 0, "only root can make one")
        for jail, gains in ((self.world.jail(), False), (self.world.jail(plain=True), True)):
            copy = jail.workspace / "id"
            shutil.copy("/usr/bin/id", copy)
            os.chown(copy, 12345, 12345)
            copy.chmod(0o4755)
            is_through, sign = jail.attack("gain_by_setuid", "./id" if not gains else copy)
            if gains and not is_through and os.statvfs(copy).f_flag & os.ST_NOSUID:
                continue  # the folder for temporary files itself is mounted so
            self.assertEqual(is_through, gains, sign)

    def test_signals_from_inside_do_not_end_the_daemon(self):
        jail = self.world.jail()
        self.assertTrue(jail.attack("terminate", 1)[0], "pid 1 may be asked")
        self.assertTrue(jail.is_alive)
        with Jail(self.world.identity, off=["pids"]) as jail:
            with jail.connect() as conn:
                rpc.Process(conn, ["/usr/bin/python3", "attacks.py", "terminate", str(jail.daemon)], extra=[("authorization", f"Bearer {TOKEN}")])
                self.assertIn("reason", jail.ended())

    def test_a_token_is_nowhere_inside(self):
        found, where = self.world.jail().attack("find_token", TOKEN_SHA256)
        self.assertFalse(found, where)
        code, out, _ = self.world.jail().execute("cat", "/proc/1/cmdline")
        self.assertIn(TOKEN_SHA256, out, "its hash is no secret")
        with Jail(self.world.identity, env=[f"LEAK={TOKEN}"]) as jail:
            self.assertTrue(jail.attack("find_token", TOKEN_SHA256)[0])

    def test_the_daemon_is_no_deputy(self):
        """Names that a job lays out for whoever fetches files: the daemon, which may read more than a job, follows none out."""
        jail = self.world.jail()
        code, _, err = jail.execute("sh", "-euc", "mkdir -p d; cd d; ln -s /proc/1/environ e; ln -s /proc/self/mem m; ln -s /run/sandmux r; ln -s / root; "
                                    "ln -s ../../etc/passwd p; mkfifo f; echo x > x; ln -s x good")
        self.assertEqual(code, 0, err)
        for name in ("e", "m", "r/sandboxd", "root/etc/passwd", "p", "f"):
            with self.subTest(name):
                self.assertGreaterEqual(jail.http("GET", f"/v1/files/d/{name}", TOKEN), 400)
        self.assertEqual(jail.http("GET", "/v1/files/d/good", TOKEN), 200, "the control: a link that stays inside")
        self.assertTrue(jail.is_alive)

    def test_a_job_has_no_say_over_its_daemon(self):
        """It reaches the socket, and lacks the token; with it, it would be served."""
        jail = self.world.jail()
        script = ("import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect('/run/sandmux/rest.sock')\n"
                  "s.sendall(b'GET /v1/files/ HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n' + sys.argv[1].encode() + b'\\r\\n')\n"
                  "print(s.recv(64).split()[1].decode())")
        self.assertEqual(jail.execute("python3", "-c", script, "")[1].strip(), "401")
        self.assertEqual(jail.execute("python3", "-c", script, f"Authorization: Bearer {TOKEN}\r\n")[1].strip(), "200")

    def test_who_takes_the_sockets_name_gets_no_client(self):
        jail = self.world.jail()
        job = jail.start("stand_in", "/run/sandmux/rest.sock", "20")
        job.wait_out(b"standing")
        self.assertEqual([jail.http() for _ in range(3)], [200] * 3, "clients still reach the daemon")
        # the control: who goes by the name
        inside = Path("/proc", str(jail.daemon), "root", "run/sandmux/rest.sock")
        code = ("import os,socket,sys\ns=socket.socket(socket.AF_UNIX)\nfd=os.open(sys.argv[1],os.O_PATH)\n"
                "s.connect(f'/proc/self/fd/{fd}')\ns.sendall(b'GET /v1/health HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')\nprint(s.recv(64))")
        argv = ["setpriv", f"--reuid={jail.host_uid}", f"--regid={jail.host_uid}", "--clear-groups", "--"] if os.getuid() == 0 else []
        got = subprocess.run([*argv, "/usr/bin/python3", "-c", code, inside], capture_output=True, text=True)
        self.assertIn("299 impostor", got.stdout, got.stderr)
        job.wait()
        self.assertIn(b"through", job.out)


for _row in table.ROWS:
    def _test(self, row=_row):
        self.check(row)
    setattr(Rows, "test_" + _row.name.replace(".", "_").replace("-", "_"), _test)


def _for(who):
    """The rows that mean something for this identity."""
    skipped = {"test_" + r.name.replace(".", "_").replace("-", "_"): None for r in table.ROWS if who not in r.who}
    return type("As" + who.capitalize(), (Rows, Case), {"who": who, **skipped})


AsRoot, AsUser = _for("root"), _for("user")

if __name__ == "__main__":
    main()
