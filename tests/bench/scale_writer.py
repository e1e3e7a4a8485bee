# SPDX-License-Identifier: Apache-2.0
"""Writes claims and Sandboxes to a real API server as a client and the Agent Sandbox controller would have done.

  scale_writer.py create FIRST END     claims and Sandboxes FIRST…END-1, with their status; prints a JSON line
  scale_writer.py copy FIRST END SOURCES
                                       the same without the cost of it: copies of the first SOURCES, put into etcd
  scale_writer.py ready                how many Sandboxes are Ready, as a JSON line
  scale_writer.py storm WAY FIRST COUNT OBJECTS RATE
                                       COUNT status changes, number FIRST and on, over OBJECTS pairs; prints "ready",
                                       waits for a line, writes them at RATE a second or slower, prints a JSON line

WAY api is a PATCH of the status subresource. WAY store writes the same change into etcd beneath the API server, which
sees it by its own watch and sends it to the clients as any other: this spares the cost of the write, where the
machine is too small for the rate. CLUSTER_API, CLUSTER_CA, CLUSTER_TOKEN, CLUSTER_ETCD and NAMESPACE say where.
"""
import base64
import json
import os
import socket
import ssl
import sys
import threading
import time
import urllib.parse
import uuid

NAMESPACE = os.environ.get("NAMESPACE", "scale")
CLAIMS = f"/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/{NAMESPACE}/sandboxclaims"
SANDBOXES = f"/apis/agents.x-k8s.io/v1beta1/namespaces/{NAMESPACE}/sandboxes"
KEYS = (f"/registry/agents.x-k8s.io/sandboxes/{NAMESPACE}/pool-", f"/registry/extensions.agents.x-k8s.io/sandboxclaims/{NAMESPACE}/claim-")
STRIDE = 7919  # a prime, so that changes come all over the list and each object once before one comes twice
WORKERS = 8
MERGE = "application/merge-patch+json"


class Refused(Exception):
    pass


