#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real Kubernetes with Agent Sandbox on this machine, for tests. No image registry.

  cluster.py up [--node]   control plane, with --node also a node that runs pods;
                           builds what is missing, starts what does not run
  cluster.py env           shell lines: KUBECONFIG, CLUSTER_API, CLUSTER_CA, CLUSTER_TOKEN, PATH
  cluster.py status        what runs, by pid; exit status 1 if something does not
  cluster.py down [--wipe] stops all; with --wipe everything is forgotten
  cluster.py can-node      exit status 0 if this machine can be a node, else says why not

The folder is --dir, else SANDMUX_CLUSTER_DIR, else sandmux-cluster in the temporary
folder. Ports are free ones, chosen once. Only one cluster with a node fits on a machine.
"""
import argparse
import fcntl
import os
import shlex
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

import control  # noqa: E402
import node  # noqa: E402
from state import Cluster, bed, build, say, wait_for  # noqa: E402

CONTROL = ("etcd", "kube-apiserver", "kube-controller-manager", "agent-sandbox-controller")
NODE = ("containerd", "kube-scheduler", "kubelet")


def up(c, args):
    began = time.monotonic()
    if args.node:
        why = node.impossible()
        if why:
            raise SystemExit(f"cluster: {why}")
    if args.build:
        build("control-plane", *(["node"] if args.node else []))
    if args.node or c.settings.exists() and c.load().node:
        node.take_machine(c)
    c.open(args.node)
    with open(c.dir / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        control.certificates(c)
        if c.node:
            node.network(c)
            node.start_containerd(c)
        control.start_api(c, args.apiserver_flag)
        if c.node:
            node.start_kubelet(c)
        control.start_sandbox(c, args.controller_flag)
        if c.node:
            wait_for("the warm pool", lambda: node.pool_ready(c), 60, f"; see {c.logs}")
    say(f"up in {time.monotonic() - began:.1f} s in {c.dir}")


def env(c, _args):
    c.load()
    for name, value in (("KUBECONFIG", c.kubeconfig), ("CLUSTER_DIR", c.dir), ("CLUSTER_API", c.api),
                        ("CLUSTER_CA", c.pki / "ca.crt"), ("CLUSTER_TOKEN", c.data["token"])):
        print(f"export {name}={shlex.quote(str(value))}")
    print(f'export PATH={shlex.quote(str(Path(bed("kubectl")[0]).parent))}:"$PATH"')


def status(c, _args):
    if not c.settings.exists():
        print("no cluster")
        sys.exit(1)
    c.load()
    pids = {name: c.pid(name) for name in CONTROL + (NODE if c.node else ())}
    for name, pid in pids.items():
        print(f"{name:26} {pid or 'not running'}")
    sys.exit(0 if all(pids.values()) else 1)


def down(c, args):
    if not c.settings.exists():
        return
    c.load()
    c.stop("agent-sandbox-controller")
    if c.node:
        node.stop(c)
    c.stop("kube-controller-manager")
    c.stop("kube-apiserver", 3)  # it would wait for its watches
    c.stop("etcd")
    if args.wipe:
        shutil.rmtree(c.dir)
    say("down")


def can_node(_c, _args):
    why = node.impossible()
    if why:
        raise SystemExit(f"cluster: {why}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--dir", default=os.environ.get("SANDMUX_CLUSTER_DIR") or f"{tempfile.gettempdir()}/sandmux-cluster")
    verbs = p.add_subparsers(required=True, metavar="VERB")
    for fn in (up, env, status, down, can_node):
        verb = verbs.add_parser(fn.__name__.replace("_", "-"))
        verb.set_defaults(fn=fn)
        if fn is up:
            verb.add_argument("--node", action="store_true", help="also a node that runs pods (root)")
            verb.add_argument("--no-build", dest="build", action="store_false", help="use what is built")
            verb.add_argument("--apiserver-flag", action="append", default=[], metavar="FLAG")
            verb.add_argument("--controller-flag", action="append", default=[], metavar="FLAG")
        if fn is down:
            verb.add_argument("--wipe", action="store_true", help="forget everything")
    args = p.parse_args()
    args.fn(Cluster(args.dir), args)


if __name__ == "__main__":
    main()
