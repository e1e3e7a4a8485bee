# SPDX-License-Identifier: Apache-2.0
"""Small inputs with the picture that they must give, each standing for its kind. kind: a difference from xterm.js that
known.py and docs/terminal.md name; without one xterm.js has to give the same picture."""
from dataclasses import dataclass


@dataclass
class C:
    name: str
    data: bytes
    screen: str  # rows without blanks at their ends, joined by |
    col: int
    kind: str | None = None
    cols: int = 10
    rows: int = 4


def shown(picture) -> tuple[str, int]:
    rows = ["".join(cell for cell, _ in row).rstrip() for row in picture.rows]
    return "|".join(rows).rstrip("|"), picture.col


def c(name, text, screen, col, kind=None, **more) -> C:
    return C(name, text.encode(), screen, col, kind, **more)


FULL = "abcdefghij"
PENDING = [  # these leave a pending wrap alone
    ("HT", "\t", FULL + "|X"), ("CHT", "\x1b[I", FULL + "|X"), ("DECAWM on", "\x1b[?7h", FULL + "|X"),
    ("SU", "\x1b[S", "|X"), ("SD", "\x1b[T", "|Xbcdefghij"), ("DECSTR", "\x1b[!p", FULL + "|X"),
    ("47", "\x1b[?47h\x1b[?47l", FULL + "|X"), ("1047", "\x1b[?1047h\x1b[?1047l", FULL + "|X"),
    ("ED 3", "\x1b[3J", FULL + "|X"), ("ED 9", "\x1b[9J", FULL + "|X"), ("EL 3", "\x1b[3K", FULL + "|X"),
    ("EL 9", "\x1b[9K", FULL + "|X"), ("SGR", "\x1b[1m", FULL + "|X"),     ("DECTCEM", "\x1b[?25l", FULL + "|X"), ("title", "\x1b]2;t\x07", FULL + "|X"), ("DECCKM", "\x1b[?1h", FULL + "|X"),
    ("left-right margin mode", "\x1b[?69h", FULL + "|X"),
]
CASES = [
    c("emoji of Unicode 12", "a\U0001F7E2b", "a\U0001F7E2b", 4),
    c("emoji wraps", "abcdefghi\U0001F7E2", "abcdefghi|\U0001F7E2", 2),
    c("emoji of Unicode 15", "a\U0001FAE8b", "a\U0001FAE8b", 4, "newer characters"),
    *[c(f"pending wrap and {name}", FULL + data + "X", screen, 1) for name, data, screen in PENDING],
    c("DECSC and DECRC", FULL + "\x1b7\x1b[2;2H\x1b8X", FULL + "|X", 1, "saved pending wrap"),
    c("DCH above the region", "abcdef\x1b[2;3r\x1b[1;2H\x1b[2P", "adef", 1),
    c("ICH above the region", "abcdef\x1b[2;3r\x1b[1;2H\x1b[2@", "a  bcdef", 1),
    c("DCH below the region", "\x1b[4;1Habcdef\x1b[2;3r\x1b[4;2H\x1b[2P", "|||adef", 1),
    c("ECH outside the region", "abcdef\x1b[2;3r\x1b[1;2H\x1b[2X", "a  def", 1),
    c("IL outside the region", "ab\r\ncd\x1b[2;3r\x1b[1;2H\x1b[LX", "aX|cd", 2),
    c("left-right margin mode leaves the cursor", "abc\r\ndef\x1b[?69hX", "abc|defX", 4),
    c("left-right margin mode off, too", "abc\r\ndef\x1b[?69lX", "abc|defX", 4),
    c("IL goes to the first column", "abc\x1b[LX", "X|abc", 1),
    c("DL goes to the first column", "abc\x1b[MX", "X", 1),
    c("U+06DE is a symbol", "a\u06DEb", "a\u06DEb", 3),
    c("U+06DD is seen", "a\u06DDb", "a\u06DDb", 3, "prepended marks"),
    c("old Hangul takes no column", "\uAC00\uD7B0b", "\uAC00\uD7B0b", 3, "old Hangul"),
    c("CUU stays in the region's first row", "\x1b[2;3r\x1b[2;1H\x1b[AX", "|X", 1),
    c("CUU above the region", "\x1b[3;4r\x1b[2;1H\x1b[5AX", "X", 1),
    c("CUD stays in the region's last row", "\x1b[1;2r\x1b[2;1H\x1b[BX", "|X", 1),
    c("CUD below the region", "\x1b[1;2r\x1b[3;1H\x1b[9BX", "|||X", 1),
    c("CPL stays in the region's first row", "\x1b[2;3r\x1b[2;4H\x1b[FX", "|X", 1),
    c("CNL stays in the region's last row", "\x1b[1;2r\x1b[2;4H\x1b[EX", "|X", 1),
    c("RI in the region's first row", "a\r\nb\r\nc\x1b[2;3r\x1b[2;1H\x1bMX", "a|X|b", 1),
    c("a region of one row is none", "abc\x1b[2;2rX", "abcX", 4),
    c("HPB", "abc\x1b[2jX", "aXc", 2, "HPB and VPB"),
    c("VPB", "a\r\nb\x1b[kX", "aX|b", 2, "HPB and VPB"),
    c("one region for both screens", "\x1b[2;3r\x1b[?47h\x1b[4;1HA\x1b[3;1H\n\nX", "||X|A", 1, "region and screens"),
    c("EL 0 behind the last column", FULL + "\x1b[K", "abcdefghi", 9, "erasing behind the last column"),
    c("EL 1 behind the last column", FULL + "\x1b[1KX", "         X", 9, "erasing behind the last column"),
    c("REP of a wide character", "\u4F60\x1b[b", "\u4F60\u4F60", 4),
    c("REP without the marks", "e\u0301\x1b[b", "e\u0301e", 2, "REP"),
    c("CBT behind the last column", FULL + "\x1b[ZX", "abcdefghXj", 9, "CBT behind the last column"),
    c("DECALN ends the region", "\x1b[2;3r\x1b#8\x1b[4;1H\nX", "EEEEEEEEEE|EEEEEEEEEE|EEEEEEEEEE|X", 1, "DECALN"),
]
