#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutate.py: puts small mistakes into the code, one at a time, and tells which the tests notice.

    mutate.py --sample 60 --seed 7            60 mistakes, spread evenly over the rooms
    mutate.py --rooms engine/net local/server   only there
    mutate.py --files engine/kube/backoff.c --all   every mistake of a file
    mutate.py --sample 60 --list              says what would be done

It works in a copy of the tree (build/mutate/tree, kept for the next time), never in the tree itself. A mistake that does
not compile, or after which the compiler makes the same code (-O1), is passed over. For each of the others the programs
of tests that link the file are built and run, those of its own room first, then the longer tests chosen for the room
below, until one fails: twice, for a test may fail by accident. One that fails without the mistake too is left out, and
named.

The last line is the share that was noticed. --json FILE writes everything.
"""
import argparse
import contextlib
import difflib
import fcntl
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

import graph
import mistakes

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "mutate"
TREE = WORK / "tree"
BUILD = TREE / "build" / "debug"
ROOMS = [
    "engine/base", "engine/net", "engine/k8s", "engine/resource", "engine/kube", "engine/kinds", "engine/podlog", "engine/usage", "engine/telemetry", "engine/runtime",
    "engine/access", "engine/fleet", "engine/connect", "engine/files", "engine/transfer", "engine", "local/control", "local/isolation", "local/daemon", "local/server", "tui/term", "tui/session", "tui/draw", "tui/widgets",
    "tui/view", "tui/views",
    "tui/workspace", "tui/client", "tui/app", "cli",
]  # fmt: skip
# Longer tests, tried in this order after the unit tests.
LONGER = {
    "engine/base": ["local_cli"],
    "engine/net": ["transports_router", "local_cli"],
    "engine/k8s": ["local_cli"],
    "engine/resource": ["tui_list", "local_cli"],
    "engine/kinds": ["local_cli", "tui_list"],
    "engine/podlog": ["local_cli"],
    "engine/usage": ["tui_usage"],
    "engine/kube": ["transports_router", "tui_plugins", "local_cli"],
    "engine/telemetry": ["local_cli"],
    "engine/access": ["tui_rights"],
    "engine/connect": ["transports_router", "transports_legacy", "local_cli"],
    "engine/runtime": ["transports_legacy", "local_cli"],
    "engine/fleet": ["local_cli", "tui_list", "tui_faults"],
    "engine/files": ["tui_files", "local_cli"],
    "engine/transfer": ["local_copies", "tui_files"],
    "engine": ["transports_router", "transports_legacy", "local_cli", "tui_rights"],
    "local/control": ["local_lifecycle", "local_cli"],
    "local/isolation": ["local_isolation", "jail_job", "jail_limits", "local_lifecycle"],
    "local/daemon": ["daemon", "conformance"],
    "local/server": ["local_api", "local_watch", "local_lifecycle", "local_restart", "local_store", "local_hostile"],
    "tui/term": ["tui_terminal", "terminals"],
    "tui/session": ["tui_terminal", "tui_accidents"],
    "tui/draw": ["tui_terminal", "tui_list"],
    "tui/widgets": ["tui_accidents", "tui_list"],
    "tui/view": ["tui_terminal", "tui_list"],
    "tui/views": ["tui_list", "tui_files", "tui_accidents"],
    "tui/workspace": ["tui_list", "tui_terminal", "tui_files", "tui_accidents"],
    "tui/client": ["tui_list", "tui_terminal", "tui_files", "tui_accidents"],
    "tui/app": ["tui_list", "tui_terminal", "tui_attach"],
    "cli": ["local_cli", "local_verbs", "tui_signals"],
}
UNIT_LIMIT_S = 60
LONGER_LIMIT_S = 600  # as ctest gives them; on a busy machine a niced one takes several times what it needs alone
FAR_LIMIT_S = 5
NEAR_ENOUGH = 12
FILE_LIMIT_BYTES = 1 << 30


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def room_of(path):
    return max((r for r in ROOMS if path.startswith(r + "/")), key=len, default=None)


def run(command, limit_s, **more):
    """The exit status, or None after `limit_s`; everything that the command started is killed with it."""

    def prepare():
        # a shell starts what it leaves in the background with these ignored, and whoever is started by it inherits that
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT_BYTES, FILE_LIMIT_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True, preexec_fn=prepare, **more,
    )  # fmt: skip
    try:
        return child.wait(limit_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()


def copy_tree():
    """The files of the tree as they are, committed or not; what did not change keeps its time."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    names = {n for n in listed.stdout.split("\0") if n and (ROOT / n).is_file()}
    for name in sorted(names):
        source, target = ROOT / name, TREE / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    for old in TREE.rglob("*"):
        name = str(old.relative_to(TREE))
        if not name.startswith("build/") and (old.is_file() or old.is_symlink()) and name not in names:
            old.unlink()


