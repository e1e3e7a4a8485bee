# SPDX-License-Identifier: Apache-2.0
"""The official Python client, unchanged, in pod-IP mode. It knows no daemon token (release 1.0.8 sends no
Authorization header to sandboxd), so the daemons are started without one."""
import json
import os
import subprocess
from pathlib import Path

from harness.bed import need_bed
from harness.case import Case, main

from backend import Backend


class PythonClient(Case):
    def test_session(self):
        self.need_bed("python")
        backend = Backend(self.tmp / "state", daemon_auth="off", warm=2)
        self.addCleanup(backend.stop)
        r = subprocess.run([need_bed("python"), str(Path(__file__).with_name("sdk_session.py"))], capture_output=True, text=True,
                           timeout=120, env={**os.environ, "KUBECONFIG": str(backend.kubeconfig)})
        self.assertEqual(r.returncode, 0, r.stderr[-4000:])
        seen = json.loads(r.stdout)
        self.assertEqual(seen["run"], ["out\n", "err\n", 3])
        self.assertTrue(seen["same"])
        self.assertEqual(seen["files"], ["data.bin"])
        self.assertTrue(seen["listed"])
        self.assertTrue(seen["again"])
        self.assertEqual(seen["env"], "red\n")
        self.assertTrue(seen["adopted"])
        self.assertEqual(seen["missing"], "SandboxWarmPoolNotFoundError")
        self.assertEqual(seen["left"], [])
        print(f"official client: create to ready in {seen['create_ms']:.0f} ms")


main()
