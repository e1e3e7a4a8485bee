# SPDX-License-Identifier: Apache-2.0
"""files.py [--write]: one line per module, from the first sentence of the comment that opens its header (or its
source), for docs/architecture.md. Without --write it fails if the page is not up to date."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/architecture.md"
ROOMS = ["engine", "engine/base", "engine/net", "engine/k8s", "engine/kube", "engine/resource", "engine/kinds", "engine/usage", "engine/podlog", "engine/telemetry", "engine/runtime", "engine/access", "engine/fleet",
         "engine/connect", "engine/transfer", "tui/term", "tui/session", "tui/draw", "tui/widgets", "tui/view", "tui/views", "tui/workspace", "tui/client", "tui/app", "cli", "local/control", "local/isolation",
         "local/daemon", "local/server", "proto"]
BEGIN, END = "<!-- files: made by scripts/files.py -->", "<!-- end of files -->"


def first_sentence(path: pathlib.Path) -> str:
    text = path.read_text(errors="replace")
    comment = re.search(r"/\*(.*?)\*/", text, re.S)
    lines = re.match(r"(?://[^\n]*\n)+", text)
    body = ""
    if lines and lines.group().count("\n") > 1:
        body = "\n".join(line[2:] for line in lines.group().splitlines() if "SPDX" not in line)
    elif comment and comment.start() < 700:
        body = re.sub(r"^\s*\* ?", "", comment.group(1), flags=re.M)
    body = " ".join(body.split())
    match = re.match(r"(.{15,}?[a-z0-9)\]\"'`])(?:\.|;|:) ", body + " ")
    return (match.group(1) if match else body).rstrip(".").replace("|", "/")[:160]


def modules(room: str):
    folder = ROOT / room
    nested = [p for p in folder.rglob("*") if p.suffix in (".c", ".h", ".proto")]
    other = [ROOT / r for r in ROOMS if r != room and r.startswith(room + "/")]
    files = [p for p in nested if not any(o in p.parents for o in other)]
    by_stem = {}
    for path in sorted(files):
        by_stem.setdefault(path.relative_to(folder).with_suffix("").as_posix(), []).append(path)
    for stem, paths in sorted(by_stem.items()):
        paths.sort(key=lambda p: p.suffix != ".h")
        said = next((s for s in map(first_sentence, paths) if s), "")
        yield stem, "".join(sorted(p.suffix for p in paths)), said


def listing() -> str:
    out = [BEGIN, ""]
    for room in ROOMS:
        out += [f"### {room}", "", "| file | what |", "|---|---|"]
        out += [f"| {stem} | {said} |" for stem, _, said in modules(room)]
        out.append("")
    out.append(END)
    return "\n".join(out)


def main() -> None:
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(f"usage: scripts/{__doc__}")
        return
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(f"usage: scripts/{__doc__}")
    page = PAGE.read_text()
    made = listing()
    fresh = re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: made, page, flags=re.S) if BEGIN in page \
        else page.rstrip() + "\n\n## The files\n\n" + made + "\n"
    if "--write" in sys.argv:
        PAGE.write_text(fresh)
    elif fresh != page:
        print("docs/architecture.md does not list the files as they are: run python3 scripts/files.py --write")
        sys.exit(1)
    empty = [line for line in made.splitlines() if line.endswith("|  |")]
    if empty:
        print("no opening comment:", *empty, sep="\n")
        sys.exit(1)


main()