def build(targets, limit_s=1800):
    """True if the targets are built."""
    return not targets or run(["ninja", "-C", str(BUILD), *targets], limit_s) == 0


def configure():
    copy_tree()
    launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    subprocess.run(["cmake", "--preset", "debug", *launcher], cwd=TREE, check=True, stdout=subprocess.DEVNULL)


class Candidate:
    def __init__(self, path, source, mistake):
        self.path, self.source, self.mistake = path, source, mistake
        self.room = room_of(path)
        self.line = source.count("\n", 0, mistake.start) + 1
        self.changed = mistake.apply(source)

    def diff(self):
        lines = difflib.unified_diff(self.source.splitlines(), self.changed.splitlines(), lineterm="", n=1)
        return "\n".join(list(lines)[2:])

    def is_real(self, known):
        """Whether it compiles, to other code than the file without it."""
        folder = WORK / "objects"
        folder.mkdir(exist_ok=True)
        text, made, source = folder / "text.c", folder / "text.o", TREE / self.path

        def compiled(content):
            text.write_text(content)
            command = known.plain_compiler(source, made, text)
            status = run(command, 120, cwd=known.build)
            return made.read_bytes() if status == 0 else None

        before, after = compiled(self.source), compiled(self.changed)
        return after is not None and before != after


def sample(rooms, files, count, seed, known, take_all):
    """Mistakes round by round over the rooms; in a room first the kind is drawn, then the place."""
    drawers = []
    for room in rooms:
        places = []
        for path in sorted(str(p.relative_to(ROOT)) for p in (ROOT / room).rglob("*.c")):
            if room_of(path) != room or (files and path not in files):
                continue
            source = (ROOT / path).read_text()
            places += [(path, source, m) for m in mistakes.of(source)]
        if places:
            drawers.append((random.Random(f"{seed} {room}"), places))
    taken = 0
    while drawers and (take_all or taken < count):
        for drawer in list(drawers):
            draw, places = drawer
            candidate = None
            while places and candidate is None:
                kind = draw.choice(sorted({m.kind for _, _, m in places}))
                at = draw.choice([i for i, (_, _, m) in enumerate(places) if m.kind == kind])
                candidate = Candidate(*places.pop(at))
                if not candidate.is_real(known):
                    candidate = None
            if candidate is None:
                drawers.remove(drawer)
            elif take_all or taken < count:
                taken += 1
                yield candidate


class Tests:
    def __init__(self, known, with_longer, n_far):
        self.known = known
        self.all = graph.tests(BUILD, known.programs)
        self.with_longer, self.n_far = with_longer, n_far
        self.sound, self.took = {}, {}

    def of(self, candidate):
        """The programs that link the file, nearest first, and the longer tests of its room."""
        linked = self.known.programs_of(self.known.object_of(TREE / candidate.path))
        units = [t for t in self.all.values() if t.program in linked and {"unit", "fuzz"} & set(t.labels)]
        own = f"tests/unit/{candidate.room}/CMakeFiles/"
        stem = pathlib.Path(candidate.path).stem
        folders = {t.name: self.folder_of(t) for t in units}
        units.sort(key=lambda t: (-len(os.path.commonprefix([folders[t.name], own])), stem not in t.name, t.name))
        near = [t for t in units if folders[t.name].startswith(own)]
        far = [t for t in units if t not in near][: self.n_far]
        names = LONGER[candidate.room] if self.with_longer else []
        longer = [self.all[n] for n in names if n in self.all]
        return near, far, longer, self.known.programs_named("sandmux")

    def folder_of(self, test):
        for used, makers in self.known.users.items():
            if test.program in makers and used.startswith("tests/"):
                return used
        return ""

    def passes(self, test, limit_s):
        began = time.monotonic()
        status = run(test.command, limit_s, cwd=test.cwd, env={**os.environ, **test.environment})
        self.took[test.name] = time.monotonic() - began
        return status == 0

    def is_sound(self, test, limit_s, mutant):
        """Whether it passes without the mistake; asked once, when it has failed with one."""
        if test.name not in self.sound:
            with mutant.without():
                programs = [test.program] if test.program else self.known.programs_named("sandmux")
                self.sound[test.name] = build(programs) and self.passes(test, limit_s)
            build(programs)  # with the mistake again
            if not self.sound[test.name]:
                slow = self.took.get(test.name, 0) >= limit_s
                say(f"left out, it {'is too slow' if slow else 'fails'} without a mistake: {test.name}")
        return self.sound[test.name]

    def first_failure(self, tests, limit_s, mutant):
        """Quick ones first."""
        for test in sorted(tests, key=lambda t: self.took.get(t.name, 1)):
            if self.sound.get(test.name) is False or self.passes(test, limit_s):
                continue
            if self.is_sound(test, limit_s, mutant) and not self.passes(test, limit_s):
                return test.name
        return None

    def notice(self, mutant):
        """The name of the first test that fails, or None."""
        near, far, longer, programs = self.of(mutant.candidate)
        for tests in (near, [t for t in far if self.took.get(t.name, 0) < FAR_LIMIT_S]):
            if not build([t.program for t in tests]):
                return "the build"
            name = self.first_failure(tests, UNIT_LIMIT_S, mutant)
            if name:
                return name
        if longer and not build(programs):
            return "the build"
        return self.first_failure(longer, LONGER_LIMIT_S, mutant)


