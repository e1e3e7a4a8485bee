# SPDX-License-Identifier: Apache-2.0
"""house.py [--list | --shrink]: the shape of the tree, read from the objects of a build (nm) and from the sources.

circle    files of one folder that need each other's symbols, in a ring
tag       a struct or enum tag that is defined in two places of one program
prefix    exported functions whose name does not begin with the prefix of their folder
libc      a static that has the name of something in the C library
lines     a file over 600 lines
function  a function over 60 lines

tests/lint/house.txt names what is left, one row each with its reason. A break without a row fails, and so does a row
that is not true any more: the list can only shrink. --list prints the rows that are true now, with the reasons of the
rows they had; --shrink takes out of the list what is not true any more, and lowers what is less."""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = pathlib.Path(__file__).with_name("house.txt")
BUILD = pathlib.Path(os.environ.get("SANDMUX_BIN", str(ROOT / "build/debug/bin/sandmux"))).parents[1]
PRODUCT = ("engine/", "local/", "tui/", "cli/")
PROGRAMS = ("sandmux", "sandmux-locald", "sandmux-sandboxd", "sandmux-port-proxy")
MOST_LINES, MOST_FUNCTION_LINES = 600, 60

# The folder is the prefix. engine/base is the vocabulary of the whole house (err, str, json, map): there it is the file,
# and a static library of words is named here.
PREFIX = {
    "engine": ["engine"], "engine/net": ["net"], "engine/kube": ["kube"], "engine/k8s": ["k8s"],
    "engine/telemetry": ["telemetry"], "engine/runtime": ["runtime"], "engine/fleet": ["fleet"],
    "engine/resource": ["resource"], "engine/kinds": ["kinds"], "engine/usage": ["usage"], "engine/podlog": ["podlog"], "engine/access": ["access"], "engine/connect": ["connect"],
    "engine/files": ["files"], "engine/transfer": ["transfer"], "tui/term": ["term"], "tui/session": ["session", "sessions"], "tui/draw": ["draw"], "tui/widgets": ["widget"],
    "tui/view": ["view"], "tui/views": ["views"], "tui/views/actions": ["views_action", "views_actions"], "tui/views/list": ["views_list"], "tui/views/sandboxes": ["views_sandboxes"],
    "tui/views/resources": ["views_resources"],
    "tui/views/detail": ["views_detail"], "tui/views/files": ["views_files"], "tui/views/log": ["views_log"],
    "tui/views/transfers": ["views_transfer", "views_transfers"], "tui/views/shell": ["views_shell"],
    "tui/views/help": ["views_help"], "tui/views/yaml": ["views_yaml"], "tui/views/edit": ["views_edits"], "tui/views/logs": ["views_logs"], "tui/views/contexts": ["views_contexts"],
    "tui/workspace": ["workspace"], "tui/client": ["client"], "tui/app": ["app"], "cli": ["cli"], "local/control": ["control"], "local/isolation": ["isolation"],
    "local/daemon": ["daemon"], "local/daemon/program": ["daemon"], "local/server": ["server"],
    "local/server/api": ["api"], "local/server/store": ["store"], "local/server/controller": ["controller"],
    "local/server/kubelet": ["kubelet"], "local/server/manager": ["manager"],
    "local/server/main": ["locald"], "local/portproxy": ["portproxy"],
}
BASE_WORDS = {"mem": ["x", "array"], "json_split": ["json"], "json_merge": ["json"], "safe_text": ["safe"], "fatal_signal": ["fatal"],
              "settings": ["setting"], "yaml_where": ["yaml"]}


def tracked(*suffixes: str) -> list[str]:
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True,
                         capture_output=True, check=True).stdout.splitlines()
    return sorted(name for name in set(out) if name.endswith(suffixes) and (ROOT / name).is_file())


def is_product(name: str) -> bool:
    return name.startswith(PRODUCT)


def folder_of(name: str) -> str:
    return name.rsplit("/", 1)[0]


def blank(match: re.Match) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def code_of(name: str) -> str:
    """Without comments, strings and preprocessor lines; every line stays where it is."""
    text = (ROOT / name).read_text(errors="replace")
    text = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", blank, text, flags=re.M)


