# SPDX-License-Identifier: Apache-2.0
"""What a hostile job tries: one row each. A row's `off` are the guards that must all be off before it works; each of
them alone refuses it, which is tried too. `plain`: it works only without any isolation."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    name: str
    attack: str             # of attacks.py
    args: tuple = ()        # "{port}" and the like are filled in (job_test.py: World.facts)
    off: tuple = ()
    root_off: tuple = ()    # more guards, where root runs the backend
    who: tuple = ("root", "user")  # whose backend could be attacked so at all
    is_bare: bool = False   # kernels differ: where it does not work outside of a sandbox either, there is no control
    plain: bool = False
    landlock: int = 1       # the ABI from which Landlock refuses it

    def guards(self, identity):
        return self.off + (self.root_off if identity.is_root else ())


def kernel(name, attack, *args, **kw):
    """Through the filter of system calls alone."""
    return Row(name, attack, args, off=("filter",), is_bare=True, **kw)


def only_root(name, attack, *args):
    """Nothing that an ordinary user's process could do."""
    return Row(name, attack, args, plain=True, who=("root",), is_bare=True)


NETWORK = [
    Row("net.loopback", "connect", ("127.0.0.1", "{port}"), off=("network",)),
    Row("net.loopback-ipv6", "connect", ("::1", "{port6}"), off=("network",)),
    Row("net.datagram", "datagram", ("127.0.0.1", "{udp_port}"), off=("network",)),
    Row("net.table", "sees_listener", ("{port}",), off=("network",)),
    Row("net.abstract-unix", "connect_unix", ("{abstract}",), off=("network", "landlock"), landlock=6),
    Row("net.unix", "connect_unix", ("/run/host{unix}",), off=("system",)),
    Row("net.daemon-of-another", "answers", ("{other_address}", "{other_rest}"), off=("network",)),
    Row("net.descriptor-of-daemon", "use_taken_listener", ("{daemon}", "127.0.0.1", "{port}"), off=("proxy", "closed")),
    kernel("net.vsock", "family", "40", "1"),
    kernel("net.vsock-i386", "family_i386", "40", "1"),
    kernel("net.vsock-socketcall", "family_by_socketcall", "40", "1"),
    kernel("net.netlink-generic", "family", "16", "3", "16"),
    kernel("net.netlink-uevent", "family", "16", "3", "15"),
    kernel("net.any-family", "families", "1", "2", "10", "16"),
    kernel("net.packets-in-a-namespace-of-its-own", "packets_of_own"),
    only_root("net.packets", "family", "17", "3"),
    only_root("net.raw", "family", "2", "3", "1"),
]

DAEMON = [
    Row("daemon.trace", "trace", ("{daemon}",), off=("closed",)),
    Row("daemon.memory", "read_memory", ("{daemon}",), off=("closed",)),
    Row("daemon.copy-memory", "copy_memory", ("{daemon}",), off=("closed",)),
    Row("daemon.environ", "read_environ", ("{daemon}",), off=("closed",)),
    Row("daemon.descriptors", "list_descriptors", ("{daemon}",), off=("closed",)),
    Row("daemon.take-descriptor", "take_descriptor", ("{daemon}",), off=("closed",)),
    Row("daemon.log-of-the-host", "open_descriptor", ("{daemon}", "2"), off=("closed", "landlock"), root_off=("host-user",)),
    Row("daemon.stop", "stop", ("{daemon}",), off=("pids",)),
]

PROCESSES = [
    Row("process.see", "sees_process", ("{host_pid}", "jail_host"), off=("pids",)),
    Row("process.signal-proxy", "may_signal", ("{proxy}",), off=("pids", "landlock"), landlock=6),
    Row("process.signal-other-sandbox", "may_signal", ("{other_job}",), off=("pids", "landlock"), root_off=("host-user",), landlock=6),
    Row("process.trace-other-sandbox", "trace", ("{other_job}",), plain=True),
    Row("process.memory-of-other-sandbox", "read_memory", ("{other_job}",), plain=True),
    Row("process.copy-memory-of-other-sandbox", "copy_memory", ("{other_job}",), plain=True),
    Row("process.descriptor-of-other-sandbox", "take_descriptor", ("{other_job}",), plain=True),
    Row("process.environ-of-other-sandbox", "read_environ", ("{other_job}",), plain=True),
    Row("process.trace-backend", "trace", ("{host_pid}",), plain=True),
    Row("process.environ-of-backend", "read_environ", ("{host_pid}",), plain=True),
    Row("process.root-of-backend", "open_by_root_of", ("{host_pid}", "{private}"), plain=True),
    Row("process.shared-memory", "shared_memory", ("{ipc_key}",), off=("ipc",)),
    Row("process.message-queue", "message_queue", ("{ipc_key}",), off=("ipc",)),
    Row("other.loopback", "connect", ("127.0.0.1", "{other_port}"), off=("network",)),
    Row("other.abstract-unix", "connect_unix", ("{other_abstract}",), off=("network", "landlock"), landlock=6),
    Row("other.file", "read", ("/run/host{other_file}",), off=("system",), root_off=("host-user",)),
]

