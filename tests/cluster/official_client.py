# SPDX-License-Identifier: Apache-2.0
"""Run by the interpreter that has the official client (k8s-agent-sandbox), against the cluster of KUBECONFIG: uses the
sandbox `ours` that sandmux made, makes one of its own, waits for a line, looks again and deletes its own."""
import json
import sys

from k8s_agent_sandbox import SandboxClient
from k8s_agent_sandbox.models import SandboxdInClusterConnectionConfig


def say(**what):
    print(json.dumps(what), flush=True)


ns = sys.argv[1]
client = SandboxClient(SandboxdInClusterConnectionConfig(mode="in-cluster-pod-ip"))
ours = client.get_sandbox("ours", namespace=ns)
ours.files.write("from-client", b"hello again\n")
r = ours.commands.run("echo $SANDBOX_KIND")
mine = client.create_sandbox("ready", namespace=ns)
mine.files.write("from-client", b"hello from the client\n")
say(listed=client.list_all_sandboxes(namespace=ns), read=ours.files.read("from-sandmux").decode(), run=[r.stdout, r.exit_code],
    created=mine.claim_name)
sys.stdin.readline()
say(listed=client.list_all_sandboxes(namespace=ns))
client.delete_sandbox(mine.claim_name, namespace=ns)
