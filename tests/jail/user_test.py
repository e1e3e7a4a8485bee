# SPDX-License-Identifier: Apache-2.0
"""Another user of the machine: what he gets of a backend, its files, its sandboxes and their tokens. Needs root, who can
be everybody. Each attempt is also made where it works: on a copy of the state folder that was laid open, with the right
token, without daemon tokens, on a process of his own."""
import hashlib
import os
import shutil
import socket
import stat
import subprocess
from pathlib import Path

from harness.case import Case, main

from jail import PYTHON, USER, Identity, JailBackend, attack_bare, attack_bare_many, local

OTHER = USER + 1


def sha256(token):
    return hashlib.sha256(token.encode()).hexdigest()


def processes_of(backend):
    """The backend and everything that it has started outside of the sandboxes, by name."""
    found = {"backend": backend.pid}
    for pid in Path(f"/proc/{backend.pid}/task/{backend.pid}/children").read_text().split():
        found[Path(f"/proc/{pid}/comm").read_text().strip()] = int(pid)
    return found


class Cases:
    @classmethod
    def setUpClass(cls):
        cls.b = None
        if os.getuid() != 0:
            return
        cls.identity, cls.other = Identity(cls.who, cls.uid), Identity("other", OTHER)
        cls.addClassCleanup(cls.identity.close)
        cls.addClassCleanup(cls.other.close)
        cls.b = JailBackend(cls.identity, warm=0)
        cls.addClassCleanup(cls.b.stop)
        for name in ("mine", "theirs"):
            cls.b.ready_claim(name)
        cls.address = cls.b.pod("mine")["status"]["podIP"]
        cls.tokens = {name: (cls.b.state / "pods" / cls.b.pod(name)["metadata"]["uid"] / "daemon-token").read_text() for name in ("mine", "theirs")}
        cls.tokens["api"] = cls.b.token
        # the control: the same files, laid open
        cls.open = cls.identity.home / "open"
        shutil.copytree(cls.b.state, cls.open, symlinks=True, ignore=lambda d, names: [n for n in names if not _is_plain(Path(d, n))])
        for folder, _, files in os.walk(cls.open):
            os.chmod(folder, 0o777)
            for name in files:
                os.chmod(os.path.join(folder, name), 0o666)

    def setUp(self):
        self.need(self.b, "not root")

    def gets(self, name, *args):
        """Is it through, when the other user tries it?"""
        return attack_bare(self.other, True, name, *map(str, args))

    def nothing(self, name, *args):
        is_through, sign = self.gets(name, *args)
        self.assertFalse(is_through, f"{name} {args}: {sign}")

    def something(self, name, *args):
        is_through, sign = self.gets(name, *args)
        self.assertTrue(is_through, f"{name} {args}: {sign}")

    def compare(self, rows):
        """[(what, attack, *args)]: "open" must be through, anything else must not."""
        for (what, *attack), result in zip(rows, attack_bare_many(self.other, [row[1:] for row in rows])):
            with self.subTest(f"{what}: {' '.join(map(str, attack))}"):
                self.assertIsNotNone(result, "the attack broke")
                self.assertEqual(result[0], what == "open", result[1])

    # ---- files ----

    def test_files_of_the_state_folder(self):
        rows = []
        for path in (p for p in self.open.glob("**/*") if p.is_file()):
            real = self.b.state / path.relative_to(self.open)
            for attack in ("read", "open_to_write") if path.stat().st_size else ("open_to_write",):
                rows += [("open", attack, path), ("closed", attack, real)]
        self.assertGreater(len(rows), 30)
        self.compare(rows)

    def test_folders_of_the_state_folder(self):
        rows = []
        for path in [self.open, *(p for p in self.open.glob("**/*") if p.is_dir() and any(p.iterdir()))]:
            real = self.b.state / path.relative_to(self.open)
            rows += [("open", "list_folder", path), ("closed", "list_folder", real), ("open", "create", path / "new"), ("closed", "create", real / "new")]
        self.compare(rows)

    def test_what_the_daemon_says_cannot_be_forged(self):
        fifo = next(self.b.state.glob("pods/*/output"))
        self.nothing("open_to_write", fifo)
        mine = self.other.home / "fifo"
        os.mkfifo(mine)
        self.other.give(mine)
        end = os.open(mine, os.O_RDONLY | os.O_NONBLOCK)
        self.something("open_to_write", mine)
        os.close(end)

    # ---- tokens ----

    def test_the_api_without_its_token(self):
        path = "/api/v1/namespaces/default/pods"
        for token in ("", "x" * 48, self.tokens["mine"]):
            self.nothing("request", "https", "127.0.0.1", self.b.port, path, token)
        self.something("request", "https", "127.0.0.1", self.b.port, path, self.tokens["api"])

    def test_a_daemon_without_its_token(self):
        refused = (("none", ""), ("another pod's", self.tokens["theirs"]), ("the API's", self.tokens["api"]), ("its hash", sha256(self.tokens["mine"])))
        self.compare([("open", "request", "http", self.address, 8080, "/v1/files/", self.tokens["mine"]),
                      *((name, "request", "http", self.address, 8080, path, token) for path in ("/v1/files/", "/v1/metadata") for name, token in refused)])

    def test_a_job_without_the_token(self):
        for name, token in (("none", ""), ("another pod's", self.tokens["theirs"])):
            with self.subTest(name):
                self.nothing("run_job", self.address, 9090, token)
        self.something("run_job", self.address, 9090, self.tokens["mine"])

    def test_daemons_without_tokens_serve_everybody(self):
        """Which is what --daemon-auth off says, and what the token is for."""
        b = JailBackend(self.identity, warm=0, daemon_auth="off")
        self.addCleanup(b.stop)
        b.ready_claim("open")
        self.something("request", "http", b.pod("open")["status"]["podIP"], 8080, "/v1/files/", "")

    def test_tokens_in_what_everybody_can_read_of_processes(self):
        for token in self.tokens.values():
            self.nothing("find_token_of_processes", sha256(token))
        leak = subprocess.Popen(self.identity.argv([PYTHON, "-c", "import sys; sys.stdin.read()", self.tokens["mine"]]), stdin=subprocess.PIPE)
        self.addCleanup(lambda: leak.communicate())
        local.wait_for("it runs", lambda: self.tokens["mine"].encode() in Path(f"/proc/{leak.pid}/cmdline").read_bytes())
        self.something("find_token_of_processes", sha256(self.tokens["mine"]))

    def test_tokens_of_the_backend_inside_a_sandbox(self):
        """By a job: neither the pod's own, nor another's, nor the API's."""
        workspace = self.b.workspace("mine")
        shutil.copy(self.identity.attacks, workspace / "attacks.py")
        os.chown(workspace / "attacks.py", workspace.stat().st_uid, -1)
        (workspace / "attacks.py").chmod(0o644)
        env = {**self.identity.env, "KUBECONFIG": str(self.b.kubeconfig)}

        def inside(token):
            r = subprocess.run(self.identity.argv([self.identity.bin / "sandmux", "run", "mine", "--", PYTHON, "attacks.py", "find_token", sha256(token)]),
                               capture_output=True, text=True, env=env, timeout=60)
            self.assertEqual(r.returncode, 0, r.stderr)
            return r.stdout
        for name, token in self.tokens.items():
            with self.subTest(name):
                self.assertRegex(inside(token), "^refused")
        planted = "c" * 48
        (workspace / "leak").write_text(planted)
        (workspace / "leak").chmod(0o644)
        self.assertRegex(inside(planted), "^through in /workspace/leak")

    # ---- processes ----

    def test_processes_of_the_backend(self):
        mine = subprocess.Popen(self.other.argv([PYTHON, "-c", "import sys; sys.stdin.read()"]), stdin=subprocess.PIPE)
        self.addCleanup(lambda: mine.communicate())
        found = processes_of(self.b)
        self.assertEqual(set(found), {"backend", "sandmux-port-pr", "bwrap"})
        local.wait_for("it runs", lambda: b"sys.stdin" in Path(f"/proc/{mine.pid}/cmdline").read_bytes() and _uid_of(mine.pid) == OTHER)
        self.compare([row for attack in ("read_environ", "list_descriptors", "read_memory", "copy_memory", "take_descriptor", "trace", "may_signal")
                      for row in (("open", attack, mine.pid), *((name, attack, pid) for name, pid in found.items()))])

    def test_the_root_of_a_sandbox(self):
        bwrap = processes_of(self.b)["bwrap"]
        daemon = int(Path(f"/proc/{bwrap}/task/{bwrap}/children").read_text().split()[0])
        root = Path("/proc", str(daemon), "root")
        self.nothing("list_folder", root / "workspace")
        self.nothing("connect_unix", root / "run/sandmux/rest.sock")
        self.nothing("open_to_write", f"/proc/{daemon}/cwd/new")
        self.something("list_folder", f"/proc/self/root{self.open}")

    # ---- before it starts, and beside it ----

    def refuses_to_start(self, folder):
        r = subprocess.run(self.identity.argv([self.identity.bin / "sandmux-locald", "--state-dir", folder, "--stderr"]), capture_output=True,
                           text=True, timeout=60, env=self.identity.env)
        self.assertNotEqual(r.returncode, 0)
        return r.stderr

    def as_other(self, script, *args):
        subprocess.run(self.other.argv(["sh", "-euc", script, "sh", *args]), check=True, cwd=self.other.home)

    def shared_folder(self, name, mode):
        """As /tmp is, or as it must not be."""
        path = self.identity.home / name
        path.mkdir()
        path.chmod(mode)
        return path

    def test_a_state_folder_that_somebody_else_has_laid_out(self):
        rows = (
            ("a folder of his", "mkdir -m 0777 \"$1/state\"", "belongs to somebody else"),
            ("a folder of his, with a token that he knows", "mkdir -m 0777 \"$1/state\"; umask 0; echo aaaaaaaaaaaaaaaaaaaaaaaa > \"$1/state/token\"",
             "belongs to somebody else"),
            ("a link into a folder of his", "mkdir -m 0777 \"$2/trap\"; ln -s \"$2/trap\" \"$1/state\"", ""),
        )
        for i, (name, script, why) in enumerate(rows):
            with self.subTest(name):
                shared = self.shared_folder(f"sticky{i}", 0o1777)
                self.as_other(script, str(shared), str(self.other.home))
                self.assertIn(why, self.refuses_to_start(shared / "state"))
                self.as_other("rm -rf \"$2/trap\"", str(shared), str(self.other.home))

    def test_a_state_folder_in_a_folder_that_others_may_rename(self):
        shared = self.shared_folder("open-parent", 0o777)
        self.assertIn("can be changed by others", self.refuses_to_start(shared / "state"))

    def test_a_second_name_for_the_token(self):
        """A hard link that was made while the folder was open stays when the folder is closed."""
        shared = self.shared_folder("linked", 0o1777)
        state = shared / "state"
        state.mkdir(mode=0o700)
        self.identity.give(state)
        token = state / "token"
        token.write_text("b" * 48)
        token.chmod(0o600)
        self.identity.give(token)
        os.link(token, shared / "second")
        self.assertIn("second name", self.refuses_to_start(state))

    def test_a_state_folder_of_ones_own_in_a_shared_folder_starts(self):
        """The control of the four above."""
        shared = self.shared_folder("sticky-good", 0o1777)
        state = shared / "state"
        state.mkdir(mode=0o700)
        self.identity.give(state)
        b = JailBackend(self.identity, warm=0, state=state)
        self.addCleanup(b.stop)
        self.assertEqual(b.get(local.PODS).code, 200)

    def test_whoever_sits_on_the_next_addresses_gets_no_visitor(self):
        a, b, c, d = map(int, self.address.split("."))
        squatters = []
        for i in range(1, 9):
            for port in (8080, 9090):
                try:
                    s = socket.create_server((f"{a}.{b}.{c}.{(d + i - 1) % 254 + 1}", port))
                except OSError:
                    continue  # a sandbox is there
                s.setblocking(False)
                squatters.append(s)
                self.addCleanup(s.close)
        self.assertGreater(len(squatters), 4)
        self.b.ready_claim("late")
        self.assertNotIn(self.b.pod("late")["status"]["podIP"], {s.getsockname()[0] for s in squatters})
        for s in squatters:
            self.assertRaises(BlockingIOError, s.accept)
        with socket.create_connection(squatters[0].getsockname()):  # the control: who connects is seen
            squatters[0].setblocking(True)
            squatters[0].accept()[0].close()

    def test_idle_connections_of_somebody_else_do_not_shut_others_out(self):
        """Several hundred to the API and to a sandbox, and neither stops to answer who has the token."""
        crowd = []
        self.addCleanup(lambda: [s.close() for s in crowd])
        for host, port in (("127.0.0.1", self.b.port), (self.address, 8080)):
            for _ in range(300):
                crowd.append(socket.create_connection((host, port), 30))
        self.assertEqual(self.b.get(local.PODS).code, 200)
        self.something("request", "http", self.address, 8080, "/v1/files/", self.tokens["mine"])


def _is_plain(path):
    """A FIFO or a socket cannot be copied; a workspace belongs to somebody else and is of no interest."""
    mode = path.lstat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _uid_of(pid):
    return os.stat(f"/proc/{pid}").st_uid


class OfRoot(Cases, Case):
    """Against a backend of root's."""
    who, uid = "root", 0


class OfUser(Cases, Case):
    """Against an ordinary user's."""
    who, uid = "user", USER


if __name__ == "__main__":
    main()
