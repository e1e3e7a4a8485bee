#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""versions.py TERM_CELLS TERM_CELLS [STREAMS]: two builds of our terminal (with another libvterm, before and after a change) and the
same bytes: recordings of programs, and random streams with tab stops, margins, resets and cut characters among them. After
every step their pictures must be the same, and so must the scrollback at the end."""
import pathlib
import random
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

import streams
from terminals_test import recordings

# what streams.py leaves out because the other terminals do not have it, or do it in another way
OURS = ["\x1b[?69h", "\x1b[?69l", "\x1b[3;9s", "\x1b[2;5s", "\x1b[s", "\x1b[2'}", "\x1b[1'~", "\x1bH", "\x1b[g", "\x1b[3g", "\t",
        "\t\t", "\x1b[2I", "\x1b[2Z", "\x1bD", "\x1bE", "\x1bM", "\x1b[?2J", "\x1b[?1K", "\x1b[1\"q", "\x1b[0\"q", "\x1b[!p",
        "\x1bc", "\x1b[?6h", "\x1b[?6l", "\x1b7", "\x1b8", "\x1b(0qx\x1b(B", "\x1b)0\x0eab\x0f", "\x1bN\x1b*0q", "x\x1b[3b",
        "\x1b#8", "\x1b[?5h", "\x1b[2;4r", "\x1b[r", "\u0301", "\x1b[3J", "\x1b[3L", "\x1b[2M", "\x1b[2S", "\x1b[2T"]


def noisy(seed: int):
    r = random.Random(seed)
    size, steps = streams.stream(seed)
    out = []
    for step in steps:
        out.append(step)
        while r.random() < 0.5:
            out.append(("ours", r.choice([b"\xe4\xbd", r.choice(OURS).encode()])))
    return size, out


def commands(size, steps) -> tuple[str, int]:
    out = [f"N {size[0]} {size[1]}"]
    for name, arg in steps:
        out += [f"R {arg[0]} {arg[1]}" if name == "resize" else f"F {arg.hex()}", "P"]
    return "\n".join(out + ["P", "H", ""]), len(steps) + 2


def main() -> int:
    programs = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    named = [*recordings(), *((f"stream {seed}", noisy(seed)) for seed in range(count))]
    scripts = [(name, steps, *commands(size, steps)) for name, (size, steps) in named]
    everything = "".join(script for _, _, script, _ in scripts).encode()
    running = [subprocess.Popen([p], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for p in programs]

    def feed(process):
        with process.stdin:
            process.stdin.write(everything)

    writers = [threading.Thread(target=feed, args=(p,), daemon=True) for p in running]
    for writer in writers:
        writer.start()
    pictures = different = 0
    for name, steps, _, expected in scripts:
        one, other = ([p.stdout.readline() for _ in range(expected)] for p in running)
        pictures += expected
        at = next((i for i in range(expected) if one[i] != other[i] or not one[i]), None)
        if at is not None:
            different += 1
            if different <= 3:
                print(f"{name}, step {at}, after {steps[max(0, at - 5):at + 1]}:\n  {one[at][:300]}\n  {other[at][:300]}")
    failed = any(p.wait() for p in running)
    print(f"{len(scripts)} inputs, {pictures} pictures, {different} inputs differ" + (", a program failed" if failed else ""))
    return 1 if different or failed else 0


if __name__ == "__main__":
    sys.exit(main())
