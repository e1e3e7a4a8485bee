# SPDX-License-Identifier: Apache-2.0
"""count.py FOLDER CTEST-LOG: how many cases the programs of one ctest run reported.

cmocka says "[  PASSED  ] N test(s).", Python cases "N passed, N failed, N skipped", a replayed
corpus "N inputs replayed", libFuzzer "Done N runs"; any other program counts as one case."""
import pathlib
import re
import sys

PATTERNS = (
    (re.compile(r"^\[  PASSED  \] (\d+) test", re.M), 1),
    (re.compile(r"^(?:\w+: )?(\d+) passed, \d+ failed", re.M), 1),
    (re.compile(r"^(\d+) inputs replayed", re.M), 1),
)


def cases_of(output: str) -> int:
    total = 0
    for pattern, group in PATTERNS:
        total += sum(int(m.group(group)) for m in pattern.finditer(output))
    return total or 1


def main() -> None:
    folder, log = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(errors="replace")
    names = set(re.findall(r"Test\s+#\d+: (\S+)", log))
    last = pathlib.Path(folder, "Testing", "Temporary", "LastTest.log")
    parts = re.split(r"^\d+/\d+ Test: ", last.read_text(errors="replace"), flags=re.M)[1:]
    print(sum(cases_of(part) for part in parts if part.split("\n", 1)[0].strip() in names))


main()