FILES = [
    Row("file.write", "open_to_write", ("/run/host{marker}",), off=("system",)),
    Row("file.private", "read", ("/run/host{private}",), off=("system",), root_off=("host-user",)),
    Row("file.cgroup", "open_to_write", ("/run/host{cgroup_procs}",), off=("system", "host-user"), who=("root",)),
    Row("file.in-tmp", "read", ("{marker}",), plain=True),
    Row("file.in-shm", "read", ("{shm}",), plain=True),
    Row("file.devices-of-the-machine", "list_folder", ("/sys/class/net",), plain=True, is_bare=True),
    only_root("file.passwords", "read", "/etc/shadow"),
    Row("file.in-dev", "create", ("/dev/sandmux-test",), off=("sizes",)),
    Row("file.sysctl-core-pattern", "open_to_write", ("/proc/sys/kernel/core_pattern",), off=("host-user", "masks"), who=("root",)),
    Row("file.sysctl-overcommit", "open_to_write", ("/proc/sys/vm/overcommit_memory",), off=("host-user", "masks"), who=("root",)),
    Row("file.sysctl-hostname", "open_to_write", ("/proc/sys/kernel/hostname",), off=("host-user", "masks"), who=("root",)),
    Row("file.sysrq", "open_to_write", ("/proc/sysrq-trigger",), off=("host-user", "masks"), who=("root",), is_bare=True),
    only_root("file.system", "open_to_write", "/usr/lib/os-release"),
    only_root("file.disk", "open_disk"),
    only_root("file.kernel-messages", "open_to_write", "/dev/kmsg"),
    only_root("file.make-device", "make_device", "{here}/device"),
    only_root("file.give-away", "give_away", "{here}/given", "12345"),
    only_root("file.change-root", "change_root"),
    only_root("file.enter-namespace", "enter_namespace", "uts"),
    Row("file.devices", "unusual_devices", plain=True, is_bare=True),
    Row("file.mount-flags", "mount_flags", ("{here}",), plain=True, is_bare=True),
    *[Row(f"proc.{name}", "read", (f"/proc/{name}",), off=("masks",), root_off=("host-user",), is_bare=True) for name in ("keys", "key-users")],
    *[Row(f"proc.{name}", "read", (f"/proc/{name}",), off=("masks",), is_bare=True)
      for name in ("kallsyms", "interrupts", "softirqs", "iomem", "ioports", "modules", "config.gz", "sched_debug")],
    *[Row(f"proc.{name}", "read", (f"/proc/{name}",), off=("masks", "host-user"), who=("root",), is_bare=True)
      for name in ("timer_list", "vmallocinfo", "slabinfo", "kpagecount")],
    *[Row(f"proc.{name}", "list_folder", (f"/proc/{name}",), off=("masks",), is_bare=True)
      for name in ("bus", "fs", "irq", "driver", "acpi", "pressure", "scsi")],
]

KERNEL = [
    Row("kernel.session-keyring", "find_key", ("{key}",), off=("keyring", "filter")),
    kernel("kernel.make-key", "make_key"),
    kernel("kernel.ask-for-key", "ask_for_key"),
    kernel("kernel.io-uring", "io_uring"),
    kernel("kernel.page-faults", "page_faults"),
    kernel("kernel.bpf", "kernel_programs"),
    kernel("kernel.perf", "performance_counters"),
    kernel("kernel.user-namespace", "user_namespace"),
    kernel("kernel.user-namespace-clone", "clone_user_namespace"),
    kernel("kernel.user-namespace-clone3", "clone3_user_namespace"),
    kernel("kernel.user-namespace-i386", "user_namespace_i386"),
    kernel("kernel.user-namespace-x32", "user_namespace_x32"),
    kernel("kernel.make-key-i386", "make_key_i386"),
    Row("kernel.mount-in-a-namespace-of-its-own", "mount_of_own", off=("filter", "landlock"), is_bare=True),
    kernel("kernel.personality", "odd_personality"),
    kernel("kernel.type-into-terminal", "type_into_terminal"),
    kernel("kernel.file-handle", "file_handle"),
    kernel("kernel.watch-files", "watch_files"),
    kernel("kernel.tree-descriptor", "tree_descriptor"),
    kernel("kernel.port-privilege", "port_privilege"),
    kernel("kernel.clock-settings", "clock_settings"),
    kernel("kernel.memory-policy", "memory_policy"),
    kernel("kernel.log", "kernel_log"),
    kernel("kernel.quota", "quota"),
]

ROWS = NETWORK + DAEMON + PROCESSES + FILES + KERNEL
