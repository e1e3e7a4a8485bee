# SPDX-License-Identifier: Apache-2.0
"""The sandbox list over a scripted API server: first paint, order, filter, marks, cursor, hostile text, bad news."""
import re
import signal
import socket
import threading
import time

from harness import Case, main
from harness.scripted_api import ScriptedApi, claim, metadata, sandbox


class List(Case):
    def api(self, count=0):
        api = ScriptedApi(count)
        self.addCleanup(api.stop)
        return api

    def open(self, api, *args, rows=24, cols=100, **kw):
        config = api.kubeconfig(self.tmp / "kubeconfig")
        scr = self.sandmux_screen("--kubeconfig", config, *args, rows=rows, cols=cols, **kw)
        scr.api = api
        return scr

    def listed(self, scr, count):
        """Waits for the rows, and until the watches that bring changes are open."""
        scr.wait_for(f"{count} sandboxes", timeout=60)
        scr.wait_for(lambda s: all(s.api.watchers.get(r) for r in ("sandboxclaims", "sandboxes")))

    def vanishes(self, scr, n):
        """One after the other: in between, a Sandbox whose claim has gone would be a row of its own."""
        speaks_of_its_pod = re.compile(rf"claim-{n:05d} .*but Pod ")
        scr.wait_for(speaks_of_its_pod)
        scr.api.emit("sandboxes", "DELETED", sandbox(n, 0))
        scr.wait_for(lambda s: not speaks_of_its_pod.search(s.text()))
        scr.api.emit("sandboxclaims", "DELETED", claim(n, 0))
        scr.wait_gone(f"claim-{n:05d}")

    def names(self, scr):
        return re.findall(r"^[ *] ([a-z]+-\S+)", scr.text(), re.M)

    def cursor_name(self, scr):
        """The name on the row that is drawn in the cursor's colours."""
        plain = scr.cell(2, 0).bg
        for n in range(3, scr.rows - 1):
            if scr.cell(n, 1).bg != plain:
                return scr.row(n)[2:].split()[0]
        return None

    def test_first_paint_comes_before_the_first_answer(self):
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        held = []
        threading.Thread(target=lambda: held.append(silent.accept()), daemon=True).start()
        api = self.api()
        api.url = f"http://127.0.0.1:{silent.getsockname()[1]}"  # accepts, never answers
        scr = self.open(api)
        scr.wait_for("sandboxes")
        scr.wait_for("waiting for the first answer")
        scr.wait_for(f"asking http://127.0.0.1:{silent.getsockname()[1]}")
        scr.type("?")  # and keys work meanwhile
        scr.wait_for("Everywhere")

    def test_rows_come_change_and_go(self):
        api = self.api(3)
        scr = self.open(api, "--set", "tombstones=0")
        self.listed(scr, 3)
        self.assertEqual(self.names(scr), ["claim-00000", "claim-00001", "claim-00002"])
        api.emit("sandboxes", "MODIFIED", sandbox(1, 0, ready=False))
        scr.wait_for(re.compile(r"claim-00001 +\S Degraded"))
        scr.wait_for("1 Degraded")
        api.emit("sandboxclaims", "ADDED", claim(7, 0))
        api.emit("sandboxes", "ADDED", sandbox(7, 0))
        scr.wait_for("4 sandboxes")
        self.vanishes(scr, 0)
        self.assertEqual(self.names(scr), ["claim-00001", "claim-00002", "claim-00007"])

    def test_what_was_deleted_stays_as_it_was_last(self):
        """In its place, counted by itself, with its end and its story, until dismissed."""
        api = self.api(3)
        scr = self.open(api, cols=120)
        self.listed(scr, 3)
        scr.type("j")
        scr.wait_for(lambda s: self.cursor_name(s) == "claim-00001")
        api.emit("sandboxclaims", "DELETED", claim(1, 0))
        api.emit("sandboxes", "DELETED", sandbox(1, 0))
        scr.wait_for(re.compile(r"claim-00001 +\S Deleted .*it was Ready"))
        self.assertEqual(self.names(scr), ["claim-00000", "claim-00001", "claim-00002"])
        self.assertEqual(self.cursor_name(scr), "claim-00001")
        self.assertIn("2 sandboxes", scr.row(1))
        self.assertIn("1 Deleted", scr.row(1))
        scr.type("s")
        scr.wait_for("it is no more")
        scr.key("Enter")
        scr.wait_gone("it is no more")
        scr.type(":tombstones hide\r")
        scr.wait_gone("claim-00001")
        scr.type(":tombstones show\r")
        scr.wait_for(re.compile(r"claim-00001 +\S Deleted"))
        scr.type("gj")
        scr.wait_for(lambda s: self.cursor_name(s) == "claim-00001")
        scr.key("C-d")  # nothing is lost: no question
        scr.wait_gone("claim-00001")
        self.assertNotIn("Delete", scr.text().replace("delete", ""))

    def test_the_cursor_stays_on_its_sandbox(self):
        api = self.api(5)
        scr = self.open(api, "--set", "tombstones=0")
        self.listed(scr, 5)
        scr.type("jj")
        scr.wait_for(lambda s: self.cursor_name(s) == "claim-00002")
        self.vanishes(scr, 0)
        self.assertEqual(self.cursor_name(scr), "claim-00002")
        scr.type("N")  # the same column again: reversed
        scr.wait_for("NAME↓")
        self.assertEqual(self.names(scr)[0], "claim-00004")
        self.assertEqual(self.cursor_name(scr), "claim-00002")
        self.vanishes(scr, 2)
        self.assertEqual(self.cursor_name(scr), "claim-00001")  # what took its place

    def test_a_row_that_slips_under_the_cursor_is_not_taken_for_the_other(self):
        """The key and the end of the row come at the same time: it is about that row, or about none."""
        api = self.api(8)
        scr = self.open(api, "--set", "tombstones=0")
        self.listed(scr, 8)
        for n in range(6):
            self.assertEqual(self.cursor_name(scr), f"claim-{n:05d}")
            scr.signal(signal.SIGSTOP)
            api.emit("sandboxclaims", "DELETED", claim(n, 0))
            api.emit("sandboxes", "DELETED", sandbox(n, 0))
            scr.key("C-d")
            scr.signal(signal.SIGCONT)
            asked = scr.wait_for(re.compile(r"no sandbox is selected|Delete 1 sandbox\? .*\n.*│ +claim-(\d+) +│"))
            if asked.group(1):
                self.assertEqual(int(asked.group(1)), n)
                scr.key("Escape")
                scr.wait_gone("Delete 1 sandbox?")
            scr.wait_gone(f"claim-{n:05d}")
            scr.wait_for(lambda s: self.cursor_name(s) == f"claim-{n + 1:05d}")
            scr.type(":redraw\r")  # the note goes
            scr.wait_gone("no sandbox is selected")

    def test_filter_while_typing(self):
        api = self.api(30)
        api.objects["sandboxes"][4] = sandbox(4, 1, ready=False)
        scr = self.open(api)
        self.listed(scr, 30)
        scr.type("/0002")
        scr.wait_for("11 of 30 sandboxes")
        scr.type("7")
        scr.wait_for("1 of 30 sandboxes")
        scr.key("BSpace", "BSpace", "Enter")
        scr.wait_for(lambda s: "30 sandboxes" in s.text() and "/000" in s.row(1))
        scr.key("Escape")
        scr.wait_for(lambda s: "/000" not in s.row(1))
        scr.type("/!state:ready")
        scr.wait_for("1 of 30 sandboxes")
        self.assertEqual(self.names(scr), ["claim-00004"])
        scr.key("Escape")  # while typing: as it was
        scr.wait_for(re.compile(r"^30 sandboxes", re.M))
        scr.type("/nothing-like-it\r")
        scr.wait_for("Nothing fits the filter")

    def test_the_language_of_the_filter(self):
        """Labels, alternatives, comparisons; what is wrong is named where it is typed, and nothing typed is lost."""
        api = self.api(6)
        api.objects["sandboxclaims"][2]["metadata"]["labels"] = {"app": "web"}
        scr = self.open(api)
        self.listed(scr, 6)
        scr.type("/-l app=web | claim-00004")
        scr.wait_for("2 of 6 sandboxes")
        self.assertEqual(self.names(scr), ["claim-00002", "claim-00004"])
        scr.type(" /[")
        scr.wait_for("/[/: ")
        self.assertEqual(self.names(scr), ["claim-00002", "claim-00004"])
        scr.key("Enter")  # it stays to be mended
        scr.type("45]$/ age>1d\r")
        scr.wait_gone("/[/: ")
        scr.wait_for("/-l app=web | claim-00004 /[45]$/ age>1d")
        scr.type(":filter save pair\r")
        scr.wait_for("filter pair is")
        scr.key("Escape")
        scr.wait_for(re.compile("^6 sandboxes", re.M))
        scr.stop()
        scr = self.open(api)  # from run to run
        self.listed(scr, 6)
        scr.type(":filter pair\r")
        scr.wait_for("2 of 6 sandboxes")
        scr.type(":filter nope=3\r")
        scr.wait_for("there is no column 'nope'")

    def test_the_card_of_the_selected_row(self):
        api = self.api(3)
        scr = self.open(api, rows=30, cols=120)
        self.listed(scr, 3)
        scr.wait_for("╭ claim-00000 ─")
        scr.type("j")
        scr.wait_for("╭ claim-00001 ─")
        scr.wait_for("pool pool · 10.0.0.1")
        scr.type("z")
        scr.wait_gone("╭ claim-00001 ─")
        scr.type("z")
        scr.wait_for("╭ claim-00001 ─")
        scr.resize(15, 120)  # rows first
        scr.wait_gone("╭ claim-00001 ─")

    def test_a_long_name_is_cut_in_the_middle(self):
        api = self.api(3)
        api.objects["sandboxclaims"][1]["metadata"]["name"] = "long-lived-review-bot-for-the-payments-team"
        scr = self.open(api, rows=10, cols=40)
        scr.wait_for(re.compile(r"long-l\S*…\S*-team"))

    def test_sorting_by_state_puts_the_unhealthy_first(self):
        api = self.api(12)
        api.objects["sandboxes"][9] = sandbox(9, 1, ready=False)
        scr = self.open(api)
        self.listed(scr, 12)
        scr.type("S")
        scr.wait_for(lambda s: self.names(s)[0] == "claim-00009")
        row = next(n for n, line in enumerate(scr.lines()) if "NAME" in line)
        scr.mouse("click", "left", row, 4)
        scr.wait_for(lambda s: self.names(s)[0] == "claim-00000")

    def test_marks_and_the_question(self):
        api = self.api(5)
        scr = self.open(api)
        self.listed(scr, 5)
        scr.key("Space", "Space")
        scr.wait_for("2 marked")
        scr.key("C-d")
        scr.wait_for("Delete 2 sandboxes?")
        for name in ("claim-00000", "claim-00001"):
            self.assertIn(f"│   {name}", scr.text())
        scr.key("Escape")
        scr.wait_gone("Delete 2")
        scr.key("Escape")
        scr.wait_gone("2 marked")
        scr.key("C-a")
        scr.wait_for("5 marked")

    def test_mouse(self):
        api = self.api(40)
        scr = self.open(api)
        self.listed(scr, 40)
        row = next(n for n, line in enumerate(scr.lines()) if "claim-00005" in line)
        scr.mouse("click", "left", row, 5)
        scr.wait_for(lambda s: self.cursor_name(s) == "claim-00005")
        for _ in range(8):
            scr.mouse("wheel", "down", 10, 10)
        scr.wait_for("claim-00028")
        self.assertNotIn("claim-00000", scr.text())
        row = next(n for n, line in enumerate(scr.lines()) if "claim-00020" in line)
        scr.mouse("click", "left", row, 5).mouse("click", "left", row, 5)
        scr.wait_for("conditions fine")
        scr.wait_for("claim-00020")
        scr.mouse("click", "left", 0, 14)  # the first tab
        self.listed(scr, 40)

    def test_hostile_objects(self):
        api = self.api(1)
        evil = "esc\x1b[2J\x1b]52;c;aGk=\x07 bidi\u202e zero\u200b nl\nend \x9b31m"
        box = sandbox(0, 1, ready=False)
        for c in box["status"]["conditions"]:
            c["message"] = evil
            c["reason"] = evil
        box["metadata"]["labels"][f"l{evil}"] = evil * 10
        box["status"]["nodeName"] = evil
        api.objects["sandboxes"][0] = box
        named = claim(0, 1)
        named["metadata"]["name"] = f"name-{evil}"
        named["metadata"]["labels"] = {evil: evil}
        api.objects["sandboxclaims"][0] = named
        scr = self.open(api, cols=200)
        scr.wait_for("name-esc^[")
        scr.type("d")
        scr.wait_for("conditions not fine")
        scr.type("+")
        scr.wait_for("<U+202E>")
        scr.key("C-d")
        scr.wait_for("Delete 1 sandbox?")
        scr.key("Escape")
        scr.wait_idle()
        for raw in (b"\x1b]52", "\u202e".encode(), "\u200b".encode(), b"\x9b31m", b"name-esc\x1b", b"\x07"):
            self.assertNotIn(raw, scr.raw)

    def test_a_server_that_goes_away_is_said(self):
        api = self.api(2)
        scr = self.open(api, cols=120)
        self.listed(scr, 2)
        api.stop()
        scr.wait_for(re.compile(r"API server refuses connections for \d+s; rows are as of \d\d:\d\d:\d\d\."))
        self.assertIn("claim-00000", scr.text())  # old data stays, marked as old

    def test_read_only_refuses_and_says_so(self):
        api = self.api(2)
        scr = self.open(api, "--read-only")
        self.listed(scr, 2)
        scr.wait_for("read-only")
        scr.key("C-d")
        scr.wait_for("op.read_only")
        scr.key("Enter")
        scr.type("n")
        scr.wait_for("op.read_only")

    def test_namespaces(self):
        api = self.api(3)
        elsewhere = claim(7, 1)
        elsewhere["metadata"]["namespace"] = "other"
        box = sandbox(7, 1)
        box["metadata"]["namespace"] = "other"
        scr = self.open(api)
        self.listed(scr, 3)
        api.objects["sandboxclaims"].append(elsewhere)
        api.objects["sandboxes"].append(box)
        api.pages.clear()
        scr.type("0")
        scr.wait_for("4 sandboxes")
        scr.wait_for("NAMESPACE")
        scr.wait_for("all namespaces")
        scr.wait_gone("asking")  # until all is listed it is not known which there are
        scr.type("2")  # the second one by name
        scr.wait_for("· other")
        scr.wait_for(lambda s: self.names(s) == ["claim-00007"])
        scr.type(":ns default\r")
        scr.wait_for(lambda s: self.names(s) == ["claim-00000", "claim-00001", "claim-00002"])
        scr.wait_gone("asking")
        scr.type("9")
        scr.wait_for("there are not that many namespaces")

    def test_narrow_and_wide(self):
        api = self.api(3)
        scr = self.open(api, rows=10, cols=40)
        scr.wait_for("claim-00002")
        scr.wait_gone("asking")
        scr.wait_for(re.compile(r"NAME↑ +STATE +AGE"))
        scr.resize(50, 200)
        scr.wait_for(re.compile(r"NAME.*STATE.*SANDBOX.*AGE.*WHY"))

    def test_pictures(self):
        """The whole screen as text, at three sizes."""
        api = self.api(4)
        masks = [(r"(?m) +\d+d(?= |$)", "  000d")]
        for rows, cols in ((24, 80), (50, 200), (10, 40)):
            scr = self.open(api, rows=rows, cols=cols)
            self.listed(scr, 4)
            scr.golden(f"tui/list-{cols}x{rows}", masks)
            scr.stop()

    def test_a_list_of_another_kind(self):
        """Watched from when it is opened until it is closed."""
        def volume(n, phase):
            return {"kind": "PersistentVolumeClaim", "metadata": metadata(7, n, f"data-{n:05d}", api.rv, labels={"n": str(n)}),
                    "spec": {"resources": {"requests": {"storage": "1Gi"}}}, "status": {"phase": phase}}
        api = self.api(2)
        api.objects["persistentvolumeclaims"] = [volume(n, "Bound") for n in range(3000)]
        scr = self.open(api)
        self.listed(scr, 2)
        self.assertNotIn("persistentvolumeclaims", api.watchers)
        scr.type(":pvc\r")
        scr.wait_for("3000 persistentvolumeclaims", timeout=60)
        scr.wait_for(re.compile(r"data-00000 +Bound +1Gi"))
        scr.wait_for(lambda s: api.watchers.get("persistentvolumeclaims"))
        api.emit("persistentvolumeclaims", "MODIFIED", volume(2, "Lost"))
        scr.wait_for(re.compile(r"data-00002 +Lost"))
        scr.type("/2999\r")
        scr.wait_for("1 of 3000 persistentvolumeclaims")
        scr.type("d")
        scr.wait_for("asked for")
        scr.type("q")
        scr.wait_gone("asked for")
        scr.type("\x1b")
        scr.wait_for("3000 persistentvolumeclaims")
        scr.type("q")
        scr.wait_for("2 sandboxes")
        scr.wait_gone("persistentvolumeclaims")

    def test_ten_thousand(self):
        api = self.api(10000)
        scr = self.open(api)
        scr.wait_for("10000 sandboxes", timeout=60)
        scr.type("G")
        scr.wait_for("claim-09999")
        scr.type("/09876\r")
        scr.wait_for("1 of 10000 sandboxes")

    def test_a_storm_costs_few_frames(self):
        """Changes that nobody asked for come in at most twenty frames a second; the last of them is shown all the same."""
        def frames():
            return scr.raw.count(b"\x1b[?2026h")
        api = self.api(40)
        scr = self.open(api, rows=50, cols=100)
        self.listed(scr, 40)
        scr.wait_idle(0.2)
        before, start = frames(), time.monotonic()
        sent = api.storm(400, 3)
        took, drawn = time.monotonic() - start, frames() - before
        self.assertGreater(sent, 400)
        self.assertGreater(drawn, 2)
        self.assertLessEqual(drawn, took * 20 + 4)
        api.emit("sandboxes", "MODIFIED", sandbox(7, 0, ready=False))
        scr.wait_for(re.compile(r"claim-00007 +\S Degraded"))
        api.emit("sandboxes", "MODIFIED", sandbox(7, 0))
        scr.wait_for(re.compile(r"claim-00007 +\S Ready"))


if __name__ == "__main__":
    main()
