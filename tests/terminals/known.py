# SPDX-License-Identifier: Apache-2.0
"""The kinds of difference that we stand by. docs/terminal.md gives the reason of each under the same name ("Beside other
terminals"); a test sees to it. A matcher says as narrowly as it can what such a difference looks like."""
import unicodedata

TABS = ("HT", "CSI I", "CSI Z")
RESTORES = ("DECRC", "SCORC", "1048l", "1049l")


def has_wide(text: str) -> bool:
    return any(unicodedata.east_asian_width(c) in "WF" for c in text)


def sends_wide(d) -> bool:
    return isinstance(d.data, bytes) and has_wide(d.data.decode(errors="replace"))


def wide_does_not_fit(d) -> bool:
    last = len(d.ours.rows[0]) - 1
    return sends_wide(d) and d.same_cursor() and all(c >= last - 1 and d.theirs.rows[r][c][0] == " " for r, c in d.cells())


def erases_behind(d) -> bool:
    if d.name == "output":  # of a program: many sequences at once
        last = len(d.ours.rows[0]) - 1
        return b"\x1b[K" in d.data and d.same_cursor() and all(c == last and d.ours.rows[r][c][0] == " " for r, c in d.cells())
    return d.name in ("CSI J", "CSI K") and d.before and d.before.behind


def orphaned_half(d) -> bool:
    if d.before is None or not has_wide(d.before.text()):
        return False
    stands_on_one = d.before.rows[d.before.row][d.before.col][0] == ""
    return d.only_blank_styles() or (stands_on_one and d.same_cursor() and {r for r, _ in d.cells()} == {d.ours.row})


def moves_in_origin_mode(d) -> bool:
    return "DECOMh" in d.earlier and not d.cells() and d.ours.col == d.theirs.col and d.ours.row < d.theirs.row


def main_screen_after_resize(d) -> bool:
    return d.name in ("47l", "1047l", "1049l") and "resize" in d.earlier and d.before.alternate


def saved_after_resize(d) -> bool:
    return d.name in RESTORES and "resize" in d.earlier


def only_underlined_links(d) -> bool:
    def plain(style):
        return style.replace("u", "")
    return d.linked and d.same_cursor() and all(
        d.ours.rows[r][c][0] == d.theirs.rows[r][c][0] and plain(d.ours.rows[r][c][1]) == plain(d.theirs.rows[r][c][1])
        for r, c in d.cells())


ROWS = {
    "xterm.js fails": lambda d: d.theirs.broken,
    "REP": lambda d: d.name == "REP",
    "erasing behind the last column": erases_behind,
    "CBT behind the last column": lambda d: d.name == "CSI Z" and d.before and d.before.behind,
    "wide character at the end": wide_does_not_fit,
    "wide character without autowrap": lambda d: "DECAWMl" in d.earlier and sends_wide(d),
    "half of a wide character": orphaned_half,
    "47 and 1047": lambda d: d.name in ("47h", "1047h", "47l", "1047l") and d.only_blank_styles(),
    "1049 twice": lambda d: d.name == "1049h" and d.before and d.before.alternate,
    "DECALN": lambda d: d.name == "DECALN",
    "SD": lambda d: d.name == "CSI T" and d.only_blank_styles(),
    "tab stops and size": lambda d: d.name in TABS and "resize" in d.earlier and {"TBC", "HTS"} & set(d.earlier),
    "saved pending wrap": lambda d: d.name in RESTORES and d.ours.behind and not d.theirs.behind,
    "saved cursor and size": saved_after_resize,
    "main screen and size": main_screen_after_resize,
    "origin mode": moves_in_origin_mode,
    "hyperlinks": only_underlined_links,
}

def cut_rows(picture, cols: int) -> list[str]:
    """Rows up to a column, without a wide character of which a half is left."""
    rows = []
    for row in picture.rows:
        texts = [cell for cell, _ in row][:cols]
        if has_wide(texts[-1]):
            texts[-1] = " "
        rows.append("".join(texts).rstrip())
    return rows


def is_window(picture, before) -> bool:
    """Rows that followed each other before, cut or filled at the right end; blank rows below."""
    cols = min(len(picture.rows[0]), len(before.rows[0]))
    now, then = cut_rows(picture, cols), cut_rows(before, cols) + [""] * len(picture.rows)
    return any(now == then[at:at + len(now)] for at in range(len(before.rows)))


def keeps_the_text(d) -> bool:
    """Nothing of ours is lost but rows below the cursor."""
    before, after = d.texts()
    below = "".join(cell for row in (d.before.rows[d.before.row:] if d.before else []) for cell, _ in row).replace(" ", "")
    return before.startswith(after) and len(before) - len(after) <= len(below)


# What differs at once after a resize; streams repaint then, as full-screen programs do.
RESIZES = {
    "xterm.js fails": lambda d: d.theirs.broken,
    "size: alternate screen": lambda d: d.before and d.before.alternate and is_window(d.ours, d.before),
    "size: cursor": lambda d: [[c for c, _ in row] for row in d.ours.rows] == [[c for c, _ in row] for row in d.theirs.rows]
    and not d.same_cursor(),
    "size: main screen": lambda d: not d.ours.alternate and keeps_the_text(d),
}


