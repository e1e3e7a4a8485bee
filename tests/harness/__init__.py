# SPDX-License-Identifier: Apache-2.0
"""What the tests in Python share: a terminal (screen), real servers (procs), the
built program (sandmux) and the cases themselves (case). Standard library only.
Put tests/ on PYTHONPATH and `from harness import Case, Screen, main`."""
import signal

from .bed import bed_path
from .case import Case, main
from .cluster import RealCluster
from .procs import Process, RealSandboxd, free_port
from .sandmux import BIN, run, sandmux_screen
from .screen import Screen

__all__ = ["BIN", "Case", "Process", "RealCluster", "RealSandboxd", "Screen", "bed_path", "free_port", "main", "run", "sandmux_screen"]

# Who is started with nohup or in a shell's background ignores signals, and a program inherits that and keeps to it. What is
# caught is ignored as well, and a program started here begins without it.
for _signal in signal.valid_signals():
    if signal.getsignal(_signal) == signal.SIG_IGN and _signal not in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(_signal, lambda *_: None)
