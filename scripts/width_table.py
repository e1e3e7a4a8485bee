#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes engine/base/width_table.inc and width_pages.inc from the Unicode Character Database (DerivedGeneralCategory and
EastAsianWidth, as Python's unicodedata has them). Needs a Python with the database of the version below; the
choices beyond the data are in columns(), with their reasons.

  usage: scripts/width_table.py [--check]
"""
import pathlib
import sys
import unicodedata

VERSION = "15.1.0"
TARGET = pathlib.Path(__file__).resolve().parent.parent / "engine/base/width_table.inc"
PAGES = TARGET.with_name("width_pages.inc")
PAGE, PAGED = 64, 0x20000  # engine/base/width.c knows these

# Prepended_Concatenation_Mark (PropList): format characters that are seen
PREPENDED = {0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
# unassigned code points that are wide all the same (EastAsianWidth, head of the file)
WIDE_BY_DEFAULT = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FFFD), (0x30000, 0x3FFFD))


def columns(c: int) -> int:
    """2, 1, 0 (joins the character before it) or -1 (never shown)."""
    category = unicodedata.category(chr(c))
    if c == 0xAD or c in PREPENDED:  # SOFT HYPHEN: terminals show it
        return 1
    if 0x1160 <= c <= 0x11FF or 0xD7B0 <= c <= 0xD7FF:  # medial vowels and finals of Hangul
        return 0
    if c in (0x200C, 0x200D):  # the joiners shape what people read
        return 0
    if 0x4DC0 <= c <= 0x4DFF:  # hexagrams: wide from Unicode 16 on, and in the GNU C library long before
        return 2
    if category in ("Mn", "Me"):
        return 0
    if category in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return -1
    if unicodedata.east_asian_width(chr(c)) in "WF":
        return 2
    if category == "Cn" and any(first <= c <= last for first, last in WIDE_BY_DEFAULT):
        return 2
    return 1


def table() -> str:
    lines = [f"/* Made by scripts/width_table.py from Unicode {VERSION}: the code points that do not take one "
             "column. */"]
    first = 0xA0
    while first < 0x110000:
        width, last = columns(first), first
        while last + 1 < 0x110000 and columns(last + 1) == width:
            last += 1
        if width != 1:
            lines.append(f"{{ 0x{first:04X}, 0x{last:04X}, {width} }},")
        first = last + 1
    return "\n".join(lines) + "\n"


def pages(text: str) -> str:
    """For each page of code points the first range of the table that ends in it or later; the last one is for all above."""
    ends = [int(line.split(",")[1], 16) for line in text.splitlines() if line.startswith("{")]
    firsts = [next(i for i, last in enumerate(ends) if last >= c) for c in range(0, PAGED + 1, PAGE)]
    rows = [", ".join(map(str, firsts[i:i + 16])) + "," for i in range(0, len(firsts), 16)]
    head = f"/* Made by scripts/width_table.py: where in width_table.inc to begin, for each {PAGE} code points below " \
           f"U+{PAGED:X}, and from there on. */"
    return "\n".join([head, *rows]) + "\n"


def main() -> int:
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    if unicodedata.unidata_version != VERSION:
        print(f"width_table.py: this Python has Unicode {unicodedata.unidata_version}, {VERSION} is needed")
        return 2
    text = table()
    if "--check" in sys.argv[1:]:
        return 0 if TARGET.read_text() == text and PAGES.read_text() == pages(text) else 1
    TARGET.write_text(text)
    PAGES.write_text(pages(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
