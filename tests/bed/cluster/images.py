# SPDX-License-Identifier: Apache-2.0
"""An OCI archive made from this machine's files, since there is no image registry:
localhost/sandbox:bed (a small user land and the daemons) and localhost/pause:bed
(the same files, asleep)."""
import gzip
import hashlib
import io
import json
import os
import platform
import re
import subprocess
import tarfile
from pathlib import Path

PACKAGES = ("bash", "coreutils", "findutils", "grep", "sed", "tar", "gzip", "diffutils", "procps", "less", "ncurses-base", "ncurses-bin")
FOLDERS = ("/bin/", "/usr/bin/", "/lib/terminfo/", "/usr/share/terminfo/")
BUSYBOX = "/bin/busybox"


def files_of_packages():
    """name in the image -> file here, with the libraries that programs need."""
    found = {}
    for name in subprocess.run(["dpkg", "-L", *PACKAGES], capture_output=True, text=True, check=True).stdout.split("\n"):
        if name.startswith(FOLDERS) and os.path.isfile(name):
            found[name] = name
    programs = [p for p in found if not os.path.islink(p) and open(p, "rb").read(4) == b"\x7fELF"]
    for lib in re.findall(r"(/\S+)\s+\(0x", subprocess.run(["ldd", *programs], capture_output=True, text=True).stdout):
        found[lib] = lib
    return found


def layer(programs):
    """The tar of the whole file system. /bin, /sbin, /lib* are links, as on the host."""
    files = {**files_of_packages(), BUSYBOX: BUSYBOX, **{f"/usr/local/bin/{Path(p).name}": p for p in programs}}
    out, seen = io.BytesIO(), set()
    with tarfile.open(fileobj=out, mode="w") as tar:
        def add(name, kind, mode, data=b"", link="", uid=0):
            name = name.lstrip("/")
            if name in seen:
                return
            seen.add(name)
            parent = os.path.dirname(name)
            if parent:
                add(parent, tarfile.DIRTYPE, 0o755)
            info = tarfile.TarInfo(name)
            info.type, info.mode, info.size, info.linkname, info.uid, info.gid = kind, mode, len(data), link, uid, uid
            tar.addfile(info, io.BytesIO(data))

        for d in ("bin", "sbin", "lib", "lib64"):
            add(f"usr/{d}", tarfile.DIRTYPE, 0o755)
            add(d, tarfile.SYMTYPE, 0o777, link=f"usr/{d}")
        for d in ("proc", "sys", "dev", "run", "root", "var/tmp"):
            add(d, tarfile.DIRTYPE, 0o755)
        add("tmp", tarfile.DIRTYPE, 0o1777)
        add("workspace", tarfile.DIRTYPE, 0o755, uid=1000)
        add("etc/passwd", tarfile.REGTYPE, 0o644, b"root:x:0:0:root:/root:/bin/bash\nagent:x:1000:1000:agent:/workspace:/bin/bash\n")
        add("etc/group", tarfile.REGTYPE, 0o644, b"root:x:0:\nagent:x:1000:\n")
        for name, source in sorted(files.items()):
            name = re.sub(r"^/(bin|sbin|lib|lib64)/", r"/usr/\1/", name)
            data = Path(source).read_bytes()
            add(name, tarfile.REGTYPE, 0o755 if os.access(source, os.X_OK) else 0o644, data)
        add("usr/bin/sh", tarfile.SYMTYPE, 0o777, link="bash")
        for applet in subprocess.run([BUSYBOX, "--list"], capture_output=True, text=True, check=True).stdout.split():
            add(f"usr/bin/{applet}", tarfile.SYMTYPE, 0o777, link="busybox")
    return out.getvalue()


def write(path, programs):
    blobs, manifests = {}, []

    def blob(kind, data):
        digest = hashlib.sha256(data).hexdigest()
        blobs[digest] = data
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(data)}

    plain = layer(programs)
    arch = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
    packed = blob("layer.v1.tar+gzip", gzip.compress(plain, 1, mtime=0))
    env = ["PATH=/usr/local/bin:/usr/bin", "HOME=/workspace", "LANG=C.UTF-8"]
    for name, config in (("pause", {"Entrypoint": ["/bin/busybox", "sleep", "infinity"], "User": "65535:65535"}),
                         ("sandbox", {"Entrypoint": ["/usr/local/bin/sandboxd-listen"], "User": "1000:1000", "WorkingDir": "/workspace"})):
        config = blob("config.v1+json", json.dumps({
            "architecture": arch, "os": "linux", "config": {**config, "Env": env},
            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(plain).hexdigest()]}}).encode())
        manifest = blob("manifest.v1+json", json.dumps({
            "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config, "layers": [packed]}).encode())
        manifests.append({**manifest, "platform": {"architecture": arch, "os": "linux"},
                          "annotations": {"io.containerd.image.name": f"localhost/{name}:bed", "org.opencontainers.image.ref.name": "bed"}})
    part = Path(f"{path}.part")
    with tarfile.open(part, "w") as tar:
        for name, data in (("oci-layout", b'{"imageLayoutVersion":"1.0.0"}'), *((f"blobs/sha256/{d}", b) for d, b in blobs.items()),
                           ("index.json", json.dumps({"schemaVersion": 2, "manifests": manifests}).encode())):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    part.rename(path)
