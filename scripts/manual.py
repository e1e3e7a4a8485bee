# SPDX-License-Identifier: Apache-2.0
"""manual.py [--write]: docs/sandmux.1, and the table of codes in docs/cli.md, as the built program prints them from its
tables (`sandmux help man`, `sandmux help codes`). Without --write it fails if they are not up to date."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BINARY = os.environ.get("SANDMUX_BIN", str(ROOT / "build/debug/bin/sandmux"))
BEGIN, END = "<!-- codes: made by scripts/manual.py -->", "<!-- end of codes -->"


def printed(page: str) -> str:
    return subprocess.run([BINARY, "help", page], text=True, capture_output=True, check=True).stdout


def pages() -> dict[str, str]:
    cli = (ROOT / "docs/cli.md").read_text()
    codes = f"{BEGIN}\n\n{printed('codes')}\n{END}"
    return {"docs/sandmux.1": printed("man"),
            "docs/cli.md": re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: codes, cli, flags=re.S)}


def main() -> None:
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(f"usage: scripts/{__doc__}")
        return
    if sys.argv[1:] not in ([], ["--write"]):
        sys.exit(f"usage: scripts/{__doc__}")
    stale = []
    for name, made in pages().items():
        path = ROOT / name
        if not path.exists() or path.read_text() != made:
            stale.append(name)
            if "--write" in sys.argv:
                path.write_text(made)
    if stale and "--write" not in sys.argv:
        sys.exit(f"{', '.join(stale)}: not what the program's tables say: run python3 scripts/manual.py --write")


main()