class Connection:
    """One keep-alive HTTP/1.1 connection."""

    def __init__(self, url: str):
        url = urllib.parse.urlsplit(url)
        self.host = url.netloc
        self.sock = socket.create_connection((url.hostname, url.port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if url.scheme == "https":
            self.sock = ssl.create_default_context(cafile=os.environ["CLUSTER_CA"]).wrap_socket(self.sock, server_hostname=url.hostname)
        self.input = self.sock.makefile("rb")

    def head(self, method: str, path: str, length: int, kind: str = "application/json") -> bytes:
        return (f"{method} {path} HTTP/1.1\r\nHost: {self.host}\r\nAuthorization: Bearer {os.environ['CLUSTER_TOKEN']}\r\n"
                f"Accept: application/json\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n").encode()

    def send(self, data: bytes) -> bytes:
        """A whole request; the body of its answer."""
        self.sock.sendall(data)
        status, length, chunked = self.input.readline(), 0, False
        while (line := self.input.readline().strip().lower()):
            if line.startswith(b"content-length:"):
                length = int(line[15:])
            chunked = chunked or line == b"transfer-encoding: chunked"
        body = self.input.read(length)
        while chunked and (size := int(self.input.readline(), 16)):
            body += self.input.read(size)
            self.input.readline()
        if chunked:
            self.input.readline()
        if status.split()[1][:1] != b"2":
            raise Refused(f"{data[:200]!r}: {status!r} {body[:400]!r}")
        return body

    def ask(self, method: str, path: str, body: dict, kind: str = "application/json") -> dict:
        data = json.dumps(body).encode()
        return json.loads(self.send(self.head(method, path, len(data), kind) + data))


def condition(kind: str, value: bool, reason: str, message: str, at: str) -> dict:
    return {"type": kind, "status": str(value), "reason": reason, "message": message, "observedGeneration": 1, "lastTransitionTime": at}


def ready_condition(ready: bool, at: str) -> dict:
    return condition("Ready", ready, *(("DependenciesReady", "Pod is Ready") if ready else
                                       ("DependenciesNotReady", "Pod is Running but not Ready")), at)


def stamp() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def status_of(of_claim: bool, n: int, ready: bool) -> dict:
    """What the controller of 0.5.6 writes."""
    at, ips = stamp(), [f"10.66.{n // 250 % 250}.{n % 250 + 1}"]
    if of_claim:
        return {"conditions": [ready_condition(ready, at)], "sandbox": {"name": f"pool-{n:05d}", "podIPs": ips}}
    return {"conditions": [condition("Suspended", False, "NotSuspended", "Sandbox is not suspended", at),
                           condition("PodScheduled", True, "PodScheduled", "", at), ready_condition(ready, at)],
            "nodeName": f"node{n % 40}", "podIPs": ips, "selector": f"agents.x-k8s.io/sandbox-name-hash={n * 2654435761 % 2**32:08x}"}


def claim(n: int) -> dict:
    return {"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxClaim",
            "metadata": {"name": f"claim-{n:05d}", "labels": {"app": f"agent-{n % 12}", "team": f"team-{n % 7}"},
                         "annotations": {"agents.x-k8s.io/claim-first-ready-at": "2026-01-02T03:04:06.575450411Z",
                                         "agents.x-k8s.io/controller-first-observed-at": "2026-01-02T03:04:05.235294628Z",
                                         "agents.x-k8s.io/sandbox-name": f"pool-{n:05d}"}},
            "spec": {"additionalPodMetadata": {}, "warmPoolRef": {"name": "ready"}}}


def sandbox(n: int, owner: str) -> dict:
    labels = {"agents.x-k8s.io/claim-uid": owner, "agents.x-k8s.io/sandbox-template-ref-hash": "660ec0f4"}
    container = {"name": "sandboxd", "image": "localhost/sandbox:bed", "imagePullPolicy": "Never",
                 "command": ["/usr/local/bin/sandboxd-listen", "--listen-host=0.0.0.0", "--shutdown-timeout=1s"],
                 "env": [{"name": "SANDBOX_KIND", "value": "ready"}],
                 "ports": [{"name": "rest", "containerPort": 8080, "protocol": "TCP"}, {"name": "grpc", "containerPort": 9090, "protocol": "TCP"}],
                 "readinessProbe": {"httpGet": {"path": "/v1/health", "port": 8080}, "periodSeconds": 1},
                 "resources": {"limits": {"memory": "256Mi"}, "requests": {"cpu": "10m", "memory": "32Mi"}},
                 "volumeMounts": [{"name": "workspace", "mountPath": "/workspace"}]}
    return {"apiVersion": "agents.x-k8s.io/v1beta1", "kind": "Sandbox",
            "metadata": {"name": f"pool-{n:05d}", "labels": {**labels, "agents.x-k8s.io/launch-type": "warm"},
                         "annotations": {"agents.x-k8s.io/pod-name": f"pool-{n:05d}", "agents.x-k8s.io/sandbox-template-ref": "ready"},
                         "ownerReferences": [{"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxClaim", "name": f"claim-{n:05d}",
                                              "uid": owner, "controller": True, "blockOwnerDeletion": True}]},
            "spec": {"operatingMode": "Running", "shutdownPolicy": "Retain", "podTemplate": {
                "metadata": {"labels": labels},
                "spec": {"automountServiceAccountToken": False, "enableServiceLinks": False, "terminationGracePeriodSeconds": 1,
                         "securityContext": {"fsGroup": 1000, "runAsGroup": 1000, "runAsNonRoot": True, "runAsUser": 1000},
                         "containers": [container], "volumes": [{"name": "workspace", "emptyDir": {}}]}}}}


def in_threads(work) -> float:
    """Runs work(worker) in all workers; seconds. A worker that failed ends the program."""
    failed = []

    def guard(worker):
        try:
            work(worker)
        except Exception as e:
            failed.append(e)
    began = time.monotonic()
    threads = [threading.Thread(target=guard, args=(w,)) for w in range(WORKERS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failed:
        raise SystemExit(f"scale_writer: {failed[0]}")
    return time.monotonic() - began


def create(first: int, end: int) -> dict:
    def work(worker):
        c = Connection(os.environ["CLUSTER_API"])
        for n in range(first + worker, end, WORKERS):
            uid = c.ask("POST", CLAIMS, claim(n))["metadata"]["uid"]
            c.ask("POST", SANDBOXES, sandbox(n, uid))
            for of_claim, path in ((False, f"{SANDBOXES}/pool-{n:05d}"), (True, f"{CLAIMS}/claim-{n:05d}")):
                c.ask("PATCH", path + "/status", {"status": status_of(of_claim, n, n % 20 != 7)}, MERGE)
    seconds = in_threads(work)
    return {"created": end - first, "requests_per_s": round(4 * (end - first) / seconds)}


def stored_at(c: Connection, key: str) -> bytes:
    found = c.ask("POST", "/v3/kv/range", {"key": base64.b64encode(key.encode()).decode()})
    return base64.b64decode(found["kvs"][0]["value"])


def put_request(c: Connection, key: str, value: bytes) -> bytes:
    body = json.dumps({"key": base64.b64encode(key.encode()).decode(), "value": base64.b64encode(value).decode()}).encode()
    return c.head("POST", "/v3/kv/put", len(body)) + body


def copy(first: int, end: int, sources: int) -> dict:
    """Names and uids are replaced wherever they stand, also in owners, labels and managed fields."""
    c = Connection(os.environ["CLUSTER_ETCD"])
    pairs = [[stored_at(c, f"{key}{n:05d}") for key in KEYS] for n in range(sources)]
    uids = [[json.loads(value)["metadata"]["uid"] for value in pair] for pair in pairs]

    def work(worker):
        c = Connection(os.environ["CLUSTER_ETCD"])
        for n in range(first + worker, end, WORKERS):
            source = n % sources
            new = {old: str(uuid.uuid4()) for old in uids[source]}
            new |= {f"pool-{source:05d}": f"pool-{n:05d}", f"claim-{source:05d}": f"claim-{n:05d}"}
            for key, value in reversed(list(zip(KEYS, pairs[source]))):  # the claim first: owners exist before what they own
                for old, to in new.items():
                    value = value.replace(old.encode(), to.encode())
                c.send(put_request(c, f"{key}{n:05d}", value))
    return {"copied": end - first, "writes_per_s": round(2 * (end - first) / in_threads(work))}


def change(number: int, objects: int):
    """The number'th change: (of a claim?, which, is it ready then). The Sandbox first, then its claim, as the controller does."""
    pair = number // 2
    return number % 2 == 1, pair * STRIDE % objects, pair // objects % 2 == 1


def api_request(c: Connection, of_claim: bool, n: int, ready: bool) -> bytes:
    body = json.dumps({"status": {"conditions": status_of(of_claim, n, ready)["conditions"]}}).encode()
    path = f"{CLAIMS}/claim-{n:05d}/status" if of_claim else f"{SANDBOXES}/pool-{n:05d}/status"
    return c.head("PATCH", path, len(body), MERGE) + body


def store_request(c: Connection, of_claim: bool, n: int, ready: bool) -> bytes:
    key = f"{KEYS[of_claim]}{n:05d}"
    stored = json.loads(stored_at(c, key))
    stored["status"]["conditions"] = status_of(of_claim, n, ready)["conditions"]
    return put_request(c, key, json.dumps(stored, separators=(",", ":")).encode() + b"\n")


def storm(way: str, first: int, count: int, objects: int, rate: int) -> dict:
    make, url = (api_request, os.environ["CLUSTER_API"]) if way == "api" else (store_request, os.environ["CLUSTER_ETCD"])
    ways = [Connection(url) for _ in range(WORKERS)]
    requests = [[] for _ in range(WORKERS)]

    def prepare(worker):
        for number in range(first + worker, first + count, WORKERS):
            requests[worker].append(make(ways[worker], *change(number, objects)))
    in_threads(prepare)
    print("ready", flush=True)
    sys.stdin.readline()
    began, late = time.monotonic(), time.monotonic() + count / rate * 2
    done = [0] * WORKERS

    def work(worker):
        for k, request in enumerate(requests[worker]):
            wait = began + (k * WORKERS + worker) / rate - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            elif time.monotonic() > late:
                return
            ways[worker].send(request)
            done[worker] += 1
    seconds = in_threads(work)
    return {"way": way, "events": sum(done), "seconds": round(seconds, 2), "events_per_s": round(sum(done) / seconds)}


def count_ready(c: Connection) -> int:
    ready, more = 0, ""
    while True:
        page = c.ask("GET", f"{SANDBOXES}?limit=500&continue={more}", {})
        ready += sum(any(x["type"] == "Ready" and x["status"] == "True" for x in item["status"]["conditions"]) for item in page["items"])
        more = page["metadata"].get("continue")
        if not more:
            return ready


def ready_count() -> dict:
    """The server answers when it has seen what is in the store; until then it says that it is behind."""
    c, end = Connection(os.environ["CLUSTER_API"]), time.monotonic() + 120
    while True:
        try:
            return {"ready": count_ready(c)}
        except Refused:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def main() -> None:
    verb, *args = sys.argv[1:]
    if verb == "storm":
        print(json.dumps(storm(args[0], *map(int, args[1:]))))
    else:
        print(json.dumps({"create": create, "copy": copy, "ready": ready_count}[verb](*map(int, args))))


if __name__ == "__main__":
    main()
