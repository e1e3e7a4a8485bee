# SPDX-License-Identifier: Apache-2.0
"""Where the real components are (tests/bed)."""
import os
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Optional

BED = Path(__file__).resolve().parent.parent / "bed"


def bed_variable(name: str) -> str:
    return "SANDMUX_BED_" + name.upper().replace("-", "_")


@lru_cache(maxsize=None)
def bed_path(name: str) -> Optional[str]:
    """The program of that name, or None while it is not built. SANDMUX_BED_<NAME> wins."""
    given = os.environ.get(bed_variable(name))
    if given:
        return given
    r = subprocess.run([str(BED / "env.sh"), name], capture_output=True, text=True)
    return r.stdout.strip() or None if r.returncode == 0 else None


def need_bed(name: str) -> str:
    path = bed_path(name)
    if not path:
        raise FileNotFoundError(f"{name} is not built: tests/bed/build.sh {name}")
    return path
