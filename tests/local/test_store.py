# SPDX-License-Identifier: Apache-2.0
"""The database is damaged, lost, old, of a newer program, or the disk does not take a write: the files are there afterwards, or
named with where they were put."""
import json
import os
import shutil
import sqlite3
import subprocess
import time

from harness.case import Case, main
from harness.sandmux import BIN, home_env

from backend import CLAIMS, LOCALD, PODS, POOLS, SANDBOXES, Backend, claim, condition, is_ready, wait_for

MERGE, PATCH = "application/merge-patch+json", "application/json-patch+json"


class Damaged(Case):
    """One sandbox with a file in it, its backend stopped. Each test breaks something else."""

    def setUp(self):
        self.b = Backend(self.tmp / "state", isolation="none")
        self.addCleanup(self.b.stop)
        got = self.b.ready_claim("c1")
        self.sandbox = got["status"]["sandbox"]["name"]
        ip = got["status"]["sandbox"]["podIPs"][0]
        self.assertEqual(self.b.daemon(ip, "PUT", "/v1/files/precious.txt", b"precious").code, 204)
        self.b.stop()
        self.db = self.b.state / "objects.db"

    def sql(self, *statements):
        db = sqlite3.connect(self.db)
        for statement in statements:
            db.execute(statement)
        db.commit()
        db.close()

    def run_local(self, *args):
        return subprocess.run([BIN, "local", *args, "--state-dir", str(self.b.state)], capture_output=True, text=True, timeout=60,
                              env={**os.environ, **home_env(self.tmp / "home")}, stdin=subprocess.DEVNULL)

    def found(self):
        return [p for p in self.b.state.rglob("precious.txt") if p.read_bytes() == b"precious"]

    def refused(self, *words):
        """The start fails, says where and how to go on, and leaves every file as it is."""
        before = {p: p.stat().st_ino for p in self.b.state.glob("volumes/*/*")}
        r = subprocess.run([LOCALD, "--state-dir", str(self.b.state), "--isolation", "none"], capture_output=True, text=True, timeout=30)
        self.assertEqual(r.returncode, 1, r.stderr)
        for word in (str(self.db), *words):
            self.assertIn(word, r.stderr)
        self.assertEqual({p: p.stat().st_ino for p in self.b.state.glob("volumes/*/*")}, before)
        self.assertTrue(self.found())
        r = self.run_local("up", "--isolation", "none")
        self.assertEqual(r.returncode, 1, r.stderr)
        self.assertIn("sandmux local recover", r.stderr)

    def recovered(self):
        r = self.run_local("recover")
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        return r.stdout

    def came_back(self):
        """The same sandbox is Ready with its file."""
        self.b.start()
        got = wait_for("the claim is Ready", lambda: (lambda o: o if is_ready(o) else None)(self.b.object(CLAIMS + "/c1")))
        self.assertEqual(got["status"]["sandbox"]["name"], self.sandbox)
        pod = self.b.object(f"{PODS}/{self.sandbox}")
        self.assertEqual(self.b.daemon(pod["status"]["podIP"], "GET", "/v1/files/precious.txt").body, b"precious")

    def test_a_damaged_row_of_the_volume(self):
        self.sql("update objects set json='{' where json like '%\"kind\":\"PersistentVolumeClaim\"%'")
        self.refused("cannot be read")
        out = self.recovered()
        self.assertIn("made again from its manifest: persistentvolumeclaim", out)
        self.came_back()

    def test_a_damaged_row_of_the_claim_and_the_sandbox(self):
        self.sql("update objects set json=substr(json, 1, 100) where kind in (0, 3)")
        self.refused("cannot be read")
        self.recovered()
        self.came_back()

    def test_a_missing_database(self):
        for p in self.b.state.glob("objects.db*"):
            p.unlink()
        self.refused("is missing")
        self.recovered()
        self.came_back()

    def test_a_missing_database_and_no_manifests(self):
        for p in (*self.b.state.glob("objects.db*"), *self.b.state.glob("*/*.json")):
            p.unlink()
        self.recovered()
        self.b.start()
        self.assertTrue(self.found())
        self.assertTrue(all("quarantine" in p.parts for p in self.found()))

    def test_an_empty_database(self):
        self.db.write_bytes(b"")
        self.refused("is empty")
        self.recovered()
        self.came_back()

    def test_a_truncated_database(self):
        size = self.db.stat().st_size
        for n in (size // 2 // 4096 * 4096, 1000):
            with self.subTest(n):
                whole = self.db.read_bytes()
                os.truncate(self.db, n)
                self.refused()
                self.recovered()
                self.came_back()
                self.b.stop()
                self.assertTrue(any(p.stat().st_size == n for p in self.b.state.glob("quarantine/store-*/objects.db")), whole[:0])

    def test_damaged_pages(self):
        size = self.db.stat().st_size
        with open(self.db, "r+b") as f:
            for at in range(2 * 4096, size, 3 * 4096):
                f.seek(at)
                f.write(os.urandom(512))
        self.refused()
        self.recovered()
        self.came_back()

    def test_not_a_database(self):
        self.db.write_bytes(os.urandom(40000))
        self.refused()
        self.recovered()
        self.came_back()

    def test_of_a_newer_program(self):
        self.sql("pragma user_version=99")
        before = self.db.read_bytes()
        for args in (["local", "up", "--isolation", "none"], ["local", "recover"]):
            r = subprocess.run([BIN, *args, "--state-dir", str(self.b.state)], capture_output=True, text=True, timeout=60,
                               env={**os.environ, **home_env(self.tmp / "home")}, stdin=subprocess.DEVNULL)
            self.assertEqual(r.returncode, 1)
            self.assertIn("schema 99", r.stderr)
            self.assertIn(str(self.db), r.stderr)
        self.assertEqual(self.db.read_bytes(), before)
        self.sql("pragma user_version=2")
        self.came_back()

    def test_an_older_copy(self):
        """A database from before the sandbox was made: whole, but it does not know the files."""
        self.sql("delete from objects where kind in (0, 3, 4, 6)")
        self.b.start()
        kept, = self.found()
        self.assertIn("quarantine", kept.parts)
        r = self.run_local("status")
        self.assertIn(str(kept.parent), r.stdout)
        self.assertIn("c1", r.stdout)
        entry, = json.loads(self.run_local("status", "-o", "json").stdout)["quarantine"]
        self.assertEqual((entry["claim"], entry["sandbox"], entry["namespace"]), ("c1", self.sandbox, "default"))

    def test_a_lost_owner_takes_nothing_with_it(self):
        self.sql("delete from objects where kind = 3")  # the Sandbox; pod and volume name it as their owner
        self.b.start()
        time.sleep(1)
        self.assertTrue(self.found())
        self.assertTrue(self.b.get("/api/v1/namespaces/default/persistentvolumeclaims").json["items"])

    def test_a_volume_that_is_not_there_is_not_made_anew(self):
        """Its disk is not mounted, say."""
        folder = self.found()[0].parent
        folder.rename(self.tmp / "elsewhere")
        self.b.start()

        def waiting():
            pod = self.b.object(f"{PODS}/{self.sandbox}")
            return pod["status"]["containerStatuses"][0]["state"].get("waiting", {}).get("message", "")
        wait_for("the pod says what it misses", lambda: str(folder) in waiting())
        self.assertFalse(folder.exists())
        (self.tmp / "elsewhere").rename(folder)
        wait_for("it starts by itself", lambda: condition(self.b.object(f"{PODS}/{self.sandbox}")).get("status") == "True", timeout=60)
        self.assertTrue(self.found())

    def test_a_recovery_that_was_cut_short(self):
        self.db.write_bytes(b"no")
        quarantine = self.b.state / "quarantine" / "store-earlier"
        quarantine.mkdir(parents=True)
        self.b.state.joinpath("quarantine").chmod(0o700)
        self.db.rename(quarantine / "objects.db")
        (self.b.state / "recovering").mkdir()
        (self.b.state / "recovering" / "objects.db").write_bytes(b"half")
        self.recovered()
        self.assertFalse((self.b.state / "recovering").exists())
        self.assertEqual([p.name for p in self.b.state.glob("quarantine/store-*")].count("store-earlier"), 1)
        self.came_back()

    def test_nothing_to_recover(self):
        self.assertIn("nothing to recover", self.recovered())
        self.came_back()
        r = self.run_local("recover")
        self.assertEqual(r.returncode, 1)
        self.assertIn("sandmux local down", r.stderr)


class Deleted(Case):
    """What was deleted by name goes, whenever the backend dies in between."""

    def test_files_of_a_deleted_claim_go_at_the_next_start(self):
        b = Backend(self.tmp / "state", isolation="none", warm=0)
        self.addCleanup(b.stop)
        b.ready_claim("c1")
        volume, = (b.state / "volumes").glob("*[!n]")
        b.stop()
        # as if it had been killed between the two
        db = sqlite3.connect(b.state / "objects.db")
        uid = volume.name
        db.execute("delete from objects where kind in (0, 3, 4, 6)")
        db.execute("insert into deleted values (?)", (uid,))
        db.commit()
        db.close()
        b.start()
        wait_for("it is gone", lambda: not volume.exists() and not list((b.state / "trash").iterdir()))
        self.assertFalse((b.state / "quarantine").exists())


class Unreadable(Case):
    """No request makes an object that the next start cannot read."""

    def test_patches(self):
        b = Backend(self.tmp / "state", isolation="none", warm=0)
        self.addCleanup(b.stop)
        pool = {"metadata": {"name": "p"}, "spec": {"replicas": 0, "sandboxTemplateRef": {"name": "local"}}}
        self.assertEqual(b.create(POOLS, pool).code, 201)
        deep = {}
        for _ in range(50):
            deep = {"d": deep}
        path = "/metadata/annotations"
        ops = [{"op": "add", "path": path, "value": {}}]
        for i in range(40):
            ops.append({"op": "add", "path": path + "/d" * (50 * i + 1), "value": deep})
        tried = [
            (PATCH, json.dumps(ops)),
            (PATCH, '[{"op":"add","path":"/spec/x","value":1e999}]'),
            (MERGE, '{"spec":{"replicas":1e999}}'),
            (MERGE, '{"metadata":{"labels":{"a":"\\ud800"}}}'),
            (MERGE, b'{"metadata":{"annotations":{"a":"\xff\xfe"}}}'),
            (MERGE, '{"metadata":{"annotations":{"a":"1","a":"2"}}}'),
            (MERGE, '{"metadata":{"uid":null,"name":null,"namespace":null}}'),
            (MERGE, '{"metadata":null}'),
            (MERGE, '{"metadata":{"uid":""}}'),
            (PATCH, '[{"op":"remove","path":"/metadata/uid"}]'),
            (PATCH, '[{"op":"remove","path":"/metadata"}]'),
            (PATCH, '[{"op":"replace","path":"","value":{}}]'),
            (PATCH, '[{"op":"replace","path":"/metadata","value":[]}]'),
            (PATCH, '[{"op":"add","path":"/metadata/name","value":"other"}]'),
            (MERGE, '{"metadata":{"annotations":{"a":"' + "\\u0001" * 400000 + '"}}}'),
            ("application/apply-patch+yaml", "metadata:\n  annotations:\n    a: \"\\0\"\nspec: {replicas: .inf}\n"),
            ("application/apply-patch+yaml", "spec: {replicas: .nan}\n"),
        ]
        for type, body in tried:
            with self.subTest(str(body)[:80]):
                data = body if isinstance(body, bytes) else body.encode()
                r = b.call("PATCH", POOLS + "/p", data, type, fieldManager="test")
                self.assertIn(r.code, (200, 400, 413, 415, 422), r.body[:200])
                before = b.object(POOLS + "/p")
                self.assertEqual(before["metadata"]["name"], "p")
                b.kill()
                b.start()
                self.assertEqual(b.object(POOLS + "/p"), before)


if __name__ == "__main__":
    main()