def kind_of(d, rows=ROWS) -> str | None:
    for kind, matches in rows.items():
        if matches(d):
            return kind
    return None


NOT_RANDOM = {"hyperlinks"}  # only what programs send has them

# Widths that xterm.js (its table of Unicode 11) has otherwise: first, last, kind.
WIDTHS: list[tuple[int, int, str]] = [
    (0x0600, 0x0605, "prepended marks"), (0x06DD, 0x06DD, "prepended marks"), (0x070F, 0x070F, "prepended marks"),
    (0x0898, 0x089F, "newer characters"), (0x08CA, 0x08D2, "newer characters"), (0x08E2, 0x08E2, "prepended marks"),
    (0x0B55, 0x0B55, "newer characters"), (0x0C3C, 0x0C3C, "newer characters"), (0x0D81, 0x0D81, "newer characters"),
    (0x0ECE, 0x0ECE, "newer characters"), (0x1734, 0x1734, "newer characters"), (0x180F, 0x180F, "newer characters"),
    (0x1ABF, 0x1ACE, "newer characters"), (0x1DFA, 0x1DFA, "newer characters"), (0x2028, 0x2029, "invisible"),
    (0x2FFC, 0x2FFF, "newer characters"), (0x31BB, 0x31BF, "newer characters"), (0x31EF, 0x31EF, "newer characters"),
    (0x4DC0, 0x4DFF, "hexagrams"), (0xA82C, 0xA82C, "newer characters"), (0xD7B0, 0xD7C6, "old Hangul"),
    (0xD7CB, 0xD7FB, "old Hangul"), (0x10EAB, 0x10EAC, "newer characters"), (0x10EFD, 0x10EFF, "newer characters"),
    (0x10F82, 0x10F85, "newer characters"), (0x11070, 0x11070, "newer characters"),
    (0x11073, 0x11074, "newer characters"), (0x110BD, 0x110BD, "prepended marks"),
    (0x110C2, 0x110C2, "newer characters"), (0x110CD, 0x110CD, "prepended marks"),
    (0x111CF, 0x111CF, "newer characters"), (0x11241, 0x11241, "newer characters"),
    (0x1193B, 0x1193C, "newer characters"), (0x1193E, 0x1193E, "newer characters"),
    (0x11943, 0x11943, "newer characters"), (0x11F00, 0x11F01, "newer characters"),
    (0x11F36, 0x11F3A, "newer characters"), (0x11F40, 0x11F40, "newer characters"),
    (0x11F42, 0x11F42, "newer characters"), (0x13439, 0x1343F, "invisible"), (0x13440, 0x13440, "newer characters"),
    (0x13447, 0x13455, "newer characters"), (0x16FE4, 0x16FE4, "newer characters"),
    (0x16FF0, 0x16FF1, "newer characters"), (0x18AF3, 0x18CD5, "newer characters"),
    (0x18D00, 0x18D08, "newer characters"), (0x1AFF0, 0x1AFF3, "newer characters"),
    (0x1AFF5, 0x1AFFB, "newer characters"), (0x1AFFD, 0x1AFFE, "newer characters"),
    (0x1B11F, 0x1B122, "newer characters"), (0x1B132, 0x1B132, "newer characters"),
    (0x1B155, 0x1B155, "newer characters"), (0x1CF00, 0x1CF2D, "newer characters"),
    (0x1CF30, 0x1CF46, "newer characters"), (0x1E08F, 0x1E08F, "newer characters"),
    (0x1E2AE, 0x1E2AE, "newer characters"), (0x1E4EC, 0x1E4EF, "newer characters"),
    (0x1F6D6, 0x1F6D7, "newer characters"), (0x1F6DC, 0x1F6DF, "newer characters"),
    (0x1F6FB, 0x1F6FC, "newer characters"), (0x1F7F0, 0x1F7F0, "newer characters"),
    (0x1F90C, 0x1F90C, "newer characters"), (0x1F93B, 0x1F93B, "newer characters"),
    (0x1F946, 0x1F946, "newer characters"), (0x1F972, 0x1F972, "newer characters"),
    (0x1F977, 0x1F979, "newer characters"), (0x1F9A3, 0x1F9A4, "newer characters"),
    (0x1F9AB, 0x1F9AD, "newer characters"), (0x1F9CB, 0x1F9CC, "newer characters"),
    (0x1FA74, 0x1FA77, "newer characters"), (0x1FA7B, 0x1FA7C, "newer characters"),
    (0x1FA83, 0x1FA88, "newer characters"), (0x1FA96, 0x1FABD, "newer characters"),
    (0x1FABF, 0x1FAC5, "newer characters"), (0x1FACE, 0x1FADB, "newer characters"),
    (0x1FAE0, 0x1FAE8, "newer characters"), (0x1FAF0, 0x1FAF8, "newer characters"),
]

# Recorded programs in tmux: those that end with the cursor elsewhere, and rows.
TMUX_CURSOR = {"bars": "IL and DL in tmux"}
TMUX_ROWS: dict[tuple[str, int], str] = {}
