#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Floods our terminal engine and tmux with the same bytes in one run and prints the ratio.

usage: flood.py TERM_BENCH_PROGRAM [--mb N] [--attached]

tmux runs `cat FILE` in a 200x50 window without a client (or, with --attached, with a client on a pty
that is drained), so that it does what our engine does: parse, keep the screen and the scrollback.
The figure for each side is processor time of the process that does the work, so a busy machine
disturbs both alike; the ratio counts, not the figure.
"""
import argparse
import json
import os
import pathlib
import pty
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

COLS, ROWS = 200, 50


def words(rng):
    return ["".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randint(2, 10))) for _ in range(500)]


def plain_line(rng, vocabulary):
    text = ""
    while len(text) < 20 + rng.randint(0, 140):
        text += rng.choice(vocabulary) + " "
    return text


def coloured_line(rng, vocabulary):
    out = []
    for word in plain_line(rng, vocabulary).split():
        kind = rng.random()
        if kind < 0.4:
            out.append(f"\x1b[3{rng.randint(1, 7)}m{word}\x1b[0m")
        elif kind < 0.6:
            out.append(f"\x1b[1;38;5;{rng.randint(16, 255)}m{word}\x1b[0m")
        elif kind < 0.7:
            r, g, b = (rng.randint(0, 15) * 16 for _ in range(3))
            out.append(f"\x1b[38;2;{r};{g};{b}m{word}\x1b[m")
        else:
            out.append(word)
    return " ".join(out)


def unicode_line(rng, vocabulary):
    letters = "你好世界日本語テスト한국어éüñøабвгдежλμπ"
    return "".join(rng.choice(letters) for _ in range(rng.randint(20, 120)))


def region_line(rng, vocabulary):
    """A status line kept at the bottom: text scrolls in a region, as in many installers."""
    return plain_line(rng, vocabulary) + f"\x1b7\x1b[{ROWS};1H\x1b[7m{rng.random():.6f}\x1b[0m\x1b[K\x1b8"


KINDS = {"plain": plain_line, "coloured": coloured_line, "unicode": unicode_line, "region": region_line}


def write_data(folder, name, size):
    rng = random.Random(name)
    vocabulary = words(rng)
    lines = [KINDS[name](rng, vocabulary).encode() + b"\r\n" for _ in range(2000)]
    path = folder / f"{name}.txt"
    written = 0
    with open(path, "wb") as file:
        if name == "region":
            file.write(f"\x1b[1;{ROWS - 1}r\x1b[1;1H".encode())
        while written < size:
            written += file.write(rng.choice(lines))
        if name == "region":
            file.write(b"\x1b[r")
    return path


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def drain(fd):
    try:
        while os.read(fd, 1 << 16):
            pass
    except OSError:
        pass


def tmux_rate(folder, path, attached):
    """MB per second of tmux server time."""
    socket = folder / "tmux.sock"
    done = folder / "done"
    done.unlink(missing_ok=True)
    go = folder / "go"
    go.unlink(missing_ok=True)
    tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
    env = dict(os.environ, LC_ALL="C.UTF-8", TERM="xterm-256color")
    env.pop("TMUX", None)
    # raw: the bytes reach tmux as they are
    shell = f"stty raw; while [ ! -e {go} ]; do sleep 0.05; done; cat {path}; touch {done}; sleep 600"
    subprocess.run([*tmux, "new-session", "-d", "-x", str(COLS), "-y", str(ROWS), shell], check=True, env=env)
    client = None
    try:
        pid = int(subprocess.run([*tmux, "display-message", "-p", "#{pid}"], check=True, env=env,
                                 capture_output=True, text=True).stdout)
        if attached:
            master, slave = pty.openpty()
            subprocess.run(["stty", "cols", str(COLS), "rows", str(ROWS + 1)], stdin=slave, check=True)
            client = subprocess.Popen([*tmux, "attach"], stdin=slave, stdout=slave, stderr=slave, env=env,
                                      start_new_session=True)
            os.close(slave)
            threading.Thread(target=drain, args=(master,), daemon=True).start()
            time.sleep(0.5)
        before = cpu_seconds(pid)
        go.touch()
        deadline = time.monotonic() + 300
        while not done.exists():
            if time.monotonic() > deadline:
                raise SystemExit("tmux did not finish")
            time.sleep(0.05)
        time.sleep(0.3)
        used = cpu_seconds(pid) - before
    finally:
        subprocess.run([*tmux, "kill-server"], env=env, check=False)
        if client is not None:
            client.wait(timeout=10)
    return path.stat().st_size / 1e6 / max(used, 0.01)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--mb", type=int, default=20)
    parser.add_argument("--attached", action="store_true")
    args = parser.parse_args()
    if shutil.which("tmux") is None:
        raise SystemExit("tmux is not installed: no ratio can be given")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for kind in KINDS:
            path = write_data(folder, kind, args.mb * 1_000_000)
            out = subprocess.run([args.program, "--cols", str(COLS), "--rows", str(ROWS), str(path)], check=True,
                                 capture_output=True, text=True).stdout
            ours = json.loads(out)["mb_per_s"]
            theirs = tmux_rate(folder, path, args.attached)
            print(json.dumps({"flood": kind, "ours_mb_per_cpu_s": ours, "tmux_mb_per_cpu_s": round(theirs, 1),
                              "ratio": round(ours / theirs, 2)}))
            sys.stdout.flush()
            path.unlink()


if __name__ == "__main__":
    main()