class Mutant:
    """The copy of the tree with one mistake in it."""

    def __init__(self, candidate, known):
        self.candidate = candidate
        self.file = TREE / candidate.path
        self.made = BUILD / known.object_of(self.file)

    def put(self, text):
        self.file.write_text(text)
        self.made.unlink(missing_ok=True)  # whatever the clocks of files say, it is made again

    def __enter__(self):
        self.put(self.candidate.changed)
        return self

    def __exit__(self, *_):
        self.put(self.candidate.source)

    @contextlib.contextmanager
    def without(self):
        self.put(self.candidate.source)
        yield
        self.put(self.candidate.changed)


def report(results):
    rooms = {}
    for result in results:
        rooms.setdefault(result["room"], []).append(result["noticed_by"] is not None)
    print("\nnot noticed:")
    for result in results:
        if result["noticed_by"] is None:
            print(f"\n{result['file']}:{result['line']} {result['kind']}\n{result['diff']}")
    print()
    for room in sorted(rooms):
        print(f"{room:18} {sum(rooms[room]):3} of {len(rooms[room]):3}")
    noticed = sum(map(sum, rooms.values()))
    print(f"\nnoticed {noticed} of {len(results)}: {100 * noticed / max(1, len(results)):.0f} %")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=17, metavar="N", help="how many mistakes (17)")
    parser.add_argument("--seed", default="1", help="another seed, other mistakes (1)")
    parser.add_argument("--rooms", nargs="+", default=ROOMS, metavar="ROOM", choices=ROOMS)
    parser.add_argument("--files", nargs="+", default=[], metavar="FILE", help="only in these")
    parser.add_argument("--all", action="store_true", help="every mistake of the rooms or files")
    parser.add_argument("--unit", action="store_true", help="without the longer tests")
    parser.add_argument(
        "--far", type=int, default=NEAR_ENOUGH, metavar="N", help="programs of other rooms for one mistake (%(default)s)"
    )
    parser.add_argument("--list", action="store_true", help="show the mistakes, try nothing")
    parser.add_argument("--json", metavar="FILE", help="write the results here too")
    return parser.parse_args()


def lock():
    """Two at once would put their mistakes into the same copy. Held until the program ends."""
    WORK.mkdir(parents=True, exist_ok=True)
    held = open(WORK / "lock", "w")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("another mutate.py is at work in build/mutate")
    return held


def main():
    options = arguments()
    held = lock()
    rooms = sorted({room_of(f) for f in options.files}, key=ROOMS.index) if options.files else options.rooms
    configure()
    known = graph.Graph(BUILD)
    candidates = list(sample(rooms, options.files, options.sample, options.seed, known, options.all))
    if options.list:
        for candidate in candidates:
            print(f"{candidate.path}:{candidate.line} {candidate.mistake.kind}\n{candidate.diff()}\n")
        return
    tests = Tests(known, not options.unit, options.far)
    results = []
    for candidate in candidates:
        began = time.monotonic()
        with Mutant(candidate, known) as mutant:
            noticed_by = tests.notice(mutant)
        where = f"{candidate.path}:{candidate.line}"
        seconds = round(time.monotonic() - began, 1)
        say(f"{where} {candidate.mistake.kind}: {noticed_by or 'NOT NOTICED'} ({seconds} s)")
        results.append({
            "file": candidate.path, "line": candidate.line, "room": candidate.room, "kind": candidate.mistake.kind,
            "diff": candidate.diff(), "noticed_by": noticed_by, "seconds": seconds,
        })  # fmt: skip
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
    report(results)
    held.close()


if __name__ == "__main__":
    main()
