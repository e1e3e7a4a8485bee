# SPDX-License-Identifier: Apache-2.0
"""Odd sources and targets of cp against the real sandboxd."""
from cases.copies import CopyCases
from harness import Case, main


class Copies(CopyCases, Case):
    name = ""

    def setUp(self):
        self.server = self.sandboxd()
        self.where = ["--rest", self.server.rest_url, "--grpc", self.server.grpc]

    def test_without_processes(self):
        """Through a router there are files only: no identities, no times, no look for links."""
        self.inside("mkdir -p r/sub; echo f > r/sub/f; cd r; ln -s . a")
        self.where = ["--rest", self.server.rest_url]
        r = self.cp("-r", "--max-entries", "1000", self.at("r"), self.tmp / "r")
        self.assertEqual((r.code, "file.loop" in r.err), (1, True), r.err)  # at some depth
        receipt = self.receipt("-r", self.tmp / "r/sub", self.at("up"))
        self.assertEqual([n["kind"] for n in receipt["notes"]], ["notKept"])
        self.assertIn("2 entries", receipt["notes"][0]["text"])  # the file and the folder
        self.assertEqual((self.server.root / "up/f").read_text(), "f\n")


main()
