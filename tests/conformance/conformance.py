# SPDX-License-Identifier: Apache-2.0
"""Runs the conformance table against the real sandboxd and against sandmux-sandboxd.

usage: conformance.py [-v] [--only PREFIX]... [--ours-only]
Environment: SANDMUX_BIN (its folder has sandmux-sandboxd). The last line printed is
`N passed, N failed, N skipped`."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import rest_cases  # noqa: E402,F401
import rpc_cases  # noqa: E402,F401
from harness.bed import bed_path  # noqa: E402
from harness.procs import Process, free_port, http_ok, listens  # noqa: E402
from table import CASES, Target  # noqa: E402

USER = 65534
RACES = 2  # a difference counts when it is there three times in a row
CI = os.environ.get("CI") == "true"
METADATA = {"SANDBOX_ID": "sb-1", "SANDBOX_MONKEY": "x", "SANDBOX_AUTHOR": "y", "SANDBOX_TOKEN": "z", "SANDBOX_TEXT": "<a>\n\"\u00e9",
            "SANDBOX_": "empty name", "SANDBOX_b": "", "sandbox_low": "no", "SANDBOXX": "no"}


class Daemon:
    def __init__(self, name, program, folder, user=False):
        self.root = Path(folder) / (name + ("-user" if user else "") + "-root")
        self.root.mkdir()
        owner = USER if user and os.geteuid() == 0 else None
        argv = []
        if owner is not None:
            os.chown(self.root, owner, owner)
            argv = ["setpriv", f"--reuid={owner}", f"--regid={owner}", "--clear-groups", "--"]
        rest, grpc = free_port(), free_port()
        self.process = Process([*argv, program, f"--root-dir={self.root}", f"--rest-port={rest}", f"--grpc-port={grpc}",
                                "--shutdown-timeout=8s"], env={**METADATA, "ASAN_OPTIONS": f"log_path={folder}/asan"}, name=name, timeout=20,
                               ready=lambda: http_ok(f"http://127.0.0.1:{rest}/v1/health") and listens("127.0.0.1", grpc))
        self.target = Target(name, f"127.0.0.1:{rest}", f"127.0.0.1:{grpc}", self.root, self.process.pid, owner)


def run_on(case, daemon):
    try:
        daemon.target.clean()
        return case.run(daemon.target)
    except Exception as e:  # noqa: BLE001
        return ("EXCEPTION", type(e).__name__, str(e).replace(str(daemon.root), "<root>"), traceback.format_exc())


def same(a, b):
    strip = (lambda v: v[:3] if isinstance(v, tuple) and v[:1] == ("EXCEPTION",) else v)
    return strip(a) == strip(b)


def short(value):
    text = repr(value)
    return text if len(text) < 500 else text[:500] + "…"


def difference(real, ours):
    """Only what is unlike, part by part."""
    if isinstance(real, (tuple, list)) and type(real) is type(ours) and len(real) == len(ours):
        parts = [f"[{i}] {difference(a, b)}" for i, (a, b) in enumerate(zip(real, ours)) if a != b]
        return "; ".join(parts[:6])
    if isinstance(real, dict) and isinstance(ours, dict):
        keys = [k for k in {**real, **ours} if real.get(k) != ours.get(k)]
        return "; ".join(f"{k!r}: real {short(real.get(k))}, ours {short(ours.get(k))}" for k in keys[:6])
    return f"real {short(real)}, ours {short(ours)}"


def judge(case, real, ours):
    """None, or what is wrong."""
    if isinstance(ours, tuple) and ours[:1] == ("EXCEPTION",):
        return "ours raised:\n" + ours[3]
    if case.differs:
        if case.ours and not case.ours(ours):
            return f"ours is not as documented ({case.differs}):\n  ours {short(ours)}"
        return None if case.name in documented() else "differs, but docs/conformance.md does not name it"
    if real is None:
        return None
    return None if same(real, ours) else difference(real, ours)


def documented():
    text = (HERE.parent.parent / "docs/conformance.md").read_text()
    return set(re.findall(r"`([a-z0-9][\w.-]+)`", text))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-v", action="store_true")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--ours-only", action="store_true", help="no comparison: what ours says, printed")
    args = parser.parse_args()
    ours_program = Path(os.environ["SANDMUX_BIN"]).parent / "sandmux-sandboxd"
    real_program = None if args.ours_only else bed_path("sandboxd")
    chosen = [c for c in CASES if not args.only or any(c.name.startswith(p) for p in args.only)]
    if real_program is None and not args.ours_only:
        print(f"the real sandboxd is not built: tests/bed/build.sh sandboxd\n0 passed, {int(CI)} failed, {len(chosen)} skipped")
        return int(CI)
    failed = passed = 0
    with tempfile.TemporaryDirectory(prefix="conformance-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o1777)
        programs = {"ours": Path(shutil.copy(ours_program, folder)).resolve()}
        if real_program:
            programs["real"] = Path(shutil.copy(real_program, Path(folder) / "real")).resolve()
        daemons = {(n, user): Daemon(n, p, folder, user) for n, p in programs.items()
                   for user in (False, True) if any(c.user == user for c in chosen)}
        pool = ThreadPoolExecutor(1)
        try:
            for c in chosen:
                start = time.monotonic()
                asked = pool.submit(run_on, c, daemons["real", c.user]) if real_program else None
                ours = run_on(c, daemons["ours", c.user])
                real = asked.result() if asked else None
                for _ in range(c.tries - 1):
                    if real is None or same(real, ours):
                        break
                    real = run_on(c, daemons["real", c.user])
                wrong = judge(c, real, ours)
                for _ in range(RACES):
                    if not wrong:
                        break
                    # a deadline against a sleep may end either way on a busy machine: on both sides anew
                    ours = run_on(c, daemons["ours", c.user])
                    real = run_on(c, daemons["real", c.user]) if real_program else None
                    wrong = judge(c, real, ours)
                failed, passed = failed + bool(wrong), passed + (not wrong)
                if wrong or args.v or args.ours_only:
                    print(f"{'FAIL' if wrong else 'ok'} {c.name} ({time.monotonic() - start:.1f} s)", flush=True)
                    if wrong:
                        print("  " + wrong)
                    elif args.ours_only:
                        print("  " + short(ours))
        finally:
            for key, d in daemons.items():
                log, status = d.process.log(), d.process.stop(12)
                if key[0] == "ours" and status != 0:
                    reports = "".join(f.read_text() for f in Path(folder).glob("asan*"))
                    print(f"FAIL ours ended with {status}:\n{log[-3000:]}{reports[:6000]}")
                    failed += 1
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