def symbols() -> tuple[dict, dict]:
    """(file -> names it defines, file -> names it needs), from the objects of this build."""
    objects = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        source = os.path.relpath(entry["file"], ROOT)
        found = re.search(r" -o (\S+)", entry["command"])
        if found and is_product(source) and (ROOT / source).is_file():
            objects.setdefault(os.path.join(entry["directory"], found.group(1)), source)
    there = [path for path in objects if os.path.exists(path)]
    defines, needs = collections.defaultdict(set), collections.defaultdict(set)
    out = subprocess.run(["nm", "-A", "--no-demangle", *there], text=True, capture_output=True, check=False).stdout
    for line in out.splitlines():
        found = re.match(r"(.*?):\s*[0-9a-f]*\s([A-Za-z])\s(\S+)$", line)
        if not found:
            continue
        path, kind, name = found.groups()
        if name.startswith(("__odr_asan", "__asan", "__lsan", "__ubsan", "__gcov", "__llvm")):
            continue
        if kind == "U":
            needs[objects[path]].add(name)
        elif kind.isupper():
            defines[objects[path]].add((name, kind))
    return defines, needs


def rings(graph: dict[str, set]) -> list[list[str]]:
    """Strongly connected parts of more than one file (Tarjan)."""
    index, low, stack, out = {}, {}, [], []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            part = []
            while not part or part[-1] != node:
                part.append(stack.pop())
            if len(part) > 1:
                out.append(sorted(part))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return out


def find_circles(defines: dict, needs: dict) -> tuple[list[str], dict]:
    owner = {(folder_of(file), name): file for file, names in defines.items() for name, _ in names}
    graph, why = collections.defaultdict(set), collections.defaultdict(set)
    for file, names in needs.items():
        for name in names:
            other = owner.get((folder_of(file), name))
            if other and other != file:
                graph[file].add(other)
                why[file, other].add(name)
    found = []
    for part in rings(graph):
        short = [pathlib.PurePath(file).stem for file in part]
        found.append(f"circle {folder_of(part[0])}: {' '.join(short)}")
    return found, why


def programs() -> dict[str, set]:
    """program -> folders and files whose structs are in it, from the link lines of the build."""
    text = (BUILD / "build.ninja").read_text()
    out = {}
    for program in PROGRAMS:
        line = re.search(rf"^build bin/{program}: (.*)$", text, re.M)
        parts = line.group(1).replace("|", " ").split() if line else []
        folders = {folder_of(part) for part in parts if part.endswith(".a")}
        folders |= {re.sub(r"/CMakeFiles/.*", "", part) for part in parts if part.endswith(".o")}
        if any(folder == "local/server" for folder in folders):
            folders |= {"local/server/api", "local/server/store", "local/server/controller",
                        "local/server/kubelet", "local/server/manager", "local/server/main"}
        out[program] = folders
    return out


def find_tags(names: list[str]) -> list[str]:
    where = collections.defaultdict(set)
    for name in names:
        for tag in re.findall(r"^[ \t]*(?:static |const |typedef )*(?:struct|enum|union)\s+(\w+)\s*\{", code_of(name),
                              re.M):
            where[tag].add(name)
    found = []
    for tag, files in sorted(where.items()):
        worst = set()
        for folders in programs().values() if len(files) > 1 else ():
            mine = {file for file in files if folder_of(file) in folders}
            worst = max(worst, mine, key=len)
        if len(worst) > 1:
            found.append(f"tag {tag}: {' '.join(sorted(worst))}")
    return found


def find_prefixes(defines: dict) -> list[str]:
    count = collections.Counter()
    for file, names in defines.items():
        stem = pathlib.PurePath(file).stem
        folder = folder_of(file)
        allowed = PREFIX.get(folder, [folder.rsplit("/", 1)[-1]])
        if folder == "engine/base":
            allowed = [stem, *BASE_WORDS.get(stem, [])]
        for name, kind in names:
            if kind in "TW" and name != "main" and not any(name == p or name.startswith(p + "_") for p in allowed):
                count[f"prefix {file}: {name.split('_')[0]}"] += 1
    return [f"{row} {n}" for row, n in sorted(count.items())]


def libc_names() -> set:
    path = subprocess.run(["gcc", "-print-file-name=libc.so.6"], text=True, capture_output=True, check=True).stdout
    out = subprocess.run(["nm", "-D", "--defined-only", path.strip()], text=True, capture_output=True,
                         check=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines() if line.split()}


