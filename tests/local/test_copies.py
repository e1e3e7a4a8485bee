# SPDX-License-Identifier: Apache-2.0
"""Odd sources and targets of cp on the embedded backend."""
from cases.copies import CopyCases
from harness import Case, main


class Copies(CopyCases, Case):
    where = ["--local"]
    name = "box"

    def setUp(self):
        self.tmp  # made now: cleanups run backwards, and the backend must stop before its folder goes
        self.addCleanup(self.sandmux, "local", "reset", "--yes", timeout=60)
        self.sandmux("--local", "create", "box", timeout=60, check=0)


main()
