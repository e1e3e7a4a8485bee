# SPDX-License-Identifier: Apache-2.0
"""attacks.py NAME [ARGUMENT…]: tries one thing that a job in a sandbox must not be able to do, and prints one line:
"through SIGN" or "refused REASON". Each stops at the smallest sign that it works: what is opened is closed again, what
is stopped goes on, nothing is written that is not taken away. Anything else that happens is an error, and exit 1.

Runs with the machine's own Python inside a sandbox, and outside of any for the controls."""
import ctypes
import errno
import hashlib
import json
import mmap
import os
import platform
import re
import resource
import select
import signal
import socket
import stat
import struct
import subprocess
import sys
import time

libc = ctypes.CDLL(None, use_errno=True)
IS_X86 = platform.machine() == "x86_64"
# x86-64, aarch64 (and whatever else has the generic table)
NUMBERS = {name: pair[0 if IS_X86 else 1] for name, pair in {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "io_uring_setup": (425, 425),
    "userfaultfd": (323, 282), "bpf": (321, 280), "perf_event_open": (298, 241), "unshare": (272, 97), "setns": (308, 268),
    "clone": (56, 220), "clone3": (435, 435), "mount": (165, 40), "chroot": (161, 51), "personality": (135, 92),
    "name_to_handle_at": (303, 264), "fanotify_init": (300, 262), "open_tree": (428, 428), "iopl": (172, None),
    "clock_adjtime": (305, 266), "set_mempolicy": (238, 237), "sysfs": (139, None), "shmget": (29, 194),
    "shmat": (30, 196), "msgget": (68, 186), "syslog": (103, 116), "sethostname": (170, 161), "quotactl": (179, 60)}.items()}
NEWNS, NEWUSER, NEWNET = 0x20000, 0x10000000, 0x40000000
ATTACKS = {}


class Refused(Exception):
    pass


def attack(f):
    ATTACKS[f.__name__] = f
    return f


def call(name, *args):
    """A system call by its number; OSError as it says."""
    if NUMBERS[name] is None:
        raise Refused("this machine has no such call")
    return raw(NUMBERS[name], *args)


def raw(number, *args):
    ctypes.set_errno(0)
    libc.syscall.restype = ctypes.c_long
    r = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    if r < 0:
        e = ctypes.get_errno()
        raise OSError(e, os.strerror(e))
    return r


def in_child(f):
    """What f returns in a process of its own, which it may spoil; its OSError too."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            text = "1" + str(f())
        except OSError as e:
            text = f"0{e.errno}"
        except Refused as e:
            text = f"2{e}"
        except MemoryError:
            text = "2no memory"
        except BaseException as e:
            text = f"3{e!r}"
        os.write(w, text.encode())
        os._exit(0)
    os.close(w)
    text = os.read(r, 4096).decode()
    os.close(r)
    status = os.waitpid(pid, 0)[1]
    if not text:
        raise Refused(f"it ended with wait status {status}")
    if text[0] == "0":
        raise OSError(int(text[1:]), os.strerror(int(text[1:])))
    if text[0] == "2":
        raise Refused(text[1:])
    if text[0] == "3":
        raise RuntimeError(text[1:])
    return text[1:]


# ---- the network of the host ----

@attack
def connect(host, port):
    """To a listener that greets."""
    with socket.create_connection((host, int(port)), 5) as s:
        return greeting(s)


def greeting(s):
    s.settimeout(5)
    got = s.recv(64)
    if not got:
        raise Refused("nobody greets")
    return got.decode(errors="replace").strip()


@attack
def datagram(host, port):
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.connect((host, int(port)))
        s.settimeout(5)
        s.send(b"?")
        return s.recv(64).decode()


@attack
def connect_unix(path):
    """@NAME is an abstract one."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect("\0" + path[1:] if path[0] == "@" else path)
        return greeting(s)


@attack
def sees_listener(port):
    wanted = f":{int(port):04X} "
    for line in open("/proc/net/tcp"):
        if wanted in line and " 0A " in line:
            return line.strip()
    raise Refused("not in /proc/net/tcp")


