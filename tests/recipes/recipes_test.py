# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/architecture.md ("How to add"), followed: all of them go into a copy of the tree, which is built, and
what was added is used. Prints what each costs: new files, and lines in the files that were there."""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from harness import Case, main
from harness.sandmux import REPO
from harness.scripted_api import ScriptedApi, metadata

PAGE = "docs/architecture.md"


class Recipe:
    """A heading of the page and its blocks."""

    def __init__(self, title: str, text: str):
        self.title = title
        self.blocks = re.findall(r"^```(c|diff) (\S+)\n(.*?)^```$", text, re.M | re.S)
        self.new_files = self.lines = 0

    def follow(self, tree: Path) -> None:
        for kind, name, block in self.blocks:
            path = tree / name
            if kind == "c":
                if path.exists():
                    raise AssertionError(f"{self.title}: {name} is there already")
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block)
                self.new_files += 1
                continue
            for hunk in re.split(r"^@@\n", block, flags=re.M):
                self.change(path, name, hunk.splitlines())

    def change(self, path: Path, name: str, hunk: list) -> None:
        before = [line[1:] for line in hunk if line[:1] != "+"]
        after = [line[1:] for line in hunk if line[:1] != "-"]
        lines = path.read_text().splitlines()
        at = [i for i in range(len(lines) - len(before) + 1) if lines[i:i + len(before)] == before]
        if len(at) != 1:
            raise AssertionError(f"{self.title}: {name} has {len(at)} places like\n" + "\n".join(before))
        lines[at[0]:at[0] + len(before)] = after
        path.write_text("\n".join(lines) + "\n")
        self.lines += sum(line[:1] == "+" for line in hunk)


def recipes(text: str) -> list:
    part = re.search(r"^## How to add\n(.*?)^## ", text, re.M | re.S).group(1)
    found = re.split(r"^### (.+)\n", part, flags=re.M)[1:]
    return [Recipe(title, body) for title, body in zip(found[::2], found[1::2])]


def copy_tree(to: Path) -> None:
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=REPO, capture_output=True, check=True).stdout
    for name in names.decode().split("\0"):
        source = REPO / name
        if not name or name.startswith("tests/") or not source.is_file():
            continue
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, to / name)


class Recipes(Case):
    """One build; what is used of it is in the order of the page."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recipes = recipes((REPO / PAGE).read_text())

    def build(self) -> Path:
        tree = self.tmp / "tree"
        copy_tree(tree)
        for recipe in self.recipes:
            recipe.follow(tree)
            print(f"{recipe.title}: {recipe.new_files} new files, {recipe.lines} lines elsewhere", flush=True)
        build = self.tmp / "build"
        for command in (["cmake", "-G", "Ninja", "-S", tree, "-B", build, "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS=-O0",
                         "-DSANDMUX_TESTS=OFF", "-DSANDMUX_WERROR=ON"],
                        ["ninja", "-C", build, "sandmux"]):
            r = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            self.assertEqual(r.returncode, 0, r.stdout[-6000:] + r.stderr[-2000:])
        return build / "bin/sandmux"

    def run_program(self, program: Path, *args, status: int = 0) -> str:
        env = {**os.environ, "HOME": str(self.tmp), "XDG_CONFIG_HOME": str(self.tmp / "config"), "KUBECONFIG": str(self.tmp / "none")}
        r = subprocess.run([program, *args], capture_output=True, text=True, env=env, stdin=subprocess.DEVNULL, timeout=60)
        self.assertEqual(r.returncode, status, r.stdout + r.stderr)
        return r.stdout + r.stderr

    def test_each_recipe(self):
        checks = {"A resource kind": self.check_kind, "A view": self.check_view, "A command": self.check_command, "A verb of the command line": self.check_verb,
                  "A setting": self.check_setting, "An error": self.check_error, "A record": self.check_record}
        self.assertEqual([r.title for r in self.recipes], list(checks))
        program = self.build()
        api = ScriptedApi(3)
        api.objects["configmaps"] = [{"apiVersion": "v1", "kind": "ConfigMap", "data": {f"k{i}": "" for i in range(n)},
                                      "metadata": metadata(5, n, f"map-{n}", 1)} for n in range(4)]
        self.addCleanup(api.stop)
        self.config = api.kubeconfig(self.tmp / "kubeconfig")
        for title, check in checks.items():
            with self.subTest(title):
                check(program)

    def dashboard(self, program: Path):
        scr = self.screen([str(program), "--kubeconfig", str(self.config)], rows=35, cols=120,
                          env={"HOME": str(self.tmp), "XDG_CONFIG_HOME": str(self.tmp / "config")})
        scr.wait_for("3 sandboxes")
        return scr

    def check_kind(self, program):
        recipe = next(r for r in self.recipes if r.title == "A resource kind")
        self.assertLessEqual((recipe.new_files, recipe.lines), (1, 3))
        said = self.run_program(program, "--kubeconfig", self.config, "ls", "cm")
        self.assertRegex(said, r"NAME +VALUES +AGE")
        self.assertRegex(said, r"map-3 +3 ")
        said = self.run_program(program, "--kubeconfig", self.config, "get", "configmap/map-2", "-o", "json")
        self.assertEqual(json.loads(said)["values"], "2")
        scr = self.dashboard(program)
        scr.type(":cm\r")
        scr.wait_for("4 configmaps")
        scr.wait_for(lambda s: re.search(r"map-1 +1 ", s.text()))
        scr.stop()

    def check_view(self, program):
        scr = self.dashboard(program)
        scr.type(":toy\r")
        scr.wait_for("a toy of a view")
        scr.stop()

    def check_command(self, program):
        for typed in ("T", ":plaything\r"):
            scr = self.dashboard(program)
            scr.type(typed)
            scr.wait_for("a toy of a view")
            scr.stop()
        scr = self.dashboard(program)
        scr.type("?")
        scr.wait_for("all keys and commands")
        scr.type("/toy")
        scr.wait_for(lambda s: re.search(r"toy +a toy of a view", s.text()))
        scr.stop()

    def check_verb(self, program):
        self.assertEqual(self.run_program(program, "toy"), "7\n")
        self.assertIn("what the toy setting is", self.run_program(program, "help"))
        self.assertIn("\ntoy\t", self.run_program(program, "__complete", ""))

    def check_setting(self, program):
        self.assertEqual(self.run_program(program, "--set", "toy-count=9", "toy"), "9\n")
        self.assertIn("toy-count", self.run_program(program, "--set", "toy-count=101", "toy", status=2))
        self.assertIn("toy-count", self.run_program(program, "settings"))

    def check_error(self, program):
        said = self.run_program(program, "toy", "stone", status=7)
        for word in ("stone is no toy", "take another toy", "toy.broken"):
            self.assertIn(word, said)

    def check_record(self, program):
        scr = self.dashboard(program)
        scr.type(":log\r")
        scr.wait_for("toy.wound_up")
        scr.stop()


main()
