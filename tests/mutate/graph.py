# SPDX-License-Identifier: Apache-2.0
"""What ninja and ctest know: which programs a file ends up in, how it is compiled, and what the tests are."""
import json
import pathlib
import re
import shlex
import subprocess


class Graph:
    def __init__(self, build):
        self.build = pathlib.Path(build)
        self.users = {}  # file -> what is made of it
        self.programs = set()
        text = (self.build / "build.ninja").read_text().replace("$\n", "")
        for match in re.finditer(r"^build ([^:\n]+): (\S+) ?([^\n]*)$", text, re.M):
            made, rule, parts = match.groups()
            outputs = [o for o in made.split() if o != "|"]
            inputs = parts.split("||")[0].replace("|", " ").split()
            if "EXECUTABLE_LINKER" in rule:
                self.programs.update(outputs)
            if not ("COMPILER" in rule or "LINKER" in rule):
                continue
            for name in inputs:
                self.users.setdefault(name, set()).update(outputs)
        entries = json.loads((self.build / "compile_commands.json").read_text())
        self.commands = {e["file"]: e for e in entries}

    def programs_of(self, objects):
        """The programs that an object file is linked into."""
        todo, seen = [objects], set()
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo.extend(self.users.get(name, ()))
        return seen & self.programs

    def programs_named(self, prefix):
        return [p for p in self.programs if pathlib.Path(p).name.startswith(prefix)]

    def object_of(self, source):
        words = shlex.split(self.commands[str(source)]["command"])
        return words[words.index("-o") + 1]

    def plain_compiler(self, source, output, text_file):
        """The command of this file at -O1 without sanitizers and debug information, for `text_file` as its text."""
        words = shlex.split(self.commands[str(source)]["command"])
        if "ccache" in words[0]:
            words = words[1:]
        keep, skip = [], False
        for word in words:
            if skip:
                skip = False
            elif word in ("-o", "-MF", "-MT"):
                skip = True
            elif not re.match(r"-fsanitize|-fno-sanitize|-g|-O|-W|-MD|-c$", word) and word != str(source):
                keep.append(word)
        return [*keep, "-w", "-O1", "-g0", "-iquote", str(source.parent), "-c", str(text_file), "-o", str(output)]


class Test:
    def __init__(self, entry, build):
        self.name = entry["name"]
        self.command = entry["command"]
        properties = {p["name"]: p["value"] for p in entry.get("properties", ())}
        self.labels = properties.get("LABELS", [])
        self.cwd = properties.get("WORKING_DIRECTORY", str(build))
        self.environment = dict(e.split("=", 1) for e in properties.get("ENVIRONMENT", ()))
        program = pathlib.Path(self.command[0])
        self.program = str(program.relative_to(build)) if program.is_relative_to(build) else None


def tests(build, programs):
    """All tests by name. ctest says the command of a test only if its program exists: those not built yet are
    there for that moment, empty."""
    missing = [p for p in (build / name for name in programs) if not p.exists()]
    for path in missing:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o755)
    try:
        shown = subprocess.run(
            ["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True, capture_output=True, text=True
        )
    finally:
        for path in missing:
            path.unlink()
    return {e["name"]: Test(e, build) for e in json.loads(shown.stdout)["tests"]}