@attack
def answers(host, port):
    """To an HTTP server."""
    with socket.create_connection((host, int(port)), 5) as s:
        s.sendall(b"GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return greeting(s).split("\r")[0]


@attack
def family(number, kind, protocol="0"):
    with socket.socket(int(number), int(kind), int(protocol)) as s:
        return f"socket {s.fileno()}"


@attack
def families(*allowed):
    """Any family besides those that are told."""
    opened = []
    for number in range(1, 64):
        for kind in (1, 2, 3, 5):
            try:
                socket.socket(number, kind, 0).close()
                opened.append(number)
            except OSError:
                pass
    more = sorted(set(opened) - {int(n) for n in allowed})
    if not more:
        raise Refused(f"only {sorted(set(opened))}")
    return f"families {more}"


def take_descriptors(pid):
    pidfd = call("pidfd_open", int(pid), 0)
    failure = None
    try:
        for fd in range(256):
            try:
                yield call("pidfd_getfd", pidfd, fd, 0)
            except OSError as e:
                if e.errno != errno.EBADF:
                    failure = e
    finally:
        os.close(pidfd)
    if failure:
        raise failure


@attack
def take_descriptor(pid):
    for fd in take_descriptors(pid):
        os.close(fd)
        return f"descriptor {fd}"


@attack
def use_taken_listener(pid, host, port):
    """A listening socket of the process is turned round, and connects from the network that it belongs to."""
    seen = []
    for fd in take_descriptors(pid):
        try:
            s = socket.socket(fileno=fd)
        except OSError:
            os.close(fd)
            continue
        seen.append(s.family.name if hasattr(s.family, "name") else s.family)
        if s.family == socket.AF_INET and s.type & 15 == socket.SOCK_STREAM and s.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            s.shutdown(socket.SHUT_RDWR)
            s.settimeout(5)
            s.connect((host, int(port)))
            return greeting(s)
    raise Refused(f"no listening TCP socket among {seen}")


# ---- processes, the daemon first ----

@attack
def trace(pid):
    call("ptrace", 0x4206, int(pid), 0, 0)  # PTRACE_SEIZE stops nothing
    return "traced"


@attack
def read_memory(pid):
    os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))
    return "opened"


@attack
def copy_memory(pid):
    local = ctypes.create_string_buffer(8)
    mine = struct.pack("PN", ctypes.addressof(local), 8)
    theirs = struct.pack("PN", 4096, 8)
    try:
        call("process_vm_readv", int(pid), mine, 1, theirs, 1, 0)
    except OSError as e:
        if e.errno != errno.EFAULT:
            raise
    return "asked for an address"


@attack
def read_environ(pid):
    with open(f"/proc/{pid}/environ", "rb") as f:
        return f"{len(f.read())} bytes"


@attack
def list_descriptors(pid):
    names = os.listdir(f"/proc/{pid}/fd")
    return f"{len(names)} descriptors, {os.readlink(f'/proc/{pid}/fd/{names[0]}')}"


