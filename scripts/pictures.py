#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pictures.py [--write]: docs/pictures/*.svg, drawn from the screens that the tests compare.

A script of tests/unit/tui/views/scripts/screens-NAME.txt shows a screen at several sizes: of each row its text, and a
letter for the role of each cell (tests/unit/tui/script/picture.h). Here the rows of one size are put together and drawn
in the colours that a theme gives to the roles. Without --write it only says whether the committed pictures are these."""
import html
import pathlib
import re
import sys
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "tests/unit/tui/views/scripts"
PICTURES = ROOT / "docs/pictures"
LETTERS = ".bcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN"
NAMED = dict(zip("black red green yellow blue magenta cyan white".split(),
                 "#000000 #cd3131 #0dbc79 #c5a10c #3b78ff #bc3fbc #11a8cd #d0d0d0".split()))
NAMED.update(zip(["bright-" + name for name in list(NAMED)],
                 "#7f7f7f #f14c4c #23d18b #f5e543 #6ba4ff #d670d6 #29b8db #ffffff".split()))
CELL_X, CELL_Y, SIZE = 8.4, 18, 14

# picture: (script, size, which of that size, theme, section of the theme)
ROWS = {
    "list": ("list", (120, 35), 0, "default", "roles"),
    "list-light": ("list", (120, 35), 0, "light", "roles"),
    "list-256": ("list", (80, 24), 0, "default", "roles-256"),
    "list-16": ("list", (80, 24), 0, "default", "roles-16"),
    "list-8": ("list", (80, 24), 0, "default", "roles-8"),
    "list-none": ("list", (80, 24), 0, "default", "roles-none"),
    "small": ("list", (40, 10), 0, "default", "roles"),
    "empty": ("empty", (80, 24), 0, "default", "roles"),
    "lost": ("lost", (120, 35), 0, "default", "roles"),
    "detail": ("detail", (120, 35), 0, "default", "roles"),
    "files": ("files", (120, 35), 0, "default", "roles"),
    "shell": ("shell", (80, 24), 0, "default", "roles"),
    "help": ("help", (120, 35), 0, "default", "roles"),
    "delete": ("dialog", (120, 35), 0, "default", "roles"),
    "new": ("dialog", (120, 35), 1, "default", "roles"),
    "log": ("log", (120, 35), 0, "default", "roles"),
}


def roles() -> list[str]:
    return re.findall(r'X\([A-Z_]+, "([a-z-]+)"', (ROOT / "tui/draw/theme.h").read_text().replace("\\\n", " "))


def indexed(n: int) -> str:
    if n < 16:
        return list(NAMED.values())[n]
    if n < 232:
        levels = [0, 95, 135, 175, 215, 255]
        parts = [levels[(n - 16) // 36], levels[(n - 16) // 6 % 6], levels[(n - 16) % 6]]
        return "#%02x%02x%02x" % tuple(parts)
    return "#" + "%02x" % (8 + 10 * (n - 232)) * 3


def theme(name: str, section: str) -> tuple[dict, str, str]:
    """role -> (foreground, background, attributes); and what the default colours are."""
    text = (ROOT / f"themes/{name}.yaml").read_text()
    rows, pane, at = {}, None, None
    for line in text.splitlines():
        head = re.match(r"([a-z0-9-]+):", line)
        row = re.match(r"  ([a-z-]+): \{(.*)\}", line)
        at = head[1] if head else at
        if not row:
            continue
        keys = {k: v.strip().strip('"') for k, v in re.findall(r"([a-z]+): (\"[^\"]*\"|[^,}]+)", row[2])}
        if at == "roles" and row[1] == "pane":
            pane = (keys["fg"], keys["bg"])
        if at == section:
            rows[row[1]] = keys
    return rows, *pane


def color(value, otherwise: str) -> str:
    if value is None or value == "default":
        return otherwise
    return value if value.startswith("#") else indexed(int(value)) if value.isdigit() else NAMED[value]


def screens(name: str):
    """(columns, rows, {row: (text, {letter kind: letters})}) after each step that gives a size."""
    rows, size, shown = {}, None, []
    for line in (SCRIPTS / f"screens-{name}.txt").read_text().splitlines():
        step = re.match(r"[>~] size (\d+) (\d+)", line)
        row = re.match(r"([ \d]\d)\|(.*)", line)
        letters = re.match(r" ([ ab])\|(.*)", line)
        if line[:1] in ">~" and line[:1]:
            if size:
                shown.append((size, {k: v for k, v in rows.items() if k < size[1]}))
            size = tuple(map(int, step.groups())) if step and line[0] == ">" else None
            if step:
                rows = {k: v for k, v in rows.items() if k < int(step[2])}
        elif row:
            last = int(row[1])
            rows[last] = (row[2], {})
        elif letters:
            rows[last][1][letters[1]] = letters[2]
    if size:
        shown.append((size, rows))
    return shown


def columns_of(char: str) -> int:
    return 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cells(text: str, letters: dict, cols: int):
    """(column, characters, letter of the foreground, of the background, of attributes)."""
    out, at = [], 0
    for char in text.ljust(cols):
        wide = columns_of(char)
        if not wide and out:
            out[-1][1] += char
            continue
        if at >= cols:
            break
        get = lambda kind, plain: letters.get(kind, "")[at:at + 1] or plain
        fg = get(" ", ".")
        out.append([at, char, fg, get("b", fg) if "b" in letters else fg, get("a", ".")])
        at += wide
    return out


def svg(name: str) -> str:
    script, size, which, theme_name, section = ROWS[name]
    found = [rows for at, rows in screens(script) if at == size]
    rows, (look, ink, paper), names = found[which], theme(theme_name, section), roles()
    cols, lines = size

    def style(fg_letter, bg_letter, attr):
        def of(letter):
            if letter in ":#$":
                return {}
            if letter.isdigit():
                return {"fg": letter}
            return look.get(names[LETTERS.index(letter)], {})
        fg, bg = of(fg_letter), of(bg_letter)
        front, back = color(fg.get("fg"), ink), color(bg.get("bg"), paper)
        if "reverse" in bg or attr in "Rr":
            front, back = back, front
        return front, back, "bold" in fg or attr in "Bdr", "dim" in fg or attr in "Dd", "underline" in bg or attr == "U"

    width, height = cols * CELL_X + 16, lines * CELL_Y + 16
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-family="monospace" font-size="{SIZE}">',
           f"<title>sandmux: {html.escape(name)}, {cols} by {lines}</title>",
           f'<rect width="100%" height="100%" rx="6" fill="{paper}"/>']
    for y in range(lines):
        runs = []
        for at, chars, fg, bg, attr in cells(*rows.get(y, ("", {})), cols):
            how = style(fg, bg, attr)
            # signs that fonts draw in widths of their own are placed by their column
            if runs and runs[-1][2] == how and chars.isascii() == runs[-1][1].isascii():
                runs[-1][1] += chars
            else:
                runs.append([at, chars, how])
        ends = [run[0] for run in runs[1:]] + [cols]
        for (at, chars, (front, back, bold, dim, line)), end in zip(runs, ends):
            x, top = 8 + at * CELL_X, 8 + y * CELL_Y
            if back != paper:
                out.append(f'<rect x="{x:.1f}" y="{top}" width="{(end - at) * CELL_X:.1f}" height="{CELL_Y}" fill="{back}"/>')
            if not chars.strip():
                continue
            more = (' font-weight="bold"' if bold else "") + (' opacity="0.65"' if dim else "") + (' text-decoration="underline"' if line else "")
            text = html.escape(chars.rstrip())
            long = f' textLength="{sum(map(columns_of, chars.rstrip())) * CELL_X:.1f}"'
            out.append(f'<text x="{x:.1f}" y="{top + 13}" fill="{front}"{more}{long} xml:space="preserve">{text}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main() -> int:
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(f"usage: scripts/{__doc__}")
        return 0
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(f"usage: scripts/{__doc__}")
    write, bad = "--write" in sys.argv[1:], []
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name in ROWS:
        path, want = PICTURES / f"{name}.svg", svg(name)
        if write:
            path.write_text(want)
        elif not path.exists() or path.read_text() != want:
            bad.append(f"docs/pictures/{name}.svg is not what screens-{ROWS[name][0]}.txt shows: scripts/pictures.py --write")
    bad += [f"docs/pictures/{path.name}: no row of scripts/pictures.py draws it" for path in PICTURES.glob("*") if path.stem not in ROWS]
    print("\n".join(bad), file=sys.stderr, end="\n" if bad else "")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
