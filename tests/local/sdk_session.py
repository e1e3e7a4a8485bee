# SPDX-License-Identifier: Apache-2.0
"""Run by the interpreter that has the official client (k8s-agent-sandbox): a whole session in pod-IP mode.
Prints one JSON object of what it saw."""
import json
import sys
import time

from k8s_agent_sandbox import SandboxClient
from k8s_agent_sandbox.models import SandboxdInClusterConnectionConfig

client = SandboxClient(SandboxdInClusterConnectionConfig(mode="in-cluster-pod-ip"))
seen = {}
start = time.monotonic()
sandbox = client.create_sandbox("local", labels={"who": "test"})
seen["create_ms"] = (time.monotonic() - start) * 1000
r = sandbox.commands.run("echo out; echo err >&2; exit 3")
seen["run"] = [r.stdout, r.stderr, r.exit_code]
payload = bytes(range(256)) * 4096
sandbox.files.write("dir/data.bin", payload)
seen["same"] = sandbox.files.read("dir/data.bin") == payload
seen["files"] = sorted(e.name for e in sandbox.files.list("dir"))
seen["listed"] = sandbox.claim_name in client.list_all_sandboxes(label_selector="who=test")
again = client.get_sandbox(sandbox.claim_name)
seen["again"] = again.sandbox_id == sandbox.sandbox_id
cold = client.create_sandbox("local", env={"COLOUR": "red"})
seen["env"] = cold.commands.run("echo $COLOUR").stdout
named = client.create_sandbox("local", claim_name="named", shutdown_after_seconds=600)
adopted = client.create_sandbox("local", claim_name="named", adopt_existing=True)
seen["adopted"] = adopted.sandbox_id == named.sandbox_id
try:
    client.create_sandbox("no-such-pool")
    seen["missing"] = "created"
except Exception as e:  # the client's own error types are what is looked at
    seen["missing"] = type(e).__name__
for claim in (sandbox.claim_name, cold.claim_name, "named"):
    client.delete_sandbox(claim)
seen["left"] = client.list_all_sandboxes()
json.dump(seen, sys.stdout)
