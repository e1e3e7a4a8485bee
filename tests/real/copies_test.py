# SPDX-License-Identifier: Apache-2.0
"""Odd sources and targets of cp against the real sandboxd, with more and with fewer programs beside it."""
import os
import shutil

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

    def with_programs(self, *names, **scripts):
        """The daemon again, with no other programs than these beside it."""
        bin_ = self.tmp / "bin"
        bin_.mkdir()
        for name in names:
            os.symlink(shutil.which(name), bin_ / name)
        for name, text in scripts.items():
            (bin_ / name).write_text(f"#!/bin/sh\n{text}\n")
            (bin_ / name).chmod(0o755)
        self.server = self.sandboxd(env={"PATH": str(bin_)})
        self.where = ["--rest", self.server.rest_url, "--grpc", self.server.grpc]
        return self.server.root

    def up(self):
        """A tree with files, folders and an empty folder goes up; what it is like there."""
        self.tree(self.tmp / "t")
        receipt = self.receipt("-r", self.tmp / "t", self.at("t"))
        for top in (self.tmp / "t", self.server.root / "t"):
            self.addCleanup(lambda top=top: [os.chmod(d, 0o700) for d in (top, top / "d", top / "d/e") if d.exists()])
        self.assertTrue((self.server.root / "t/none").is_dir())
        self.assertEqual([p for p in (self.server.root / "t").rglob(".sandmux-tmp-*")], [])
        return receipt["notes"], self.looks(self.tmp / "t") == self.looks(self.server.root / "t")

    def test_without_a_shell(self):
        self.with_programs("touch", "chmod", "mkdir", "stat")
        self.assertEqual(self.up(), ([], True))

    def test_without_any_program(self):
        self.with_programs()
        notes, same = self.up()
        self.assertEqual([(n["kind"], "8 entries" in n["text"]) for n in notes], [("notKept", True)], notes)  # 4 files and 4 folders
        looks = self.looks(self.server.root / "t")
        self.assertEqual(looks["d/run.sh"][0], "0o755")  # the daemon takes modes of files
        os.symlink("nowhere", self.server.root / "dangling")
        (self.tmp / "new").write_text("new")
        self.cp("--conflict", "fail", self.tmp / "new", self.at("fresh"), check=0)

    def test_times_that_cannot_be_set_are_listed_each(self):
        real = shutil.which("touch")
        self.with_programs("sh", "chmod", "mkdir", touch=f'case "$*" in *plain*) echo "touch: no" >&2; exit 1;; esac; exec {real} "$@"')
        notes, same = self.up()
        self.assertEqual([(n["path"], n["kind"], "touch: no" in n["text"]) for n in notes], [("plain", "notKept", True)])
        want, got = self.looks(self.tmp / "t"), self.looks(self.server.root / "t")
        self.assertNotEqual(got.pop("plain")[1], want.pop("plain")[1])
        self.assertEqual(got, want)

    def test_when_none_can_be_set_it_is_given_up(self):
        self.with_programs("sh", "chmod", "mkdir", touch="exit 1")
        (self.tmp / "many").mkdir()
        for n in range(300):
            (self.tmp / f"many/{n}").touch()
        receipt = self.receipt("-r", self.tmp / "many", self.at("many"))
        self.assertEqual(receipt["files"], 300)
        self.assertLess(len(receipt["notes"]), 30)
        self.assertTrue(any("too many" in n["text"] for n in receipt["notes"]))

    def test_stat_that_lies_or_fails(self):
        for script in ("echo nonsense", "echo 1:1:41ed", "exit 1", "yes | head -c 100000", "printf '1:2:zz\\n'"):
            root = self.with_programs("sh", stat=script)
            (root / "r/sub/deep").mkdir(parents=True)
            (root / "r/sub/deep/f").write_text("f")
            receipt = self.receipt("-r", self.at("r"), self.tmp / "back")
            if script == "echo 1:1:41ed":  # all folders are the same one: said, and nothing worse
                self.assertEqual((receipt["files"], self.kinds(receipt)), (0, [("sub", "loop")]))
            else:
                self.assertEqual((self.tmp / "back/sub/deep/f").read_text(), "f", script)
            shutil.rmtree(self.tmp / "back")
            shutil.rmtree(self.tmp / "bin")

    def test_links_to_where_the_copy_goes(self):
        self.inside("mkdir -p a/x/y b; echo f > a/x/f; ln -s ../../b a/x/b; ln -s a/x into; ln -s .. a/up")
        receipt = self.receipt("-r", self.at("a"), self.at("b"))
        self.assertEqual(sorted(self.inside("cd b && find . -type f").split()), ["./a/up/into/f", "./a/x/f"])
        self.assertIn(("x/b", "loop"), self.kinds(receipt))
        r = self.cp("-r", self.at("a/x"), self.at("into"))
        self.assertEqual((r.code, "into itself" in r.err), (2, True), r.err)


main()