@attack
def open_descriptor(pid, fd):
    os.close(os.open(f"/proc/{pid}/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK))
    return "opened"


def state_of(pid):
    fields = dict(line.split(":\t", 1) for line in open(f"/proc/{pid}/status"))
    pending = int(fields["SigPnd"], 16) | int(fields["ShdPnd"], 16)
    return fields["State"][0], pending >> (signal.SIGSTOP - 1) & 1


@attack
def stop(pid):
    """Stops it, sees that, and lets it go on."""
    pid = int(pid)
    os.kill(pid, signal.SIGSTOP)
    try:
        while True:
            state, is_pending = state_of(pid)
            if state == "T":
                return "stopped"
            if not is_pending and state_of(pid)[0] != "T":
                raise Refused("it goes on")
    finally:
        os.kill(pid, signal.SIGCONT)


@attack
def terminate(pid):
    """Sends what ends a process. What came of it is seen from outside."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL):
        os.kill(int(pid), number)
    return "sent"


@attack
def may_signal(pid):
    os.kill(int(pid), 0)
    return "allowed"


@attack
def sees_process(pid, name):
    found = open(f"/proc/{pid}/comm").read().strip()
    if found != name:
        raise Refused(f"{pid} is {found}")
    return found


@attack
def open_by_root_of(pid, path):
    os.close(os.open(f"/proc/{pid}/root{path}", os.O_RDONLY))
    return "opened"


@attack
def debug_own_child():
    """Not an attack: it has to work."""
    def child():
        call("ptrace", 0, 0, 0, 0)  # PTRACE_TRACEME
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(7)
    pid = os.fork()
    if pid == 0:
        child()
    if not os.WIFSTOPPED(os.waitpid(pid, 0)[1]):
        raise Refused("it did not stop")
    os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))
    take = call("pidfd_open", pid, 0)
    os.close(call("pidfd_getfd", take, 0, 0))
    call("ptrace", 7, pid, 0, 0)  # PTRACE_CONT
    status = os.waitpid(pid, 0)[1]
    return f"traced; it exited with {os.WEXITSTATUS(status)}"


@attack
def run(*argv):
    """A program of the machine, whole: "through" when it exits with 0."""
    r = subprocess.run(argv, capture_output=True, text=True)
    if r.returncode:
        raise Refused(f"exit {r.returncode}: {r.stderr[-200:]!r}")
    return r.stdout.strip()[-200:]


# ---- files ----

@attack
def open_to_write(path):
    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
    return "opened"


@attack
def read(path):
    with open(path, "rb") as f:
        got = f.read(64)
    if not got:
        raise Refused("it is empty")
    return f"{len(got)} bytes"


@attack
def list_folder(path):
    names = os.listdir(path)
    if not names:
        raise Refused("it is empty")
    return f"{len(names)} names"


@attack
def create(path):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    os.unlink(path)
    return "made"


@attack
def mount_flags(path):
    """May a setuid program or a device work there?"""
    flags = os.statvfs(path).f_flag
    if flags & os.ST_NOSUID and flags & os.ST_NODEV:
        raise Refused("nosuid, nodev")
    return f"flags {flags:#x}"


@attack
def gain_by_setuid(path):
    """A setuid copy of id."""
    got = subprocess.run([path, "-u"], capture_output=True, text=True).stdout.strip()
    if got == str(os.getuid()):
        raise Refused(f"still {got}")
    return f"became {got}"


@attack
def make_device(path):
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    os.unlink(path)
    return "made"


@attack
def give_away(path, uid):
    with open(path, "w"):
        pass
    try:
        os.chown(path, int(uid), -1)
    finally:
        os.unlink(path)
    return "given"


@attack
def open_disk():
    for name in os.listdir("/dev"):
        if stat.S_ISBLK(os.stat(f"/dev/{name}").st_mode):
            try:
                os.close(os.open(f"/dev/{name}", os.O_RDONLY | os.O_NONBLOCK))
                return name
            except OSError as e:
                if e.errno not in (errno.ENXIO, errno.ENOMEDIUM):
                    raise
    raise Refused("no block device")


@attack
def unusual_devices():
    usual = {"null", "zero", "full", "random", "urandom", "tty", "ptmx", "console", "core", "fd", "stdin", "stdout", "stderr", "pts", "shm"}
    more = [n for n in os.listdir("/dev") if n not in usual]
    if not more:
        raise Refused("only the usual ones")
    return " ".join(sorted(more)[:8])


@attack
def change_root():
    return in_child(lambda: call("chroot", b"/\0"))


@attack
def enter_namespace(name):
    fd = os.open(f"/proc/self/ns/{name}", os.O_RDONLY)
    return in_child(lambda: call("setns", fd, 0))


# ---- what the kernel keeps ----

@attack
def find_key(name):
    failure = None
    for ring in (-3, -5, -4):  # of the session, the user's session, the user
        try:
            return f"key {call('keyctl', 10, ring, b'user' + bytes(1), name.encode() + bytes(1), 0)}"
        except OSError as e:
            failure = failure or e
    raise failure


@attack
def make_key():
    return f"key {call('add_key', b'user' + bytes(1), b'sandmux-test' + bytes(1), b'x', 1, -2)}"  # of this process alone


@attack
def ask_for_key():
    try:
        call("request_key", b"user\0", b"sandmux-no-such-key\0", 0, 0)
    except OSError as e:
        if e.errno != errno.ENOKEY:
            raise
    return "was looked for"


@attack
def shared_memory(key):
    number = call("shmget", int(key), 0, 0)
    address = call("shmat", number, 0, 0)
    return ctypes.string_at(address).decode()


@attack
def message_queue(key):
    return f"queue {call('msgget', int(key), 0)}"


@attack
def io_uring():
    fd = call("io_uring_setup", 1, ctypes.create_string_buffer(120))
    os.close(fd)
    return f"ring {fd}"


@attack
def page_faults():
    fd = call("userfaultfd", 1)  # UFFD_USER_MODE_ONLY
    os.close(fd)
    return f"descriptor {fd}"


@attack
def kernel_programs():
    """bpf(BPF_OBJ_GET) of a name that is not there: its own answer is the sign."""
    path = ctypes.create_string_buffer(b"/nonexistent")
    attr = ctypes.create_string_buffer(struct.pack("QII", ctypes.addressof(path), 0, 0), 128)
    try:
        call("bpf", 7, attr, 16)
    except OSError as e:
        if e.errno not in (errno.ENOENT, errno.EINVAL):
            raise
    return "was asked"


@attack
def performance_counters():
    attr = ctypes.create_string_buffer(struct.pack("IIQQQQQ", 1, 128, 0, 0, 0, 0, 0x61), 128)
    fd = call("perf_event_open", attr, 0, -1, -1, 0)
    os.close(fd)
    return f"counter {fd}"


@attack
def user_namespace():
    return in_child(lambda: call("unshare", NEWUSER))


@attack
def clone_user_namespace():
    pid = call("clone", NEWUSER | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "a child"


@attack
def clone3_user_namespace():
    args = ctypes.create_string_buffer(struct.pack("QQQQQQQQ", NEWUSER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0))
    pid = call("clone3", args, 64)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "a child"


@attack
def mount_of_own():
    def child():
        call("unshare", NEWUSER | NEWNS)
        return call("mount", b"x\0", b"/tmp\0", b"tmpfs\0", 0, 0)
    return in_child(child)


@attack
def packets_of_own():
    def child():
        call("unshare", NEWUSER | NEWNET)
        return socket.socket(socket.AF_PACKET, socket.SOCK_RAW).fileno()
    return in_child(child)


@attack
def odd_personality():
    return in_child(lambda: call("personality", 0x0400000))  # READ_IMPLIES_EXEC


@attack
def type_into_terminal(number="0x5412"):
    """TIOCSTI into a terminal of its own, as into that of a person who looks."""
    import fcntl
    import pty

    def child():
        _, slave = pty.openpty()
        os.setsid()
        fcntl.ioctl(slave, 0x540E, 0)  # TIOCSCTTY
        fcntl.ioctl(slave, int(number, 16), b"x")
        return "typed"
    return in_child(child)


@attack
def file_handle():
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
    number = ctypes.c_int()
    try:
        call("name_to_handle_at", -100, b"/tmp\0", handle, ctypes.byref(number), 0)
    except OSError as e:
        if e.errno not in (errno.EOPNOTSUPP, errno.EOVERFLOW):
            raise
    return "was asked"


@attack
def watch_files():
    fd = call("fanotify_init", 0x200, 0)  # FAN_REPORT_FID: without privileges since Linux 5.13
    os.close(fd)
    return f"descriptor {fd}"


@attack
def tree_descriptor():
    fd = call("open_tree", -100, b"/\0", 0)
    os.close(fd)
    return f"descriptor {fd}"


@attack
def port_privilege():
    return f"level {call('iopl', 0)}"


@attack
def clock_settings():
    return f"state {call('clock_adjtime', 0, ctypes.create_string_buffer(256))}"  # reads, since no mode is set


@attack
def memory_policy():
    return f"{call('set_mempolicy', 0, 0, 0)}"


@attack
def kernel_log():
    return f"{call('syslog', 10, 0, 0)} bytes"  # its size


@attack
def quota():
    """Q_SYNC of everything, which does nothing where there is no quota."""
    return f"{call('quotactl', 0x800001 << 8, 0, 0, 0)}"


def low_memory(content, prot):
    """Where a 32-bit call can find it; the mapping lives as long as what is returned."""
    memory = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40, prot=prot)  # MAP_32BIT
    memory.write(content)
    return ctypes.c_char.from_buffer(memory)


def call_i386(number, first, second=0):
    """Through the door of 32-bit programs."""
    if not IS_X86:
        raise Refused("this machine has no such door")
    code = b"\x53\xb8" + struct.pack("<I", number) + b"\xbb" + struct.pack("<I", first) + b"\xb9" + struct.pack("<I", second) + \
        b"\x31\xd2\x31\xf6\xcd\x80\x5b\xc3"
    memory = low_memory(code, 7)
    r = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(memory))()
    if r < 0:
        raise OSError(-r, os.strerror(-r))
    return r


@attack
def user_namespace_i386():
    return in_child(lambda: call_i386(310, NEWUSER))


@attack
def make_key_i386():
    """add_key without a type: EFAULT is its own answer."""
    try:
        return in_child(lambda: call_i386(286, 0))
    except OSError as e:
        if e.errno != errno.EFAULT:
            raise
    return "was asked"


@attack
def family_i386(number, kind, protocol="0"):
    return in_child(lambda: call_i386(359, int(number), int(kind)))


@attack
def family_by_socketcall(number, kind):
    """The arguments lie in memory, where no filter can look."""
    if not IS_X86:
        raise Refused("this machine has no such door")
    arguments = low_memory(struct.pack("<III", int(number), int(kind), 0), 3)
    return in_child(lambda: call_i386(102, 1, ctypes.addressof(arguments)))


@attack
def user_namespace_x32():
    return in_child(lambda: raw(0x40000000 | 272, NEWUSER))


# ---- limits ----

@attack
def take_memory(n):
    def child():
        block = mmap.mmap(-1, int(n), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for at in range(0, int(n), 4096):
            block[at] = 1
        return "taken"
    return in_child(child)


@attack
def take_memory_together(processes, n):
    """Each a little, all of them at once."""
    def child(ready, go):
        block = bytearray(int(n))
        os.write(ready, b"x" if block is not None else b"")
        os.read(go, 1)
        os._exit(0)
    ready, is_ready = os.pipe()
    go, let_go = os.pipe()
    pids = []
    for _ in range(int(processes)):
        pid = os.fork()
        if pid == 0:
            os.close(let_go)
            os.close(ready)
            child(is_ready, go)
        pids.append(pid)
    os.close(is_ready)
    taken = 0
    while taken < len(pids) and os.read(ready, 1):
        taken += 1
        if any(os.waitpid(pid, os.WNOHANG)[0] for pid in pids):
            break
    os.close(let_go)
    for pid in pids:
        try:
            os.waitpid(pid, 0)
        except ChildProcessError:
            pass
    if taken < len(pids):
        raise Refused(f"{taken} of {len(pids)} got it")
    return "taken"


@attack
def take_processes(n):
    r, w = os.pipe()
    pids = []
    try:
        while len(pids) < int(n):
            pid = os.fork()
            if pid == 0:
                os.close(w)
                os.read(r, 1)  # until the other end is closed
                os._exit(0)
            pids.append(pid)
    except OSError as e:
        raise Refused(f"{e.strerror} after {len(pids)}") from None
    finally:
        os.close(w)
        for pid in pids:
            os.waitpid(pid, 0)
    return f"{len(pids)} processes"


@attack
def take_descriptors_of_own(n):
    fds = []
    try:
        while len(fds) < int(n):
            fds.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as e:
        raise Refused(f"{e.strerror} after {len(fds)}") from None
    return f"{len(fds)} descriptors"


@attack
def long_file(path, n):
    """A hole, so that nothing is taken of the disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.ftruncate(fd, int(n))
    finally:
        os.unlink(path)
    return "made"


@attack
def fill(path, n):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        for _ in range(int(n) >> 20):
            os.write(fd, bytes(1 << 20))
    finally:
        os.unlink(path)
        os.close(fd)
    return "written"


@attack
def larger_than(path, n):
    st = os.statvfs(path)
    if st.f_blocks * st.f_frsize <= int(n):
        raise Refused(f"{st.f_blocks * st.f_frsize} bytes")
    return f"{st.f_blocks * st.f_frsize} bytes"


@attack
def raise_limit(name):
    which = getattr(resource, name)
    soft, hard = resource.getrlimit(which)
    if hard == resource.RLIM_INFINITY:
        return "there is none"
    try:
        resource.setrlimit(which, (soft, hard + 1))
    except ValueError as e:  # EPERM
        raise Refused(e) from None
    resource.setrlimit(which, (soft, hard))
    return "raised"


@attack
def core_files():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    if hard == 0:
        raise Refused("none")
    return f"up to {hard} bytes"


@attack
def as_hard_to_kill(as_whom):
    """As whoever has that score, when memory runs out."""
    score = int(open("/proc/self/oom_score_adj").read())
    if score > int(as_whom):
        raise Refused(f"score {score}")
    return f"score {score}"


@attack
def lower_score():
    before = open("/proc/self/oom_score_adj").read()
    with open("/proc/self/oom_score_adj", "w") as f:
        f.write("0")
    with open("/proc/self/oom_score_adj", "w") as f:
        f.write(before)
    return "lowered"


@attack
def burn(milliseconds):
    end = time.process_time() + int(milliseconds) / 1000
    while time.process_time() < end:
        pass
    return "burnt"


# ---- tokens, and standing in somebody's place ----

def texts():
    """Everything that a job can read of what could hold a token."""
    for folder, folders, files in os.walk("/", followlinks=False):
        if folder == "/":
            folders[:] = [f for f in folders if f in ("etc", "run", "tmp", "workspace", "dev", "var", "home", "root")]
        for name in files:
            path = os.path.join(folder, name)
            try:
                if stat.S_ISREG(os.lstat(path).st_mode) and os.path.getsize(path) < 1 << 20:
                    yield path, open(path, "rb").read()
            except OSError:
                pass
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("environ", "cmdline", "maps", "status"):
            try:
                yield f"/proc/{pid}/{name}", open(f"/proc/{pid}/{name}", "rb").read()
            except OSError:
                pass
    for name in ("net/unix", "mounts", "self/mountinfo"):
        yield f"/proc/{name}", open(f"/proc/{name}", "rb").read()


@attack
def find_token(sha256):
    """A run of hex digits with that hash, wherever it lies. The hash itself is no secret: it is in the daemon's
    command line."""
    for path, text in texts():
        for run_of in re.findall(rb"[0-9a-f]{48,}", text):
            for at in range(len(run_of) - 47):
                if hashlib.sha256(run_of[at:at + 48]).hexdigest() == sha256:
                    return f"in {path}"
    raise Refused("it is nowhere")


@attack
def find_token_of_processes(sha256):
    """In what the kernel shows to everybody of everybody's processes."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("cmdline", "comm", "status", "stat", "environ"):
            try:
                text = open(f"/proc/{pid}/{name}", "rb").read()
            except OSError:
                continue
            for word in re.findall(rb"[0-9a-zA-Z_-]{16,}", text):
                if hashlib.sha256(word).hexdigest() == sha256:
                    return f"in {name} of {pid}"
    raise Refused("it is nowhere")


@attack
def request(scheme, host, port, path, token=""):
    """Anything but a refusal."""
    import http.client
    import ssl
    kind = http.client.HTTPConnection
    more = {}
    if scheme == "https":
        kind, more = http.client.HTTPSConnection, {"context": ssl._create_unverified_context()}
    connection = kind(host, int(port), timeout=20, **more)
    connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
    status = connection.getresponse().status
    connection.close()
    if status >= 400:
        raise Refused(status)
    return f"status {status}"


@attack
def run_job(host, port, token):
    """The process service, by hand: HTTP/2 frames for one Execute of "true"."""
    def frame(kind, flags, stream, payload):
        return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload

    def literal(name, value):
        return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
    headers = [(":method", "POST"), (":scheme", "http"), (":path", "/process.v1.ProcessService/Execute"), (":authority", "x"),
               ("content-type", "application/grpc"), ("te", "trailers")] + ([("authorization", "Bearer " + token)] if token else [])
    message = b"\x0a\x06\x0a\x04true"
    with socket.create_connection((host, int(port)), 20) as s:
        s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") +
                  frame(1, 4, 1, b"".join(literal(*h) for h in headers)) + frame(0, 1, 1, b"\0" + struct.pack(">I", len(message)) + message))
        got = b""
        while True:
            part = s.recv(65536)
            if not part:
                raise Refused("closed")
            got += part
            while len(got) >= 9 and len(got) >= 9 + int.from_bytes(got[:3], "big"):
                size, kind, flags, stream = int.from_bytes(got[:3], "big"), got[3], got[4], struct.unpack(">I", got[5:9])[0]
                got = got[9 + size:]
                if kind == 0 and stream == 1 and size >= 5:
                    return "it ran"
                if kind in (1, 3) and stream == 1 and (kind == 3 or flags & 1):
                    raise Refused("ended without a message")


@attack
def stand_in(path, seconds):
    """Takes the daemon's socket away and listens in its place, for a moment."""
    os.rename(path, path + ".was")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(path)
        s.listen()
        os.chmod(path, 0o777)
        print("standing", flush=True)
        ready, _, _ = select.select([s], [], [], float(seconds))
        try:
            if not ready:
                raise Refused("nobody came")
            client, _ = s.accept()
            with client:
                client.recv(4096)
                client.sendall(b"HTTP/1.1 299 impostor\r\nContent-Length: 0\r\n\r\n")
        finally:
            os.unlink(path)
            os.rename(path + ".was", path)
    return "somebody came"


@attack
def listen(where, port="0"):
    """For another sandbox: greets whoever comes, until it is killed."""
    if where[0] == "@":
        s = socket.socket(socket.AF_UNIX)
        s.bind("\0" + where[1:])
    else:
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((where, int(port)))
    s.listen()
    print("listening", s.getsockname()[1] if where[0] != "@" else 0, flush=True)
    while True:
        with s.accept()[0] as c:
            c.sendall(b"greetings\n")


def result_of(name, args):
    try:
        return f"through {ATTACKS[name](*args)}"
    except Refused as e:
        return f"refused {e}"
    except MemoryError:
        return "refused no memory"
    except OSError as e:
        return f"refused {errno.errorcode.get(e.errno, e.errno or e)} {e.strerror or ''}"


def many(rows):
    """Each of [[name, argument…], …] in a process of its own; a line each, which is empty where that one broke."""
    for name, *args in rows:
        r, w = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.write(w, result_of(name, args).replace("\n", " ").encode()[:4096])
            finally:
                os._exit(0)
        os.close(w)
        print(os.read(r, 4096).decode(errors="replace"))
        os.close(r)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    if sys.argv[1] == "many":
        many(json.loads(sys.argv[2]))
    else:
        print(result_of(sys.argv[1], sys.argv[2:]))
