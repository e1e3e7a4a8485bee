# SPDX-License-Identifier: Apache-2.0
"""Streams of terminal output that no program would send: random, but the same for a seed. A stream is a size and
steps; a step is (name, bytes) or ("resize", (cols, rows)). What needs side margins is left out: the others know none."""
import random

WORDS = ["a", "xyz", "hello", "0123456789", "the quick brown fox", "  ", "x" * 31]
WIDE = ["你", "世界", "한국어", "日本", "🟢", "😀", "🚀b", "Ａ"]
MARKS = ["e\u0301", "n\u0303o", "你\u0301", "\u0e01\u0e31", "a\u0308\u0301"]
NARROW = ["é", "ß", "─│┼", "λμ", "€", "½"]
SGR = ["", "0", "1", "2", "3", "4", "5", "7", "8", "9", "22", "23", "24", "25", "27", "28", "29", "31", "42", "93", "104",
       "39", "49", "38;5;200", "48;5;17", "38;2;1;2;3", "48;2;200;100;50", "53", "55", "1;31", "7;44", "38:5:99", "4:3"]
FINALS_ONE = "ABCDEFGIZ`adePX@LMST"


def csi(r: random.Random) -> tuple[str, str]:
    final = r.choice(FINALS_ONE)
    n = r.choice(["", "0", "1", "2", "3", "5", "9", "40", "200"])
    return f"CSI {final}", f"\x1b[{n}{final}"


def place(r):
    row, col = r.choice(["", "1", "2", "3", "4", "6", "9", "99"]), r.choice(["", "1", "2", "5", "9", "10", "20", "99"])
    final = r.choice("HHHf")
    return "CUP", f"\x1b[{row};{col}{final}"


def erase(r):
    final = r.choice("JK")
    return f"CSI {final}", f"\x1b[{r.choice(['', '0', '1', '2'])}{final}"


def region(r):
    return "DECSTBM", r.choice(["\x1b[r", f"\x1b[{r.randint(1, 4)};{r.randint(2, 8)}r", "\x1b[2;4r"])


MODES = {"IRM": "4", "DECAWM": "?7", "DECOM": "?6", "LNM": "20", "DECCKM": "?1", "DECTCEM": "?25",
         "1049": "?1049", "47": "?47", "1047": "?1047", "1048": "?1048"}


def mode(r):
    name = r.choice(list(MODES))
    on = r.choice("hl")
    # xterm.js has a scrolling region for each screen: it is ended before the screens change
    return f"{name}{on}", ("\x1b[r" if name in ("1049", "47", "1047") else "") + f"\x1b[{MODES[name]}{on}"


def escape(r):
    name, text = r.choice([("DECSC", "\x1b7"), ("DECRC", "\x1b8"), ("IND", "\x1bD"), ("NEL", "\x1bE"), ("HTS", "\x1bH"),
                           ("RI", "\x1bM"), ("RI", "\x1bM"), ("SCS 0", "\x1b(0"), ("SCS B", "\x1b(B"), ("DECALN", "\x1b[r\x1b#8"),
                           ("SO", "\x0e"), ("SI", "\x0f"), ("SCS G1", "\x1b)0"), ("RIS", "\x1b[20l\x1bc"), ("DECSTR", "\x1b[!p"),
                           ("TBC", "\x1b[g"), ("TBC", "\x1b[3g"), ("SCOSC", "\x1b[s"), ("SCORC", "\x1b[u")])
    return name, text


def control(r):
    return r.choice([("BS", "\b"), ("HT", "\t"), ("LF", "\n"), ("CR", "\r"), ("CRLF", "\r\n"), ("CRLF", "\r\n"), ("VT", "\v"),
                     ("FF", "\f"), ("BEL", "\a")])


def text(r):
    kind = r.random()
    if kind < 0.5:
        return "ASCII", r.choice(WORDS)
    if kind < 0.75:
        return "wide", r.choice(WIDE)
    if kind < 0.9:
        return "narrow", r.choice(NARROW)
    return "marks", r.choice(MARKS)


def step(r):
    kinds = [(text, 34), (control, 14), (place, 10), (csi, 18), (erase, 6), (region, 4), (mode, 5), (escape, 5)]
    if r.random() < 0.05:
        return "resize", (r.choice([2, 5, 9, 10, 14, 20, 31]), r.choice([1, 2, 3, 5, 8, 12]))
    if r.random() < 0.08:
        return "SGR", f"\x1b[{r.choice(SGR)}m".encode()
    if r.random() < 0.02:
        return "REP", f"\x1b[{r.choice(['', '2', '5'])}b".encode()
    make = r.choices([k for k, _ in kinds], [w for _, w in kinds])[0]
    name, data = make(r)
    return name, data.encode()


def stream(seed: int) -> tuple[tuple[int, int], list]:
    r = random.Random(seed)
    size = r.choice([(10, 4), (20, 6), (12, 8), (31, 5)])
    steps = []
    for _ in range(r.randint(10, 60)):
        steps.append(step(r))
        if steps[-1][0] == "resize":
            steps.append(("repaint", b"\x1b[H\x1b[2J\x1b[3J"))  # as every full-screen program does
    return size, steps
