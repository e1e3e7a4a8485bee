# SPDX-License-Identifier: Apache-2.0
"""tmux as one of several terminals that are compared: bytes in, rows of (character, style) out."""
import os
import re
import subprocess
import time

GRAPHICS = dict(zip("`abcdefghijklmnopqrstuvwxyz{|}~", "◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·"))
SIMPLE = {1: "B", 2: "d", 3: "i", 4: "u", 5: "k", 7: "r", 8: "h", 9: "s", 53: "o", 21: "u"}
ORDER = "Bdikrhsou"


def sgr(style: list, text: str) -> list:
    """The style [fg, bg, attributes] after one SGR sequence, as tmux writes them."""
    fg, bg, attributes = style
    numbers = [int(re.split(":", part)[0] or 0) if not part.startswith(("38:", "48:", "58:")) else part for part in text.split(";")]
    while numbers:
        n = numbers.pop(0)
        if n == 0:
            fg, bg, attributes = "-", "-", ""
        elif n in SIMPLE:
            attributes += SIMPLE[n]
        elif n in (38, 48):
            kind = numbers.pop(0)
            color = f"p{numbers.pop(0)}" if kind == 5 else "#%02x%02x%02x" % (numbers.pop(0), numbers.pop(0), numbers.pop(0))
            fg, bg = (color, bg) if n == 38 else (fg, color)
        elif isinstance(n, int):
            for first, base in ((30, 0), (90, 8)):
                fg = f"p{n - first + base}" if first <= n < first + 8 else fg
                bg = f"p{n - first - 10 + base}" if first + 10 <= n < first + 18 else bg
            fg, bg = "-" if n == 39 else fg, "-" if n == 49 else bg
    return [fg, bg, "".join(c for c in ORDER if c in attributes)]


def parse(line: str, style: list) -> tuple[list, list]:
    """Characters of a captured line with their styles, and the style it ends with."""
    out, graphics = [], False
    for part in re.findall(r"\x1b\[[0-9;:]*m|\x0e|\x0f|.", line, re.S):
        if part[0] == "\x1b":
            style = sgr(style, part[2:-1])
        elif part in "\x0e\x0f":
            graphics = part == "\x0e"
        else:
            out.append((GRAPHICS.get(part, part) if graphics else part, ",".join(style)))
    return out, style


class Tmux:
    """One server, one window; a fifo is what the program in it prints."""

    def __init__(self, folder: str, cols: int, rows: int):
        self.socket, self.fifo = os.path.join(folder, "socket"), os.path.join(folder, "fifo")
        os.mkfifo(self.fifo)
        self.marks = 0
        # a signal at once after cat has opened the fifo is not needed: open() below waits for it
        self.run("-f", "/dev/null", "new-session", "-d", "-x", str(cols), "-y", str(rows),
                 f"stty raw -echo; cat '{self.fifo}'; sleep 600")
        self.run("set-option", "-g", "window-size", "manual", ";", "set-option", "-g", "status", "off", ";",
                 "resize-window", "-x", str(cols), "-y", str(rows))
        self.out = open(self.fifo, "wb", buffering=0)

    def run(self, *words: str) -> str:
        env = {k: v for k, v in os.environ.items() if k not in ("TMUX", "TMUX_PANE")} | {"LC_ALL": "C.UTF-8"}
        return subprocess.run(["tmux", "-u", "-S", self.socket, *words], env=env, check=True, stdout=subprocess.PIPE,
                              timeout=60).stdout.decode()

    def feed(self, data: bytes):
        """Writes, and waits until tmux has read it all: a title at the end tells."""
        self.marks += 1
        self.out.write(data + b"\x18\x1b]2;mark-%d\x1b\\" % self.marks)
        end = time.monotonic() + 30
        while self.run("display-message", "-p", "#{pane_title}").strip() != f"mark-{self.marks}":
            if time.monotonic() > end:
                raise TimeoutError(f"tmux does not answer after {data[-40:]!r}")

    def resize(self, cols: int, rows: int):
        self.run("resize-window", "-x", str(cols), "-y", str(rows))

    def picture(self) -> tuple[tuple[int, int, int], list]:
        x, y, width, alternate = map(int, self.run("display-message", "-p", "#{cursor_x},#{cursor_y},#{pane_width},#{alternate_on}").split(","))
        rows, style = [], ["-", "-", ""]
        for line in self.run("capture-pane", "-p", "-e", "-N").split("\n")[:-1]:
            cells, style = parse(line, style)
            rows.append(cells)
        return (y, min(x, width - 1), alternate), rows

    def close(self):
        self.out.close()
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], check=False, stderr=subprocess.DEVNULL)
