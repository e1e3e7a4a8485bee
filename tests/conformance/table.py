# SPDX-License-Identifier: Apache-2.0
"""The conformance table. A case is a function that does something to one daemon and returns
what it saw (plain values); it runs against the real sandboxd and against ours, and the two
results must be equal. differs="…" says that they are not meant to be, and why: then `ours`
(a predicate over our result) must hold, and docs/conformance.md must name the case."""
import os
import shutil
from pathlib import Path

CASES = []


class Case:
    def __init__(self, name, run, differs, ours, user, tries):
        self.name, self.run, self.differs, self.ours, self.user, self.tries = name, run, differs, ours, user, tries


def case(name, differs=None, ours=None, user=False, tries=1):
    """user: the daemons run as an ordinary user, where permissions matter. tries: how often the
    real one may be asked until it agrees, where it is known to be random."""
    def add(run):
        CASES.append(Case(name, run, differs, ours, user, tries))
        return run
    return add


class Target:
    """One daemon: rest and grpc ("host:port"), root (its folder on this machine)."""

    def __init__(self, name, rest, grpc, root, pid, owner=None):
        self.name, self.rest, self.grpc, self.root, self.pid = name, rest, grpc, Path(root), pid
        self.owner = owner

    def clean(self):
        """The root, empty."""
        for entry in self.root.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                for folder, _, _ in os.walk(entry):
                    os.chmod(folder, 0o755)
                shutil.rmtree(entry)
            else:
                entry.unlink()

    def write(self, path, content=b"", mode=0o644, mtime=1767323045):
        full = self.root / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_bytes(content if isinstance(content, bytes) else content.encode())
        full.chmod(mode)
        os.utime(full, (mtime, mtime))
        self._give(full)
        return full

    def mkdir(self, path, mode=0o755):
        full = self.root / path
        full.mkdir(parents=True, exist_ok=True)
        full.chmod(mode)
        self._give(full)
        return full

    def _give(self, full):
        if self.owner is not None:
            while full != self.root:
                os.chown(full, self.owner, self.owner)
                full = full.parent

    def tree(self):
        """Every path below the root: {path: (kind, mode, content or link target)}."""
        out = {}
        for folder, dirs, files in os.walk(self.root):
            for name in dirs + files:
                full = Path(folder) / name
                try:
                    st = full.lstat()
                except FileNotFoundError:  # a temporary file that has just gone
                    continue
                kind, content = "other", None
                if full.is_symlink():
                    kind, content = "link", os.readlink(full).replace(str(self.root), "<root>").replace(self.root.name, "<name>")
                elif full.is_dir():
                    kind = "dir"
                elif full.is_file():
                    kind, content = "file", full.read_bytes() if st.st_size < 4096 else st.st_size
                mode = None if kind == "link" else oct(st.st_mode & 0o7777)
                out[os.fsencode(full.relative_to(self.root))] = (kind, mode, content)
        return out
