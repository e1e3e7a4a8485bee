# SPDX-License-Identifier: Apache-2.0
"""Our terminal beside xterm.js and tmux: the same bytes, and the same cells but for the kinds that known.py names and
docs/terminal.md gives reasons for. `terminals_test.py -v ClassName.test_name` runs one."""
import json
import lzma
import os
import pathlib
import random
import re
import shutil
import sys
import unicodedata
from collections import Counter

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import inputs
import known
import pictures
import streams
from harness import Case, main
from tmux import Tmux

STREAMS = int(os.environ.get("SANDMUX_TERMINAL_STREAMS", "2000"))
PIECES = 12  # a recording is compared after each of so many parts
seen: Counter = Counter()


def recordings():
    for path in sorted((HERE / "recordings").glob("*.json.xz")):
        head, *rest = json.loads(lzma.open(path).read())
        steps: list = []
        for piece in rest:
            if isinstance(piece, str):
                data = piece.encode("latin-1")
                size = -(-len(data) // PIECES)
                steps += [("output", data[at:at + size]) for at in range(0, len(data), size)]
            else:
                steps.append(("resize", tuple(piece)))
        yield path.name.partition(".")[0], ((head["cols"], head["rows"]), steps)


def trimmed(row: list) -> list:
    """Without blanks at the end: tmux does not capture cells that were only erased, whatever their background is."""
    row = list(row)
    while row and row[-1][0] == " ":
        row.pop()
    return row


class XtermTest(Case):
    def setUp(self):
        self.need_bed("xterm")

    def check(self, named, is_known_resize=lambda d: known.kind_of(d, known.RESIZES)):
        found, resizes = pictures.differences([stream for _, stream in named], is_known_resize)
        unknown = []
        for (name, _), d in zip(named, found):
            if d is not None:
                kind = known.kind_of(d)
                seen[kind] += 1
                if not kind:
                    unknown.append(f"{name}: {d.show()}")
        seen.update(known.kind_of(d, known.RESIZES) for d in resizes)
        if unknown:
            self.fail(f"{len(unknown)} differences that known.py does not list\n" + "\n".join(unknown[:3]))
        return found

    def test_random_streams(self):
        named = [(f"stream {seed}", streams.stream(seed)) for seed in range(STREAMS)]
        self.check(named)
        if STREAMS >= 2000:
            never = set(known.ROWS) | set(known.RESIZES)
            print("kinds that no stream shows any more:", ", ".join(sorted(never - set(seen) - known.NOT_RANDOM)) or "none")

    def test_recordings(self):
        self.assertGreaterEqual(len(list(recordings())), 20)
        self.check(list(recordings()))

    def test_cases(self):
        """Each named case gives its picture in both, but for the kind that it stands for."""
        chosen = [c for c in inputs.CASES if c.screen is not None]
        text = pictures.commands([((c.cols, c.rows), [("case", c.data)]) for c in chosen])
        for c, a, b in zip(chosen, pictures.ours(text), pictures.xterm(text)):
            with self.subTest(c.name, data=c.data):
                self.assertEqual(inputs.shown(pictures.Picture(a)), (c.screen, c.col))
                if c.kind is None:
                    self.assertEqual(inputs.shown(pictures.Picture(b)), (c.screen, c.col), "xterm.js")
                else:
                    self.assertNotEqual(inputs.shown(pictures.Picture(b)), (c.screen, c.col), f"{c.kind}: xterm.js agrees by now")

    def test_plain_text_wraps_and_reflows(self):
        """No editing, the cursor at the end: lines are joined and broken alike, and no letter moves or is lost."""
        r = random.Random(1)
        words = ["abc", "你好", "🟢", "x" * 17, "0123456789", "é", " ", "e\u0301"]
        for round_number in range(60):
            cols, rows = r.choice([(10, 4), (21, 6), (7, 3)]), 0
            (cols, rows), lines, commands = cols, [], []
            commands.append(f"N {cols} {rows}")
            for _ in range(r.randint(1, 12)):
                line = "".join(r.choice(words) for _ in range(r.randint(0, 9)))
                lines.append(line)
                commands.append("F " + (line + "\r\n").encode().hex())
            lines.append("end")
            commands += ["F " + b"end".hex(), "P", "H"]
            for _ in range(r.randint(1, 4)):
                commands += ["R %d %d" % (r.randint(2, 30), r.randint(1, 9)), "P", "H"]
            text = "\n".join(commands) + "\n"
            out, other = pictures.ours(text), pictures.xterm(text)
            self.assertEqual(out[:2], other[:2], "before any resize all is the same, what is joined too")
            for now, kept in zip(out[::2], out[1::2]):
                with self.subTest(round=round_number):
                    self.assertEqual(unwrapped(kept, now), [line.replace(" ", "") for line in lines])


def unwrapped(history: str, picture: str) -> list[str]:
    """The lines that the scrollback and the screen show, joined where they only wrapped; without blanks, as one stays
    before a wide character that did not fit."""
    lines, joined = [], ""
    for row in (history.partition(" ")[2] + picture.partition(" ")[2]).split("\x1e")[:-1]:
        joined += re.sub("\x1d[^\x1d]*\x1d|[\x1c\x1f ]", "", row[1:])
        if row[0] == "0":
            lines.append(joined)
            joined = ""
    while len(lines) > 1 and not lines[-1]:
        lines.pop()
    return lines


class TmuxTest(Case):
    def setUp(self):
        self.need(shutil.which("tmux"), "tmux is not installed: scripts/setup.sh")

    def compare(self, size, steps):
        tmux = Tmux(str(self.tmp), *size)
        self.addCleanup(tmux.close)
        for name, data in steps:
            if name == "resize":
                tmux.feed(b"")
                tmux.resize(*data)
            else:
                tmux.out.write(data)
        tmux.feed(b"")
        ours = pictures.Picture(pictures.ours(pictures.commands([(size, steps)])).pop() if steps[-1][0] != "resize" else
                                pictures.ours(pictures.commands([(size, steps)]))[-2])
        cursor, rows = tmux.picture()
        mine = [trimmed([(c, style) for text, style in row for c in text]) for row in ours.rows]
        return (ours.row, ours.col, ours.alternate), cursor, mine, [trimmed(row) for row in rows]


def make_recorded(name, stream):
    def test(self):
        ours_at, theirs_at, ours, theirs = self.compare(*stream)
        if name not in known.TMUX_CURSOR:
            self.assertEqual(ours_at, theirs_at, "cursor and screen")
        for row, (a, b) in enumerate(zip(ours, theirs)):
            if (name, row) not in known.TMUX_ROWS:
                self.assertEqual(a, b, f"row {row}")
        self.assertEqual(len(ours), len(theirs))
    return test


for recorded, stream_of_it in recordings():
    setattr(TmuxTest, "test_" + recorded.replace("-", "_"), make_recorded(recorded, stream_of_it))


class WidthTest(Case):
    def test_one_table(self):
        """Every code point that Unicode 11 knew, beside xterm.js; each range that differs is listed."""
        self.need_bed("xterm")
        theirs = pictures.xterm("W 11\n")[0]
        text = "".join(f"N 8 1\nF {chr(c).encode().hex()}\nP\n" for c in CODE_POINTS)
        ours = [pictures.Picture(line) for line in pictures.ours(text)]
        wrong = []
        for c, picture in zip(CODE_POINTS, ours):
            if picture.col != int(theirs[c]) and not any(first <= c <= last for first, last, _ in known.WIDTHS):
                wrong.append(f"U+{c:04X}: {picture.col}, xterm.js {theirs[c]}")
        if wrong:
            self.fail(f"{len(wrong)} widths: " + ", ".join(wrong[:20]))


CODE_POINTS = [c for c in range(0xA0, 0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Co", "Cs", "Cc")]


class ListTest(Case):
    def test_each_kind_has_its_reason(self):
        page = (HERE.parents[1] / "docs/terminal.md").read_text()
        section = page.partition("## Beside other terminals")[2].partition("\n## ")[0]
        documented = set(re.findall(r"^\| ([^|`]+?) \|", section, re.M)) - {"kind", "---"}
        kinds = set(known.ROWS) | set(known.RESIZES) | {c.kind for c in inputs.CASES if c.kind} | {k for _, _, k in known.WIDTHS} | {
            k for k in known.TMUX_CURSOR.values()} | {k for k in known.TMUX_ROWS.values()}
        self.assertEqual(kinds - documented, set(), "without a reason in docs/terminal.md")
        self.assertEqual(documented - kinds, set(), "in docs/terminal.md, but nothing here looks for it")


if __name__ == "__main__":
    main()
