# SPDX-License-Identifier: Apache-2.0
"""What a process in a sandbox can see and reach, asked from inside. Each check has its control outside: what must not be
reached from there is reached from here."""
import os
import socket
import tempfile
from pathlib import Path

from harness.case import Case, main

from backend import Backend

MARK = "sandmux-isolation-mark"


class Isolation(Case):
    @classmethod
    def setUpClass(cls):
        os.environ["SANDMUX_TEST_MARK"] = MARK  # the backend has it, the sandbox must not
        cls.folder = tempfile.TemporaryDirectory(prefix="sandmux-test-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.b = Backend(Path(cls.folder.name) / "state", warm=0)
        cls.addClassCleanup(cls.b.stop)
        cls.b.ready_claim("box")

    def inside(self, script, *args, check=0):
        r = self.sandmux("run", "box", "--", "sh", "-c", script, "sh", *args, env={"KUBECONFIG": str(self.b.kubeconfig)}, check=check)
        return r.out.strip()

    def python(self, script, *args):
        """The word that the script prints."""
        return self.inside('python3 -c "$1" "$2"', script, *args)

    def test_the_network_is_its_own(self):
        lines = self.inside("cat /proc/net/dev").splitlines()[2:]
        self.assertEqual([line.split(":")[0].strip() for line in lines], ["lo"])
        self.assertEqual(self.inside("cat /proc/net/route").splitlines()[1:], [])

    def test_the_loopback_of_the_host_is_out_of_reach(self):
        try_it = ("import socket, sys\ntry: socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5); print('reached')\n"
                  "except OSError as e: print('refused')")
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            socket.create_connection(("127.0.0.1", port), 5).close()
            self.assertEqual(self.python(try_it, str(port)), "refused")
        self.assertEqual(self.python(try_it, str(self.b.port)), "refused", "the API server")

    def test_abstract_sockets_of_the_host_are_out_of_reach(self):
        with socket.socket(socket.AF_UNIX) as server:
            name = f"sandmux-test-{os.getpid()}"
            server.bind("\0" + name)
            server.listen()
            with socket.socket(socket.AF_UNIX) as client:
                client.connect("\0" + name)
            self.assertEqual(self.python("import socket, sys\ns = socket.socket(socket.AF_UNIX)\n"
                                         "try: s.connect('\\0' + sys.argv[1]); print('reached')\nexcept OSError: print('refused')", name), "refused")

    def test_no_capabilities_and_no_way_to_get_some(self):
        status = dict(line.split(":\t", 1) for line in self.inside("cat /proc/self/status").splitlines())
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(status[name], 16), 0, name)
        self.assertEqual(status["NoNewPrivs"], "1")

    def test_every_namespace_is_its_own(self):
        for name in ("user", "pid", "net", "ipc", "uts", "mnt"):
            self.assertNotEqual(self.inside(f"readlink /proc/self/ns/{name}"), os.readlink(f"/proc/self/ns/{name}"), name)
        self.assertNotEqual(self.inside("cat /proc/sys/kernel/hostname"), socket.gethostname())

    def test_processes_of_the_host_are_not_there(self):
        pids = [int(n) for n in self.inside("ls /proc").split() if n.isdigit()]
        self.assertLess(len(pids), 12, pids)
        commands = self.inside("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
        self.assertNotIn("sandmux-locald", commands)
        self.assertIn("cat /proc/", commands)

    def test_the_session_is_its_own(self):
        """A session that began outside would be 0 here, and its terminal could be typed into."""
        for pid in (1, "self"):
            fields = self.inside(f"cat /proc/{pid}/stat").rsplit(")", 1)[1].split()
            self.assertNotEqual(fields[3], "0", f"session of {pid}")
            self.assertEqual(fields[4], "0", f"terminal of {pid}")

    def test_no_files_of_the_host(self):
        with tempfile.NamedTemporaryFile(prefix="sandmux-test-", dir="/tmp", mode="w") as mark:
            mark.write(MARK)
            mark.flush()
            os.chmod(mark.name, 0o644)
            self.assertEqual(self.inside('cat "$1" 2>/dev/null || echo none', mark.name), "none")
        for path in (self.b.state, self.b.state / "token", Path.home(), "/root", "/home", "/etc/shadow", "/var/lib", "/boot", "/opt", "/srv",
                     "/etc/machine-id", "/sys/class/net"):
            self.assertEqual(self.inside('if [ -s "$1" ] && [ -n "$(ls -A "$1" 2>/dev/null)" ]; then echo there; else echo none; fi', str(path)), "none", path)
        self.assertNotIn(MARK, self.inside("env; cat /proc/1/environ 2>/dev/null | tr '\\0' '\\n'"))
        self.assertNotIn(self.b.token, self.inside("env; cat /proc/1/environ 2>/dev/null | tr '\\0' '\\n'"))

    def test_what_can_be_written(self):
        for path in ("/usr", "/etc", "/bin", "/lib", "/", "/proc/sys/kernel", "/dev", "/var"):
            self.assertEqual(self.inside('if (: > "$1/sandmux-test") 2>/dev/null; then echo written; else echo no; fi', path), "no", path)
        for path in ("/workspace", "/tmp", "/dev/shm"):
            self.assertEqual(self.inside('echo x > "$1/f" && cat "$1/f" && rm "$1/f"', path), "x", path)
        self.assertEqual(self.inside("if (: > /dev/null) && head -c 4 /dev/urandom | wc -c | grep -q 4; then echo yes; fi"), "yes")

    def test_nothing_of_the_host_is_open(self):
        """Descriptors that a process in the sandbox was given: its three streams, and what ls opens itself."""
        targets = self.inside("for f in /proc/self/fd/*; do readlink $f || true; done").split()
        for target in targets:
            self.assertRegex(target, r"^(/dev/null|pipe:.*|/proc/\d+/fd|/dev/pts/\d+)$")


if __name__ == "__main__":
    main()
