# SPDX-License-Identifier: Apache-2.0
"""scale_alone.py: the dashboard over 100,000 claims and Sandboxes of a scripted API server (dashboard.py), where no peer
comes along."""
import runpy
import sys
from pathlib import Path

program = Path(__file__).resolve().parent / "dashboard.py"
sys.argv = [str(program), "100000", "5"]
runpy.run_path(str(program), run_name="__main__")
