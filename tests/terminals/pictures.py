# SPDX-License-Identifier: Apache-2.0
"""Streams through our terminal and through xterm.js, and where their pictures part. See term_cells.c for the form."""
import os
import pathlib
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cached_property

HERE = pathlib.Path(__file__).resolve().parent
WRAPPED = re.compile("(^|\x1e)[01](?=.)", re.S)


class Picture:
    """One line of output, taken apart when somebody asks."""

    def __init__(self, line: str):
        self.line = line
        self.broken = line == "!"
        head, _, self.body = line.partition(" ")
        self.row, self.col, self.behind, self.alternate = (0,) * 4 if self.broken else map(int, head.split(","))

    @cached_property
    def rows(self) -> list[list[tuple[str, str]]]:
        """Cells as (text, style); a second half has the text ''."""
        rows = []
        for text in self.body.split("\x1e")[:-1]:
            style, cells = "-,-,", []
            for part in re.findall("\x1d[^\x1d]*\x1d|[^\x1c-\x1f]*[\x1c\x1f]", text[1:], re.S):
                if part[0] == "\x1d":
                    style = part[1:-1]
                else:
                    cells.append((part[:-1], style))
            rows.append(cells)
        return rows

    @property
    def wrapped(self) -> list[bool]:
        return [text[0] == "1" for text in self.body.split("\x1e")[:-1]]

    def text(self) -> str:
        return "".join(cell for row in self.rows for cell, _ in row)

    def show(self) -> str:
        if self.broken:
            return "!"
        head = f"row {self.row} col {self.col}{' behind it' if self.behind else ''}{' alternate' if self.alternate else ''}\n"
        body = "".join("  |" + re.sub("\x1d([^\x1d]*)\x1d", r"{\1}", row[1:]).replace("\x1f", "").replace("\x1c", "") +
                       ("+\n" if row[0] == "1" else "|\n") for row in self.body.split("\x1e")[:-1])
        return head + body


def without_wrapped(line: str) -> str:
    head, _, body = line.partition(" ")
    return head + " " + WRAPPED.sub(r"\1", body)


@dataclass
class Difference:
    """The first step after which the pictures are not the same."""
    name: str
    data: object  # bytes, or (cols, rows)
    before: Picture | None  # ours
    ours: Picture
    theirs: Picture
    earlier: list[str]  # names of the steps before
    histories: tuple[str, str] = ("", "")  # at a resize: our scrollback before and after

    linked: bool = False  # OSC 8 was among it

    def cells(self) -> list[tuple[int, int]]:
        """Row and column of each cell that differs."""
        return [(r, c) for r, (a, b) in enumerate(zip(self.ours.rows, self.theirs.rows))
                for c, (x, y) in enumerate(zip(a, b)) if x != y]

    def same_cursor(self) -> bool:
        return self.ours.line.split(" ")[0] == self.theirs.line.split(" ")[0]

    def only_blank_styles(self) -> bool:
        return self.same_cursor() and all(self.ours.rows[r][c][0] == " " == self.theirs.rows[r][c][0] for r, c in self.cells())

    def texts(self) -> tuple[str, str]:
        """At a resize: all that ours showed and kept before and after, without blanks. A re-flow moves it, no more."""
        return all_text(self.before, self.histories[0]), all_text(self.ours, self.histories[1])

    def show(self) -> str:
        return (f"after {self.earlier[-6:]}\n{self.before.show() if self.before else ''}then {self.name} {self.data!r}\n"
                f"ours: {self.ours.show()}theirs: {self.theirs.show()}")


def all_text(picture: Picture | None, history: str) -> str:
    kept = Picture("0,0,0,0 " + history.partition(" ")[2]).text()
    return (kept + (picture.text() if picture else "")).replace(" ", "")


def build_bin(name: str) -> str:
    return str(pathlib.Path(os.environ.get("SANDMUX_BIN", HERE.parents[1] / "build/debug/bin/sandmux")).parent / name)


def commands(streams) -> str:
    lines = []
    for (cols, rows), steps in streams:
        lines.append(f"N {cols} {rows}")
        for _, data in steps:
            lines += [f"F {data.hex()}", "P"] if isinstance(data, bytes) else ["H", "R %d %d" % data, "P", "H"]
    return "\n".join(lines) + "\n"


def run(program: list[str], text: str) -> list[str]:
    done = subprocess.run(program, input=text.encode(), stdout=subprocess.PIPE, check=True, timeout=300)
    return done.stdout.decode().split("\n")[:-1]


def ours(text: str) -> list[str]:
    return run([build_bin("term_cells")], text)


def xterm(text: str) -> list[str]:
    from harness.bed import need_bed
    modules = need_bed("xterm")
    node = pathlib.Path(modules) / "node"
    return run([str(node) if node.exists() else shutil.which("node") or "node", str(HERE / "xterm.cjs"), modules], text)


def differences(streams, is_known_resize):
    """For each stream its first Difference or None, and the resizes that differ in a known way: what follows them is
    repainted, so the stream goes on."""
    text = commands(streams)
    a, b = iter(ours(text)), iter(xterm(text))
    found, resizes = [], []
    for _, steps in streams:
        first, last = None, None
        for i, (name, data) in enumerate(steps):
            kept = [next(a)] if name == "resize" and next(b) else []
            now, other = next(a), next(b)
            if name == "resize":
                kept.append(next(a))
                next(b)
            before, last = last, now
            if first or without_wrapped(now) == without_wrapped(other):
                continue
            d = Difference(name, data, Picture(before) if before else None, Picture(now), Picture(other),
                           [n for n, _ in steps[:i]], tuple(kept),
                           any(isinstance(x, bytes) and b"\x1b]8;" in x for _, x in steps[:i + 1]))
            if name == "resize" and is_known_resize(d):
                resizes.append(d)
            else:
                first = d
        found.append(first)
    return found, resizes
