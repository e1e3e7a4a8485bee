# SPDX-License-Identifier: Apache-2.0
"""lint.py CHECK…: rules of the house that a compiler does not hold.

format    clang-format
includes  a room includes only itself and the rooms under it (docs/architecture.md)
banned    functions that lose bounds or errors; in a front end, those that work on files or run programs in a sandbox
headers   every header compiles alone
errors    headers name the codes that their functions give (Errors: ERR_X, ERR_Y.), each is in the table, none that is set is missing
codes     each code of the table is provoked by a test
text      SPDX lines, no machine paths, no registry hosts
files     docs/architecture.md has one line for each file
tests     each file of tests is a test
hardening the programs are as cmake/hardening.cmake says
scripts   who asks a script for help gets it, and a wrong word is refused, before anything is installed, built or written
where     docs/architecture.md says where things are, and the names of the files alone would too
pictures  docs/pictures are the screens that the tests compare
keys      docs/keys.md is what the program prints from its key table
manual    docs/sandmux.1 and the codes in docs/cli.md are what the program prints, and groff has nothing to say about the page
all       everything
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENGINE = ["engine/base", "engine/net", "engine/k8s", "engine/kube", "engine/telemetry", "engine/runtime",
          "engine/access", "engine/fleet", "engine/connect", "engine/files", "engine/transfer",
          "engine/resource", "engine/kinds", "engine/usage", "engine/podlog"]

# room -> prefixes of what it may include from the project. The longest matching room decides.
ALLOWED = {
    "engine/base": ["engine/base"],
    "engine/net": ["engine/base", "engine/net"],
    "engine/k8s": ["engine/base", "engine/k8s"],
    "engine/kube": ["engine/base", "engine/net", "engine/k8s", "engine/kube"],
    "engine/telemetry": ["engine/base", "engine/net", "engine/telemetry"],
    "engine/runtime": ["engine/base", "engine/net", "engine/telemetry", "engine/runtime", "proto"],
    "engine/resource": ["engine/base", "engine/k8s", "engine/resource"],
    "engine/podlog": ["engine/base", "engine/net", "engine/k8s", "engine/kube", "engine/podlog"],
    "engine/kinds": ["engine/base", "engine/net", "engine/k8s", "engine/kube", "engine/resource", "engine/access",
                     "engine/kinds"],
    "engine/usage": ["engine/base", "engine/net", "engine/k8s", "engine/kube", "engine/usage"],
    "engine/access": ["engine/base", "engine/net", "engine/k8s", "engine/kube", "engine/access"],
    "engine/connect": ["engine/base", "engine/net", "engine/k8s", "engine/kube", "engine/runtime", "engine/fleet",
                       "engine/connect"],
    "engine/fleet": ["engine/base", "engine/net", "engine/k8s", "engine/kube", "engine/telemetry",
                     "engine/runtime", "engine/resource", "engine/access", "engine/usage", "engine/fleet"],
    "engine/files": ["engine/base", "engine/net", "engine/runtime", "engine/files"],
    "engine/transfer": ["engine/base", "engine/net", "engine/telemetry", "engine/runtime", "engine/files",
                        "engine/transfer"],
    "engine": ENGINE + ["engine/engine.h", "engine/kinds.h", "engine/usage.h", "engine/doctor.h", "engine/action.h", "engine/link.h", "engine/object.h", "engine/edit.h", "engine/draft.h", "engine/contexts.h", "engine/internal.h"],
    "local/control": ["engine/base", "engine/net", "local/control", "local/isolation"],
    "local/isolation": ["engine/base", "engine/net", "local/isolation"],
    "local/daemon": ["engine/base", "engine/net", "local/daemon", "proto"],
    "local/portproxy": ["local/portproxy"],
    # the API and the controllers stand on the store and do not know each other; server.h is what they share
    "local/server/store": ["engine/base", "engine/k8s", "local/server/store"],
    "local/server/api": ["engine/base", "engine/net", "engine/k8s", "local/server/store", "local/server/api",
                         "local/server/server.h", "proto"],
    "local/server/controller": ["engine/base", "engine/net", "engine/k8s", "local/server/store",
                                "local/server/controller", "local/server/server.h"],
    "local/server/kubelet": ["engine/base", "engine/net", "engine/k8s", "local/isolation", "local/server/store",
                             "local/server/controller", "local/server/kubelet", "local/server/server.h",
                             "local/server/token.h", "local/control/private.h", "local/control/quarantine.h",
                             "local/control/remove.h"],
    "local/server/manager": ["engine/base", "engine/net", "engine/k8s", "local/server/store", "local/server/controller",
                             "local/server/kubelet", "local/server/manager", "local/server/server.h"],
    "local/server": ["engine/base", "engine/net", "engine/k8s", "local/server", "local/isolation",
                     "local/control/private.h", "local/control/quarantine.h",
                     "local/control/remove.h"],
    "tui/term": ["engine/base", "tui/term"],
    "tui/session": ["engine/base", "engine/engine.h", "tui/session", "tui/term"],
    "tui/draw": ["engine/base", "engine/net/loop.h", "engine/net/watch.h", "tui/draw"],
    "tui/widgets": ["engine/base", "tui/widgets", "tui/draw"],
    "tui/view": ["engine/base", "engine/resource", "engine/engine.h", "tui/view", "tui/widgets", "tui/draw"],
    "tui/views": ["engine/base", "engine/resource", "engine/engine.h", "tui/views", "tui/view", "tui/widgets", "tui/draw",
                  "tui/session", "tui/term"],
    # a workspace knows no client and no terminal; a client sees of it what workspace.h says
    "tui/workspace": ["engine/base", "engine/engine.h", "tui/workspace", "tui/views", "tui/view", "tui/widgets",
                      "tui/session"],
    "tui/client": ["engine/base", "engine/engine.h", "tui/client", "tui/workspace/workspace.h",
                   "tui/views/transfers/transfers.h", "tui/view", "tui/widgets", "tui/draw"],
    "tui/app": ["engine/base", "engine/engine.h", "tui/app", "tui/client/client.h", "tui/workspace/workspace.h",
                "tui/views/views.h"],
    "cli": ["engine/base", "engine/resource", "engine/k8s/selector.h", "engine/engine.h", "cli", "local/control", "tui/app/app.h", "tui/view/keys.h", "tui/view/keymap.h"],
}
# a library's headers, and the only rooms (or the one file) that may see them
LIBRARIES = {
    r"n?curses\.h|term\.h": ["tui/draw"],
    r"vterm\.h": ["tui/term/vterm_adapter.c"],
    r"termkey\.h": ["tui/draw"],
    r"curl/": ["engine/net"],
    r"nghttp2/": ["engine/net", "local/daemon"],
    r"wslay/": ["engine/net", "local/server/api"],
    r"zlib\.h": ["local/server/api"],
    r"sqlite3\.h": ["local/server/store"],
    r"seccomp\.h": ["local/isolation", "local/portproxy"],
    r"microhttpd\.h": ["local/daemon"],
    r"j[qv]\.h": ["cli/expression.c"],
}
BANNED = re.compile(r"(?<![\w.>])(strcpy|strcat|sprintf|vsprintf|strncpy|strtok|atoi|atol|atof|gets|"
                    r"system|mktemp|tmpnam)\s*\(")
# Front ends ask engine/files and engine/transfer: they do not look at a disk, and know no command line of a sandbox.
FILE_CALLS = r"opendir|fdopendir|readdir|scandir|nftw|ftw|fts_open|l?stat|fstatat|statx|openat|unlink|unlinkat|rmdir|remove|" \
             r"rename|renameat|linkat|symlink|mkdir|mkdirat|f?chmod|fchmodat"
SANDBOX_CALLS = r"runtime_(?:execute|links|delete|list|stat|write)_start"
ROOM_BANNED = [  # where, what, the files that may
    ("tui/", FILE_CALLS + r"|fstat|open|creat|access", ["tui/draw/theme.c", "tui/draw/terminal.c"]),  # themes; the terminal
    ("tui/", SANDBOX_CALLS + r"|runtime_read_start|transfer_start", []),
    ("cli/", FILE_CALLS, []),
    ("cli/", SANDBOX_CALLS, ["cli/execute.c"]),  # what a person runs
]
PATHS = re.compile(r"/work/|/tmp/real|/root/|deb\.debian\.org|proxy\.golang\.org|pypi\.org|"
                   r"registry\.npmjs\.org|crates\.io")
SOURCES = (".c", ".h")


def tracked(*suffixes: str) -> list[pathlib.Path]:
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True,
                         capture_output=True, check=True).stdout.splitlines()
    return [ROOT / name for name in out
            if (not suffixes or name.endswith(suffixes)) and (ROOT / name).is_file()]


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"",
                  lambda m: "\n" * m.group().count("\n"), text, flags=re.S)


def room_of(path: pathlib.Path) -> str | None:
    name = path.relative_to(ROOT).as_posix()
    found = [room for room in ALLOWED if name.startswith(room + "/")]
    return max(found, key=len) if found else None


def check_format() -> list[str]:
    files = [str(p) for p in tracked(*SOURCES)]
    run = subprocess.run(["clang-format", "--dry-run", *files], cwd=ROOT, text=True,
                         capture_output=True, check=False)
    return sorted({line.split(":")[0].replace(str(ROOT) + "/", "") + ": run clang-format -i on it"
                   for line in run.stderr.splitlines() if "warning:" in line})


def check_includes() -> list[str]:
    bad = []
    for path in tracked(*SOURCES):
        room = room_of(path)
        if room is None:
            continue
        where = path.relative_to(ROOT).as_posix()
        text = path.read_text(errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+([<"])([^>"]+)[>"]', line)
            if not match:
                continue
            kind, header = match.groups()
            if kind == '"' and not any(header == a or header.startswith(a.rstrip("/") + "/")
                                       for a in ALLOWED[room]):
                bad.append(f"{where}:{number}: {room} may not include {header}")
            for pattern, rooms in LIBRARIES.items():
                if kind == "<" and re.match(pattern, header) and not {room, where} & set(rooms):
                    bad.append(f"{where}:{number}: {header} belongs to {', '.join(rooms)}")
    return bad


def check_banned() -> list[str]:
    bad = []
    rows = [(where, re.compile(rf"(?<![\w.>])({what})\s*\("), may) for where, what, may in ROOM_BANNED]
    for path in tracked(*SOURCES):
        name = path.relative_to(ROOT).as_posix()
        text = without_comments(path.read_text(errors="replace"))
        here = [BANNED] + [pattern for where, pattern, may in rows if name.startswith(where) and name not in may]
        for number, line in enumerate(text.splitlines(), 1):
            for pattern in here:
                match = pattern.search(line)
                if match:
                    bad.append(f"{name}:{number}: {match.group(1)} is banned{' here' if pattern is not BANNED else ''}")
    return bad


def compiles_alone(path: pathlib.Path) -> str | None:
    flags = subprocess.run(["pkg-config", "--cflags", "libcjson", "vterm", "libnghttp2"], text=True,
                           capture_output=True, check=False).stdout.split()
    name = path.relative_to(ROOT).as_posix()
    generated = [f"-I{p}" for p in ROOT.glob("build/*/proto/gen")][:1]
    run = subprocess.run(["gcc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE",
                          '-DSANDMUX_VERSION="0"', "-I.", *generated, *flags, "-fsyntax-only",
                          "-x", "c", "-"], input=f'#include "{name}"\n', cwd=ROOT, text=True,
                         capture_output=True, check=False)
    return None if run.returncode == 0 else f"{name} does not compile alone:\n{run.stderr[:600]}"


def check_headers() -> list[str]:
    headers = [p for p in tracked(".h") if room_of(p) is not None]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [text for text in pool.map(compiles_alone, headers) if text]


def check_text() -> list[str]:
    bad = []
    for path in tracked():
        name = path.relative_to(ROOT).as_posix()
        if name.startswith("tests/fuzz/") and "/corpus/" in name or name == "tests/lint/lint.py":
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        if path.suffix in (".c", ".h", ".py", ".sh", ".cmake", ".proto") and \
                "SPDX-License-Identifier: Apache-2.0" not in text[:200]:
            bad.append(f"{name}: no SPDX line")
        for number, line in enumerate(text.splitlines(), 1):
            if PATHS.search(line):
                bad.append(f"{name}:{number}: a machine path or a registry host: {line.strip()[:80]}")
    return bad


def check_keys() -> list[str]:
    binary = os.environ.get("SANDMUX_BIN", str(ROOT / "build/debug/bin/sandmux"))
    if not os.access(binary, os.X_OK):
        return [f"{binary} is not built"]
    printed = subprocess.run([binary, "help", "keys"], text=True, capture_output=True, check=False)
    page = (ROOT / "docs/keys.md").read_text()
    if printed.returncode != 0 or printed.stdout.strip() not in page:
        return ["docs/keys.md is not what the key table says: run `sandmux help keys`"]
    return []


def check_manual() -> list[str]:
    run = subprocess.run([sys.executable, "scripts/manual.py"], cwd=ROOT, text=True, capture_output=True, check=False)
    bad = [] if run.returncode == 0 else [run.stderr.strip()[-300:]]
    page = (ROOT / "docs/sandmux.1").read_text()
    for path in tracked(".c"):
        if room_of(path) is None:
            continue
        for name in re.findall(r'getenv\("(SANDMUX_\w+)"\)', path.read_text(errors="replace")):
            if name not in page:
                bad.append(f"{path.relative_to(ROOT)}: {name} is not in cli/manual.c")
    if shutil.which("groff"):
        said = subprocess.run(["groff", "-man", "-ww", "-z", "docs/sandmux.1"], cwd=ROOT, text=True, capture_output=True, check=False)
        bad += said.stderr.splitlines() + ([f"groff: status {said.returncode}"] if said.returncode else [])
    return bad


def check_hardening() -> list[str]:
    """Position independent, relocations read-only and bound at start, no executable stack, the stack guarded; and the
    checked functions of the C library, which a build with sanitizers does without."""
    folder = pathlib.Path(os.environ.get("SANDMUX_BIN", str(ROOT / "build/debug/bin/sandmux"))).parent
    bad = []
    for name in ("sandmux", "sandmux-locald", "sandmux-sandboxd", "sandmux-port-proxy"):
        path = folder / name
        if not path.exists():
            bad.append(f"{path} is not built")
            continue
        said = subprocess.run(["readelf", "-hldsW", path], text=True, capture_output=True, check=True).stdout
        is_sanitized = "__asan_init" in said
        for what, pattern in {"position independent": r"Type:\s+DYN", "read-only relocations": "GNU_RELRO",
                              "bound at start": r"FLAGS_1.*NOW", "no executable stack": r"GNU_STACK.* RW +0x",
                              "stack protector": "__stack_chk_fail",
                              **({} if is_sanitized else {"checked functions": r"__\w+_chk\b"})}.items():
            if not re.search(pattern, said):
                bad.append(f"{name}: not {what}")
    return bad


def check_files() -> list[str]:
    run = subprocess.run([sys.executable, "scripts/files.py"], cwd=ROOT, text=True, capture_output=True, check=False)
    return [] if run.returncode == 0 else [run.stdout.strip()]


def check_where() -> list[str]:
    page = (ROOT / "docs/architecture.md").read_text()
    rows = re.search(r"^## Where is …$.*?^\|---\|---\|---\|\n(.*?)\n\n", page, re.M | re.S)
    modules = {str(path.relative_to(ROOT).with_suffix("")) for path in tracked(*SOURCES)}
    modules = {name for name in modules if not name.startswith("tests/")}
    found = [f"docs/architecture.md: there is no {name}"
             for name in sorted(set(re.findall(r"(?<![\w/])(?:engine|tui|cli|local)/[\w/]+\.[ch]\b", page)))
             if not (ROOT / name).is_file() and f"```c {name}" not in page]
    for row in rows.group(1).splitlines() if rows else ():
        question, word, file = (cell.strip() for cell in row.strip("|").split("|"))
        named = sorted(name for name in modules if word in name)
        if not (ROOT / file).is_file():
            found.append(f"docs/architecture.md: {question}: there is no {file}")
        elif word not in file or len(named) > 8:
            found.append(f"docs/architecture.md: {question}: '{word}' leads to {' '.join(named)}")
    return found if rows else ["docs/architecture.md: no table of where things are"]


def check_tests() -> list[str]:
    """One that nobody runs holds nothing."""
    folder = pathlib.Path(os.environ.get("SANDMUX_BIN", str(ROOT / "build/debug/bin/sandmux"))).parents[1]
    listed = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1"], text=True, capture_output=True, check=True).stdout
    built = (folder / "compile_commands.json").read_text()
    bad = []
    for path in tracked(".py", ".c"):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith("tests/") or not re.search(r"/(test_\w+|\w*_?test)\.\w+$", name):
            continue
        if name not in (built if path.suffix == ".c" else listed):
            bad.append(f"{name} is in no list of tests")
    return bad


def check_scripts() -> list[str]:
    """With a PATH in which every program that installs or builds only leaves a trace."""
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        for name in ("cmake", "ninja", "apt-get", "sudo", "go", "pip"):
            stub = pathlib.Path(folder, name)
            stub.write_text('#!/bin/sh\n: >"$0.was-run"\nexit 1\n')
            stub.chmod(0o755)
        env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
        for path in (*sorted(ROOT.glob("scripts/*.*")), ROOT / "tests/bed/build.sh"):
            name = path.relative_to(ROOT).as_posix()
            for word in ("--help", "-h", "no-such-word"):
                if word == "no-such-word" and name == "scripts/run.sh":
                    continue  # its words are for sandmux
                run = subprocess.run([*([sys.executable] if path.suffix == ".py" else []), path, word], cwd=ROOT, env=env, text=True,
                                     stdin=subprocess.DEVNULL, capture_output=True, check=False)
                if word == "no-such-word" and not run.returncode:
                    bad.append(f"{name} {word}: taken")
                if word != "no-such-word" and (run.returncode or f"usage: {name}" not in run.stdout):
                    bad.append(f"{name} {word}: status {run.returncode}, no usage: {run.stdout[-200:]!r} {run.stderr[-200:]!r}")
        bad += [f"{trace.stem} was run" for trace in sorted(pathlib.Path(folder).glob("*.was-run"))]
    return bad


# ---- what a header says about errors

ERROR_ROOMS = ("engine/", "tui/term/", "tui/draw/", "local/control/")
# `Errors: ERR_X (why), ERR_Y, errno, those of engine/net/http.h.` at the head of a header or by a function: codes, a family
# (ERR_RPC_*), errno for what err_set_errno makes of it, and whose others are passed on; `none` where it is only taken along.
ERRORS_LINE = re.compile(r"\bErrors\b[^:.]{0,30}:(.*?)\.(?=\s|\*/|$)", re.S)
ERRNO = re.compile(r"\berrno\b|\blocal disk\b|ERR_FILE_\*")


def errors_lines(text: str) -> str:
    """What all Errors: lines of a header say; empty without one."""
    lines = []
    for comment in re.findall(r"/\*.*?\*/|(?://[^\n]*\n)+", text, re.S):
        plain = re.sub(r"\n\s*(?:\*(?!/)|//) ?", " ", comment)
        lines += ERRORS_LINE.findall(plain)
    return "\n".join(lines)


def second_argument(text: str, start: int) -> str:
    """Of the call whose opening bracket is before start."""
    depth, at, begin = 1, start, None
    while at < len(text) and depth:
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if text[at] == "," and depth == 1:
            if begin is not None:
                break
            begin = at + 1
        at += 1
    return text[begin:at] if begin is not None else ""


def errors_set(text: str) -> set[str]:
    """The codes that a source sets itself, and errno where it goes by that."""
    text = without_comments(text)
    codes = {code for found in re.finditer(r"\berr_v?set\(", text)
             for code in re.findall(r"\bERR_[A-Z_]+\b", second_argument(text, found.end()))}
    for found in re.findall(r"\breturn\b[^;]*;|\bcode = [^;,}]*[;,}]", text):
        codes |= set(re.findall(r"(?<![!=]= )\bERR_[A-Z_]+\b", found))
    return codes - {"ERR_NONE"} | ({"errno"} if re.search(r"\berr_set_errno\(", text) else set())


def is_public(name: str) -> bool:
    return not re.search(r"(^|[/_])internal\.h$", name)


def check_errors() -> list[str]:
    table = (ROOT / "engine/base/err.h").read_text()
    codes = {f"ERR_{code}" for code in re.findall(r"\bX\((\w+),", table)}
    words = set(re.findall(r"\bERR_\w+", table))
    bad, named = [], {}
    for path in tracked(".h"):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(ERROR_ROOMS) or name == "engine/base/err.h":
            continue
        text = path.read_text(errors="replace")
        said = errors_lines(text)
        named[name] = set(re.findall(r"\bERR_[A-Z_]+[A-Z]\b", said)) | ({"errno"} if ERRNO.search(said) else set())
        for family in re.findall(r"\b(ERR_[A-Z]+_)\*", said):
            named[name] |= {code for code in codes if code.startswith(family)}
        bad += [f"{name}: Errors: there is no {other}" for other in re.findall(r"\bthose of (\S+\.h)\b", said) if not (ROOT / other).is_file()]
        for code in sorted(set(re.findall(r"\bERR_[A-Z_]+[A-Z]\b", text)) - codes - words):
            bad.append(f"{name}: {code} is not in the table of codes")
        code = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
        if is_public(name) and not said and re.search(r"(?<!const )\bstruct err \*\s*\w*\s*\)", code):
            bad.append(f"{name}: takes a struct err * and has no line `Errors: ERR_X, ERR_Y.`")
    for path in tracked(".c"):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(ERROR_ROOMS) or name == "engine/base/err.c":
            continue
        own = named.get(name[:-2] + ".h")
        folder = name.rsplit("/", 1)[0] + "/"
        known = own or set().union(*(items for header, items in named.items()
                                     if header.startswith(folder) and "/" not in header[len(folder):]))
        for code in sorted(errors_set(path.read_text(errors="replace")) - known):
            where = name[:-2] + ".h" if own else f"a header of {folder[:-1]}"
            bad.append(f"{name} sets {code}, which no Errors: line of {where} names")
    return bad


# Codes that nothing can be made to give, and why.
NOT_PROVOKED = {"op.retries_exhausted": "nothing sets it: the error of the last attempt is told"}


def check_codes() -> list[str]:
    """A code is provoked by a program of the tests that names it ("kube.quota"), or by a unit test (ERR_KUBE_QUOTA)."""
    rows = re.findall(r'\bX\((\w+),\s*"([a-z0-9_.]+)"', (ROOT / "engine/base/err.h").read_text())
    programs, units, sources = "", "", ""
    for path in tracked(".py", ".c"):
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text(errors="replace")
        if name.startswith("tests/") and not name.startswith(("tests/lint/", "tests/unit/engine/base/err_test.c")):
            if path.suffix == ".py":
                programs += text
            else:
                units += text
        elif path.suffix == ".c":
            sources += text
    bad = []
    for symbol, code in rows:
        if code in ("ok", "internal", "system"):
            continue
        is_seen = re.search(rf"(?<![\w.]){re.escape(code)}(?![\w.])", programs.replace("\\.", ".")) or re.search(rf"\bERR_{symbol}\b", units)
        is_set = re.search(rf"\bERR_{symbol}\b", sources)
        if code in NOT_PROVOKED:
            if is_set:
                bad.append(f"{code}: something sets it now: provoke it")
        elif not is_seen:
            bad.append(f"{code}: no test provokes it")
    return bad


def check_pictures() -> list[str]:
    run = subprocess.run([sys.executable, "scripts/pictures.py"], cwd=ROOT, text=True, capture_output=True, check=False)
    page = (ROOT / "README.md").read_text()
    return run.stderr.splitlines() + [f"README.md: {name} is not there" for name in re.findall(r"docs/pictures/[\w-]+\.svg", page)
                                      if not (ROOT / name).exists()]


CHECKS = {"files": check_files, "codes": check_codes, "format": check_format, "includes": check_includes, "banned": check_banned,
          "headers": check_headers, "errors": check_errors, "text": check_text, "keys": check_keys, "manual": check_manual, "hardening": check_hardening,
          "scripts": check_scripts, "where": check_where, "tests": check_tests, "pictures": check_pictures}


def main() -> None:
    wanted = sys.argv[1:] or ["all"]
    names = list(CHECKS) if wanted == ["all"] else wanted
    failed = 0
    for name in names:
        findings = CHECKS[name]()
        for finding in findings:
            print(f"{name}: {finding}")
        failed += bool(findings)
    print(f"{len(names) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