def find_libc(names: list[str]) -> list[str]:
    taken, found = libc_names(), []
    for name in names:
        for line in re.findall(r"^static [^\n]*", code_of(name), re.M):
            word = re.match(r"static [\w\s*]*?\b(\w+)\s*(?:\(|\[|=|;)", line)
            if word and word.group(1) in taken:
                found.append(f"libc {name}: {word.group(1)}")
    return sorted(set(found))


def find_lines(names: list[str]) -> list[str]:
    found = []
    for name in names:
        if (ROOT / name).read_bytes().count(b"\n") > MOST_LINES:
            found.append(f"lines {name}")
    return found


def find_functions(names: list[str]) -> list[str]:
    found = []
    for name in names:
        begin, head = 0, ""
        for number, line in enumerate(code_of(name).splitlines(), 1):
            if line.rstrip() == "{":
                begin = number
            elif line.startswith("}") and begin:
                if line.rstrip() == "}" and number - begin - 1 > MOST_FUNCTION_LINES:
                    found.append(f"function {name}: {head}")
                begin = 0
            elif not begin and re.match(r"[A-Za-z]", line):
                word = re.search(r"(\w+)\s*\(", line)
                head = word.group(1) if word else head
    return found


def rows_of(text: str) -> dict[str, str]:
    out = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            row, _, reason = line.partition(" | ")
            out[row.strip()] = reason.strip()
    return out


def shrink(listed: dict, true: set) -> None:
    """Rewrites the list: a row that is true stays, one that became less is replaced by what it is now, no row is added."""
    def is_less(row: str, before: str) -> bool:
        (kind, rest), (old_kind, old) = row.split(": ", 1), before.split(": ", 1)
        if not row.startswith(("prefix", "circle", "tag")) or kind != old_kind:
            return False
        if row.startswith("prefix"):
            return rest.split()[0] == old.split()[0] and int(rest.split()[1]) < int(old.split()[1])
        return set(rest.split()) < set(old.split())

    head = [line for line in LIST.read_text().splitlines() if line.startswith("#") or not line]
    out = []
    for row, reason in listed.items():
        rows = [row] if row in true else [now for now in sorted(true - set(listed)) if is_less(now, row)]
        out += [f"{now} | {reason}" for now in rows]
    LIST.write_text("\n".join(head + out) + "\n")


def main() -> None:
    if not (BUILD / "compile_commands.json").exists():
        sys.exit(f"{BUILD} is not built")
    sources = tracked(".c", ".h")
    product = [name for name in sources if is_product(name)]
    code = [name for name in tracked(".c", ".h", ".py", ".sh") if not name.startswith("tests/cases/")]
    defines, needs = symbols()
    circles, why = find_circles(defines, needs)
    found = {"circle": circles, "tag": find_tags(product), "prefix": find_prefixes(defines),
             "libc": find_libc(product), "lines": find_lines(code), "function": find_functions(sources)}
    listed = rows_of(LIST.read_text()) if LIST.exists() else {}
    if "--list" in sys.argv:
        for rows in found.values():
            for row in rows:
                print(f"{row} | {listed.get(row, 'NO REASON')}")
        return
    true = {row for rows in found.values() for row in rows}
    if "--shrink" in sys.argv:
        shrink(listed, true)
        listed = rows_of(LIST.read_text())
    for row in sorted(true - set(listed)):
        print(f"not in the list: {row}")
        if row.startswith("circle "):
            folder, files = row[7:].split(": ")
            part = {f"{folder}/{stem}.c" for stem in files.split()}
            for (a, b), names in sorted(why.items()):
                if a in part and b in part:
                    print(f"    {a} -> {b}: {' '.join(sorted(names)[:6])}")
    for row in sorted(set(listed) - true):
        print(f"not true any more, run tests/lint/house.py --shrink: {row}")
    bare = [row for row, reason in listed.items() if len(reason) < 8]
    for row in bare:
        print(f"no reason: {row}")
    for kind, rows in found.items():
        n = sum(int(row.split()[-1]) for row in rows) if kind == "prefix" else len(rows)
        print(f"{kind}: {n}, each named" if n else f"{kind}: 0")
    failed = len(true ^ set(listed)) + len(bare)
    print(f"{int(not failed)} passed, {int(bool(failed))} failed")
    sys.exit(1 if failed else 0)


main()
