# SPDX-License-Identifier: Apache-2.0
"""Run by the interpreter that has the official client (k8s-agent-sandbox): told what to do line by line, in its default way to
a sandboxd, `kubectl port-forward` to the pod. Argument: the namespace. Each answer is one line of JSON."""
import asyncio
import json
import sys

from k8s_agent_sandbox import SandboxClient
from k8s_agent_sandbox.models import SandboxdPodTunnelConnectionConfig

ns = sys.argv[1]
client = SandboxClient(SandboxdPodTunnelConnectionConfig())
plain = SandboxClient()  # without any configuration: the router's tunnel, which is only opened by a call into the sandbox


def use(sandbox, text):
    payload = bytes(range(256)) * 2048
    sandbox.files.write("dir/from-python", payload)
    r = sandbox.commands.run(f"echo {text}; echo err >&2; exit 3")
    return {"claim": sandbox.claim_name, "sandbox": sandbox.sandbox_id, "run": [r.stdout, r.stderr, r.exit_code],
            "same": sandbox.files.read("dir/from-python") == payload,
            "files": sorted(e.name for e in sandbox.files.list("dir"))}


async def use_async(pool):
    from k8s_agent_sandbox import AsyncSandboxClient
    async with AsyncSandboxClient(SandboxdPodTunnelConnectionConfig()) as c:
        sandbox = await c.create_sandbox(pool, namespace=ns)
        r = await sandbox.commands.run("echo async")
        await sandbox.files.write("async", b"bytes")
        out = {"run": [r.stdout, r.exit_code], "read": (await sandbox.files.read("async")).decode()}
        await c.delete_sandbox(sandbox.claim_name, namespace=ns)
        return out


def do(word, *args):
    if word == "create":
        labels = dict(a.split("=") for a in args[2:])
        return use(client.create_sandbox(args[0], namespace=ns, claim_name=args[1], labels=labels), "created")
    if word == "adopt":
        return use(client.create_sandbox(args[0], namespace=ns, claim_name=args[1], adopt_existing=True), "adopted")
    if word == "get":
        return use(client.get_sandbox(args[0], namespace=ns), "got")
    if word == "async":
        return asyncio.run(use_async(args[0]))
    if word == "plain":
        s = plain.create_sandbox(args[0], namespace=ns, claim_name=args[1])
        return {"claim": s.claim_name, "sandbox": s.sandbox_id}
    if word == "list":
        return {"names": client.list_all_sandboxes(namespace=ns)}
    if word == "delete":
        client.delete_sandbox(args[0], namespace=ns)
        return {}
    raise ValueError(word)


for line in sys.stdin:
    try:
        print(json.dumps(do(*line.split())), flush=True)
    except Exception as e:  # the client's own error types are what is looked at
        print(json.dumps({"error": type(e).__name__, "message": str(e)[:2000]}), flush=True)
