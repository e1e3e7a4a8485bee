#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what real programs send to a terminal, for terminals_test.py. Needs scripts/setup.sh --record.

  record.py [NAME…]        all, or those; into recordings/NAME.json.xz
  record.py --show NAME    the bytes

A program runs in bubblewrap as user agent on host sandbox with a home of its own: nothing of this machine is recorded.
A recording is a list: {"cols", "rows"}, then pieces of output (latin-1 text) and [cols, rows] for a resize.
"""
import fcntl
import json
import lzma
import os
import pathlib
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

FOLDER = pathlib.Path(__file__).resolve().parent / "recordings"
BYTES_MAX = 96 * 1024
QUIET_S, WAIT_S = 0.4, 8.0

SETUP = r"""
set -e
cd ~; mkdir -p project/src .config
printf 'PS1="\\[\\e[32m\\]\\u@\\h\\[\\e[m\\]:\\w\\$ "\nalias ls="ls --color=auto"\n' >.bashrc
cd project
for i in $(seq 1 60); do echo "line $i of a text with some words, tabs	and wide characters 你好 🟢 é"; done >notes.md
cat >src/main.c <<'C'
/* a program with a mistake */
#include <stdio.h>
int main(int argc, char **argv)
{
	int unused = 3;
	char *text = 5;
	for (int i = 0; i < argc; i++)
		printf("%s %d\n", argv[i], text);
	return argc
}
C
printf 'cmake_minimum_required(VERSION 3.10)\nproject(p C)\nadd_executable(p ok.c)\n' >CMakeLists.txt
echo 'int main(void) { return 0; }' >ok.c
mkdir sub 'with space'; ln -s nowhere broken; touch run.sh; chmod +x run.sh; touch a.tar.gz 图片.png
export GIT_AUTHOR_DATE='2026-01-02T03:04:05Z' GIT_COMMITTER_DATE='2026-01-02T03:04:05Z'
git init -q -b main . ; git config user.name agent; git config user.email agent@sandbox
git add notes.md ok.c; git commit -qm 'first'; sed -i 's/line 3 /line three /' notes.md; git commit -qam 'second: a change'
git checkout -qb side; echo x >side.txt; git add side.txt; git commit -qm 'side 你好'; git checkout -q main; git merge -q --no-ff -m merge side
sed -i 's/line 7 /line seven /' notes.md
cat >agent.py <<'P'
import sys, time
out = sys.stdout
out.write("\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b]0;agent\x07")
for frame in range(12):
    out.write("\x1b[?2026h\x1b[H")
    for row in range(1, 24):
        out.write(f"\x1b[{row};1H\x1b[48;2;{row * 5};20;{40 + frame * 8}m\x1b[38;5;{100 + row}m {'⠋⠙⠹⠸'[frame % 4]} step {frame}: row {row} 🟢 done ✓\x1b[K\x1b[m")
    out.write(f"\x1b[24;1H\x1b[7m ready {frame} \x1b[m\x1b[K\x1b[?2026l")
    out.flush(); time.sleep(0.01)
out.write("\x1b[?25h\x1b[?2004l\x1b[?1049l"); out.write("\x1b[2K\r└ 12 frames\r\n")
for i in range(5):
    out.write(f"\x1b[?2026h\x1b[{i}A\x1b[J" if i else ""); out.write("".join(f"│ task {k} {'█' * (i + k)}\x1b[90m{'░' * (9 - i - k)}\x1b[39m\r\n" for k in range(i)) + "\x1b[?2026l")
P
"""

# name: command, keys (each waits for quiet; a tuple is a resize), size
UP, DOWN, RIGHT, ESC, CTRL = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b", lambda c: chr(ord(c) & 31)
PROGRAMS = {
    "bash": ("bash -i", ["ls -la\r", "echo one two three four five six seven eight nine ten eleven twelve thirteen fourteen", CTRL("A"), "X ", CTRL("E"), " y\r", CTRL("R"), "ls", ESC, CTRL("U"), "cat no", "\t", "\r", "exit\r"]),
    "bash-resize": ("bash -i", ["ls --color -C /usr/bin | head -20\r", (60, 20), "echo hello\r", (100, 30), "printf '%s ' {1..60}\r", "exit\r"]),
    "zsh": ("zsh -f -i", ["autoload -U colors; PROMPT='%F{cyan}%n%f %~ %# '\r", "ls --color\r", "echo 你好 wo", "\t", "\r", "for i in 1 2; do\r", "echo $i; done\r", "exit\r"]),
    "fish": ("fish --no-config", ["ls\r", "echo hello wor", CTRL("A"), CTRL("K"), "for i in 1 2\r", "echo $i\r", "end\r", "exit\r"]),
    "vim": ("vim -u NONE -N -c 'syntax on' -c 'set nu ruler showcmd background=dark' src/main.c", ["jj", "oint x = 1; /* 你 */", ESC, ":vsplit notes.md\r", CTRL("D"), CTRL("W") + "w", "/printf\r", "dd", "u", ":help\r", ":qa!\r"]),
    "vim-resize": ("vim -u NONE -N notes.md", [CTRL("F"), (60, 16), "GA end", ESC, (100, 30), ":q!\r"]),
    "nvim": ("nvim -u NONE -i NONE src/main.c", ["jj", "oint x = 1;", ESC, ":vsplit notes.md\r", CTRL("D"), "/wide\r", "dd", "u", ":qa!\r"]),
    "nano": ("nano notes.md", [DOWN * 3, "typed ", CTRL("V"), CTRL("W"), "wide\r", CTRL("K"), CTRL("G"), CTRL("X"), CTRL("X"), "n"]),
    "less": ("less -R notes.md", [" ", "b", "/wide\r", "n", "G", "-S\r", RIGHT, "q"]),
    "man": ("man ls", [" ", "/sort\r", "n", "q"]),
    "top": ("top -n 3 -d 0.3", []),
    "htop": ("htop", [DOWN * 3, "t", "\x1bOR", ESC, "q"]),
    "mc": ("mc -x", [DOWN * 2, "\t", "\x1bOP", ESC + ESC, "\x1b[21~", "\r"]),
    "screen": ("screen -q bash --norc", ["ls --color\r", CTRL("A") + "c", "echo second\r", CTRL("A") + "S", CTRL("A") + "\t", CTRL("A") + "c", "echo third\r", CTRL("A") + "\\", "y"]),
    "tmux": ("tmux -f /dev/null -L r new-session 'bash --norc'", ["ls --color\r", CTRL("B") + '"', "seq 40\r", CTRL("B") + "%", "echo 你好 🟢\r", CTRL("B") + "[", UP * 4, "q", (70, 20), CTRL("B") + "&", "y"]),
    "dialog": ("dialog --menu 'a menu' 15 40 5 1 one 2 two 3 three", [DOWN, "\t", "\r"]),
    "tig": ("tig", [DOWN, "\r", DOWN * 4, "q", "q"]),
    "fzf": ("seq 200 | fzf --height=12 --border --preview 'echo preview {}'", ["1", "7", UP, UP, "\r"]),
    "w3m": ("printf '<h1>Title</h1><p>a <b>bold</b> <a href=x>link</a></p><table border><tr><td>1</td><td>你好</td></tr></table>' | w3m -T text/html", ["\t", "j", "q", "y"]),
    "ncdu": ("ncdu .", [DOWN, "i", "i", "q"]),
    "git-log": ("git --no-pager log --graph --color=always --stat --all; git --no-pager diff --color=always --word-diff", []),
    "git-pager": ("git log -p --color=always", [" ", "G", "q"]),
    "ls": ("ls --color=always -la; ls --color=always -C /etc | tail -30; ls --hyperlink=always --color=always", []),
    "gcc": ("gcc -fdiagnostics-color=always -Wall -c src/main.c", []),
    "cmake": ("cmake -G Ninja -B build . && ninja -C build && cmake --build build --clean-first", []),
    "make": ("cmake -G 'Unix Makefiles' -B mk . >/dev/null && CLICOLOR_FORCE=1 make -C mk", []),
    "python": ("python3 -q", ["import sys\r", "[i*i for i in range(40)]\r", "def f(x):\r", "    return x\r", "\r", "print('你好 🟢', f(3))\r", UP, "\r", "1/0\r", CTRL("D")]),
    "apt": ("apt-get -s -o APT::Color=1 -o Dpkg::Progress-Fancy=1 install --reinstall less; python3 -c \"import sys,time\nsys.stdout.write('\\n\\x1b7\\x1b[0;23r\\x1b8\\x1b[1A')\nfor p in range(0, 101, 10):\n  sys.stdout.write(f'Unpacking {p}\\r\\n\\x1b7\\x1b[24;0f\\x1b[42m\\x1b[30mProgress: [{p:3}%]\\x1b[49m\\x1b[39m [{\\\"#\\\" * (p // 4):25}] \\x1b8')\nsys.stdout.write('\\x1b7\\x1b[0;24r\\x1b8\\x1b[1A\\x1b[J\\n')\"", []),
    "agent": ("python3 agent.py", []),
    "bars": ("for i in $(seq 0 5 100); do printf '\\r\\033[K%3d%% [%-20s]' $i $(printf '#%.0s' $(seq 0 $((i/5)))); done; echo; tput setaf 3; tput bold; echo bold; tput sgr0; tput smacs; echo lqqqk; tput rmacs; tput rev; echo rev; tput sgr0; tput cup 5 10; tput el; tput ich 3; tput il 2; tput ed", []),
}


def sandbox(home: str, command: str) -> list[str]:
    passwd = os.path.join(home, ".passwd")
    pathlib.Path(passwd).write_text("root:x:0:0::/:/bin/sh\nagent:x:1000:1000::/home/agent:/bin/bash\n")
    group = os.path.join(home, ".group")
    pathlib.Path(group).write_text("root:x:0:\nagent:x:1000:\n")
    return ["bwrap", "--unshare-all", "--hostname", "sandbox", "--uid", "1000", "--gid", "1000", "--die-with-parent",
            "--ro-bind", "/usr", "/usr", "--ro-bind", "/etc", "/etc", "--ro-bind", passwd, "/etc/passwd", "--ro-bind", group, "/etc/group",
            "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--symlink", "usr/sbin", "/sbin",
            "--ro-bind", "/var/lib/dpkg", "/var/lib/dpkg", "--ro-bind", "/var/lib/apt", "/var/lib/apt",
            "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run", "--bind", os.path.join(home, "agent"), "/home/agent",
            "--chdir", "/home/agent/project" if os.path.exists(os.path.join(home, "agent/project")) else "/home/agent", "--clearenv",
            "--setenv", "HOME", "/home/agent", "--setenv", "USER", "agent", "--setenv", "TERM", "xterm-256color", "--setenv", "COLORTERM", "truecolor",
            "--setenv", "LANG", "C.UTF-8", "--setenv", "PATH", "/usr/bin:/bin:/usr/games:/usr/sbin", "--setenv", "LESSHISTFILE", "-", "bash", "-c", command]


def answer(data: bytes) -> bytes:
    """What a terminal answers to the questions that programs wait for."""
    out = b""
    if b"\x1b[c" in data or b"\x1b[0c" in data:
        out += b"\x1b[?62;22c"
    if b"\x1b[6n" in data:
        out += b"\x1b[1;1R"
    if b"\x1b]11;?" in data:
        out += b"\x1b]11;rgb:0000/0000/0000\x1b\\"
    return out


def record(name: str) -> list:
    command, keys = PROGRAMS[name]
    cols, rows = 80, 24
    with tempfile.TemporaryDirectory() as home:
        os.mkdir(os.path.join(home, "agent"))
        subprocess.run(sandbox(home, SETUP), check=True, stdout=subprocess.DEVNULL)
        pid, fd = pty.fork()
        if pid == 0:
            os.execvp("bwrap", sandbox(home, command))
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
        out: list = [{"cols": cols, "rows": rows}]
        size = 0
        keys = list(keys)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            ready = select.select([fd], [], [], QUIET_S if keys else WAIT_S)[0]
            if ready:
                try:
                    data = os.read(fd, 65536)
                except OSError:
                    break
                if not data:
                    break
                size += len(data)
                if size > BYTES_MAX:
                    break
                out.append(data.decode("latin-1"))
                os.write(fd, answer(data))
            elif keys:
                key = keys.pop(0)
                if isinstance(key, tuple):
                    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", key[1], key[0], 0, 0))
                    out.append(list(key))
                else:
                    os.write(fd, key.encode())
            else:
                break
        os.close(fd)
        os.waitpid(pid, 0)
    joined: list = [out[0]]
    for piece in out[1:]:
        if isinstance(piece, str) and isinstance(joined[-1], str):
            joined[-1] += piece
        else:
            joined.append(piece)
    return joined


def main() -> int:
    if sys.argv[1:2] == ["--show"]:
        for piece in json.loads(lzma.open(FOLDER / f"{sys.argv[2]}.json.xz").read()):
            sys.stdout.buffer.write(piece.encode("latin-1") if isinstance(piece, str) else f"\n{piece}\n".encode())
        return 0
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PROGRAMS:
        recording = record(name)
        text = json.dumps(recording)
        private = re.search(r"/work|/root|/tmp/tmp|" + re.escape(os.uname().nodename), text)
        if private:
            print(f"{name}: {private.group()} is in it")
            return 1
        (FOLDER / f"{name}.json.xz").write_bytes(lzma.compress(text.encode(), preset=9))
        print(f"{name}: {sum(len(p) for p in recording if isinstance(p, str))} bytes, {(FOLDER / f'{name}.json.xz').stat().st_size} stored")
    return 0


if __name__ == "__main__":
    sys.exit(main())
