# SPDX-License-Identifier: Apache-2.0
"""A scripted Kubernetes API server: many claims and Sandboxes, pages, watches, and events on demand. It speaks
just enough to feed a reflector, and is told what to say; for scale and for faults, not for semantics."""
import http.server
import json
import queue
import threading
import time
import urllib.parse

from .procs import free_port

CLAIMS = "/apis/extensions.agents.x-k8s.io/v1beta1"
PIECE_BYTES = 64 << 10
SANDBOXES = "/apis/agents.x-k8s.io/v1beta1"


def uid(kind: int, n: int) -> str:
    return f"{kind:08x}-0000-4000-8000-{n:012x}"


def conditions(ready: bool, generation: int = 1) -> list:
    return [{"type": "Ready", "status": "True" if ready else "False",
             "reason": "DependenciesReady" if ready else "DependenciesNotReady",
             "message": "Pod is Ready" if ready else "Pod is Running but not Ready",
             "lastTransitionTime": "2026-01-02T03:04:05Z", "observedGeneration": generation},
            {"type": "Suspended", "status": "False", "reason": "NotSuspended", "message": "",
             "lastTransitionTime": "2026-01-02T03:04:05Z", "observedGeneration": generation}]


def metadata(kind: int, n: int, name: str, rv: int, **more) -> dict:
    return {"name": name, "namespace": "default", "uid": uid(kind, n), "resourceVersion": str(rv), "generation": 1,
            "creationTimestamp": "2026-01-02T03:04:05Z",
            "managedFields": [{"manager": "controller", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
                               "fieldsV1": {"f:metadata": {"f:annotations": {".": {}}}, "f:spec": {"f:x" * 40: {}}}}], **more}


def claim(n: int, rv: int, ready: bool = True, **more) -> dict:
    return {"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxClaim",
            "metadata": metadata(1, n, f"claim-{n:05d}", rv, labels={"agents.x-k8s.io/created-by": "bench"}, **more),
            "spec": {"warmPoolRef": {"name": "pool"}},
            "status": {"sandbox": {"name": f"pool-{n:05d}", "podIPs": ["10.0.0.1"]}, "conditions": conditions(ready)}}


def sandbox(n: int, rv: int, ready: bool = True, **more) -> dict:
    return {"apiVersion": "agents.x-k8s.io/v1beta1", "kind": "Sandbox",
            "metadata": metadata(2, n, f"pool-{n:05d}", rv, labels={"agents.x-k8s.io/claim-uid": uid(1, n)},
                                 ownerReferences=[{"apiVersion": "extensions.agents.x-k8s.io/v1beta1", "kind": "SandboxClaim",
                                                   "name": f"claim-{n:05d}", "uid": uid(1, n), "controller": True}], **more),
            "spec": {"operatingMode": "Running", "podTemplate": {"spec": {"containers": [{"name": "c", "image": "x"}]}}},
            "status": {"podIPs": ["10.0.0.1"], "nodeName": "node-1", "conditions": conditions(ready)}}


def pod_metrics(name: str, usage: dict) -> dict:
    """Without a time: as of now."""
    return {"metadata": {"name": name, "namespace": "default", "labels": {"agents.x-k8s.io/sandbox-name-hash": "0a1b2c3d"}},
            "window": "15.2s", "containers": [{"name": "c", "usage": usage}]}


class ScriptedApi:
    """With count claims and Sandboxes, called claim-00000… and pool-00000… Without streams it is a server that does
    not offer streaming lists."""

    def __init__(self, count: int = 0, streams: bool = True):
        self.streams = streams
        self.rv = 1000
        self.lock = threading.Lock()
        self.objects = {"sandboxclaims": [claim(n, 1) for n in range(count)], "sandboxes": [sandbox(n, 1) for n in range(count)]}
        self.watchers = {}
        self.requests = []
        self.pages = {}
        self.forbidden = set()  # (verb, resource): 403 as RBAC says it, and "no" in access reviews
        self.delay = 0.0  # seconds before each answer; what a watch sends is not held up
        self.frozen = threading.Event()  # set: nothing is answered, nothing is sent, nothing is closed
        self.gone = False  # stopped: connections that are open are closed without an answer
        self.failing = 0  # a status that every GET is answered with; 0: none
        self.retry_after = None  # seconds, said with it
        self.failing_for = set()  # resources of which every GET is answered with 503
        self.forbidden_in = {}  # the same by namespace, "" for all of them, in reviews alone
        self.creates = False  # claims are taken, and given back; nobody makes them ready
        self.created = {}
        self.hangs_on_delete = False
        # metrics.k8s.io: None as of a cluster without it; a function from the name of a pod (a Sandbox's) and the number of the
        # question to its usage; or what is wrong: "hang", "garbage", "huge", "broken"
        self.metrics = None
        self.asked_metrics = 0
        self.measured = {}
        handler = type("Handler", (_Handler,), {"api": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", free_port()), handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # programs that are killed cut their connections
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def forbid(self, resource: str, *verbs: str):
        """Takes rights away, those to read unless told which; watches under way end."""
        with self.lock:
            self.forbidden |= {(v, resource) for v in verbs or ("get", "list", "watch")}
            for q in self.watchers.get(resource, []) if ("watch", resource) in self.forbidden else []:
                q.put(None)

    def selected(self, resource: str, selector: str) -> list:
        """The objects that a field selector leaves: of one field, equal."""
        path, _, value = selector.partition("=")

        def field(obj):
            for name in path.split("."):
                obj = obj.get(name, {})
            return obj
        return [o for o in self.objects.get(resource, []) if not selector or field(o) == value]

    def initial(self, resource: str, selector: str = "") -> bytes:
        """The beginning of a streaming list: all objects, and the bookmark that ends them. Made once."""
        key = (resource, selector) if selector else resource
        if key not in self.pages:
            events = [{"type": "ADDED", "object": o} for o in self.selected(resource, selector)]
            events.append({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "1000", "annotations": {"k8s.io/initial-events-end": "true"}}}})
            self.pages[key] = b"".join(json.dumps(e, separators=(",", ":")).encode() + b"\n" for e in events)
        return self.pages[key]

    def start_again(self):
        """At the same address, after stop()."""
        handler = type("Handler", (_Handler,), {"api": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.server.server_address[1]), handler)
        self.server.daemon_threads = True
        self.gone = False
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def hold(self):
        """What a handler does before it says anything."""
        time.sleep(self.delay)
        while self.frozen.is_set():
            time.sleep(0.02)

    def stop(self):
        self.gone = True
        self.frozen.clear()
        for watchers in self.watchers.values():
            for q in watchers:
                q.put(None)
        self.server.shutdown()
        self.server.server_close()

    def kubeconfig(self, path) -> str:
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "bench",
                                    "clusters": [{"name": "bench", "cluster": {"server": self.url}}],
                                    "users": [{"name": "bench", "user": {}}],
                                    "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench"}}]}))
        return str(path)

    def emit(self, resource: str, kind: str, obj: dict):
        """Sends one watch event to everybody who watches that resource."""
        with self.lock:
            self.rv += 1
            obj["metadata"]["resourceVersion"] = str(self.rv)
            line = json.dumps({"type": kind, "object": obj}).encode() + b"\n"
            for q in self.watchers.get(resource, []):
                q.put(line)

    def measurements(self) -> bytes:
        """The usage of every pod, in turns of a few: made once each, since many are slow to make."""
        turn = self.asked_metrics % 4
        if turn not in self.measured:
            items = [pod_metrics(o["metadata"]["name"], self.metrics(o["metadata"]["name"], turn)) for o in self.objects["sandboxes"]]
            self.measured[turn] = json.dumps({"kind": "PodMetricsList", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": {},
                                              "items": items}, separators=(",", ":")).encode()
        return self.measured[turn]

    def storm(self, per_second: int, seconds: float):
        """Status changes at a rate, over all Sandboxes in turn."""
        count, sent, start = len(self.objects["sandboxes"]), 0, time.monotonic()
        while time.monotonic() - start < seconds:
            due = int((time.monotonic() - start) * per_second)
            while sent < due:
                self.emit("sandboxes", "MODIFIED", sandbox(sent % count, 0, ready=sent // count % 2 == 1))
                sent += 1
            time.sleep(0.005)
        return sent


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    api: ScriptedApi

    def log_message(self, *_):
        pass

    def reply(self, status: int, body: bytes, kind: str = "application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if status == self.api.failing and self.api.retry_after:
            self.send_header("Retry-After", str(self.api.retry_after))
        self.end_headers()
        self.wfile.write(body)

    def is_refused(self, verb: str, resource: str, path: str) -> bool:
        if (verb, resource) not in self.api.forbidden:
            return False
        group = path.split("/")[2] if path.startswith("/apis/") else ""
        where = f' in the namespace "{path.split("/namespaces/")[1].split("/")[0]}"' if "/namespaces/" in path else " at the cluster scope"
        self.reply(403, json.dumps({
            "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403,
            "message": f'{resource} is forbidden: User "you" cannot {verb} resource "{resource}" in API group "{group}"{where}'}).encode())
        return True

    def do_GET(self):
        self.api.hold()
        if self.api.gone:
            self.close_connection = True
            return
        if self.api.failing:
            text = f'{{"kind":"Status","apiVersion":"v1","status":"Failure","message":"not now","code":{self.api.failing}}}'
            self.reply(self.api.failing, text.encode())
            return
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        resource = url.path.rstrip("/").rsplit("/", 1)[-1]
        self.api.requests.append(self.path)
        if url.path.startswith("/apis/metrics.k8s.io/"):
            self.usage(url.path)
            return
        if resource in self.api.failing_for:
            self.reply(503, b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"not now","code":503}')
            return
        collection, name = url.path.rstrip("/").rsplit("/", 2)[-2:]
        is_one = collection in self.api.objects or collection == "pods"
        is_watch = query.get("watch") in ("true", "1")
        verb = "watch" if is_watch else "get" if is_one else "list"
        if self.is_refused(verb, collection if is_one and not is_watch else resource, url.path):
            return
        if is_watch:
            self.watch(resource, query)
        elif is_one:
            self.one(collection, urllib.parse.unquote(name))
        else:
            self.list(resource, query)

    def usage(self, path: str):
        api = self.api
        name = path.rstrip("/").rsplit("/", 1)[1]
        if api.metrics is None:
            self.reply(404, b"404 page not found\n", "text/plain")
        elif ("list", "podmetrics") in api.forbidden:
            self.reply(403, b'{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,'
                            b'"message":"pods.metrics.k8s.io is forbidden: User \\"you\\" cannot list resource \\"pods\\""}')
        elif api.metrics == "hang":
            while not api.gone:
                time.sleep(0.05)
        elif api.metrics == "garbage":
            self.reply(200, b'{"items":[{"metadata":{"name":"pool-00000"},"containers":[{"usage":{"cpu"' + b"\xff" * 1000)
        elif api.metrics == "huge":
            self.reply(200, b'{"items":[{"metadata":{"name":"' + b"x" * (8 << 20) + b'"}}]}')
        elif api.metrics == "broken":
            self.reply(503, b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no endpoints for metrics-server","code":503}')
        elif name == "pods":
            api.asked_metrics += 1
            self.reply(200, api.measurements())
        else:
            api.asked_metrics += 1
            self.reply(200, json.dumps(pod_metrics(name, api.metrics(name, api.asked_metrics))).encode())

    def do_POST(self):
        """Access reviews, by what is forbidden. Nothing is ever changed here."""
        self.body = body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        self.api.requests.append(f"{self.command} {self.path}")
        if not self.path.endswith("/selfsubjectaccessreviews"):
            self.change()
        elif not self.is_refused("create", "selfsubjectaccessreviews", self.path):
            asked = body["spec"]["resourceAttributes"]
            resource = "/".join(filter(None, (asked["resource"], asked.get("subresource"))))
            refused = self.api.forbidden | self.api.forbidden_in.get(asked.get("namespace", ""), set())
            body["status"] = {"allowed": (asked["verb"], resource) not in refused}
            self.reply(201, json.dumps(body).encode())

    def do_DELETE(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.api.requests.append(f"{self.command} {self.path}")
        self.change()

    do_PATCH = do_DELETE

    def change(self):
        path = self.path.split("?")[0]
        resource = path.rstrip("/").rsplit("/", 1 if self.command == "POST" else 2)[1 if self.command == "POST" else -2]
        verb = {"POST": "create", "PATCH": "patch", "DELETE": "delete"}[self.command]
        if self.api.creates and resource == "sandboxclaims" and verb != "patch":
            self.create_or_delete(verb, path.rsplit("/", 1)[-1])
        elif not self.is_refused(verb, resource, path):
            self.reply(500, b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"this server is only read","code":500}')

    def create_or_delete(self, verb: str, name: str):
        if verb == "create":
            obj = self.body
            with self.api.lock:
                self.api.rv += 1
                n = self.api.rv
            name = obj["metadata"].get("name") or f"{obj['metadata']['generateName']}{n:05d}"
            obj["metadata"].update(name=name, namespace="default", uid=uid(3, n), resourceVersion="2000", generation=1,
                                   creationTimestamp="2026-01-02T03:04:05Z")
            self.api.created[name] = obj
            self.reply(201, json.dumps(obj).encode())
            self.api.emit("sandboxclaims", "ADDED", obj)
            return
        if self.api.hangs_on_delete:
            time.sleep(60)
        obj = self.api.created.pop(name, None)
        self.reply(200 if obj else 404, json.dumps(obj or {"kind": "Status", "reason": "NotFound", "code": 404}).encode())
        if obj:
            self.api.emit("sandboxclaims", "DELETED", obj)

    def list(self, resource: str, query: dict):
        selector = query.get("fieldSelector", "")
        objects = self.api.selected(resource, selector)
        if self.api.creates and "labelSelector" in query:  # who looks for what it made
            key, value = query["labelSelector"].split("=", 1)
            found = [o for o in list(self.api.created.values()) if o["metadata"].get("labels", {}).get(key) == value]
            self.reply(200, json.dumps({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1000"}, "items": found}).encode())
            return
        start, limit = int(query.get("continue", 0)), int(query.get("limit", 0)) or len(objects) or 1
        key = (resource, start, limit, selector)
        if key not in self.api.pages:
            meta = {"resourceVersion": "1000"}
            if start + limit < len(objects):
                meta["continue"] = str(start + limit)
            self.api.pages[key] = json.dumps({"kind": "List", "apiVersion": "v1", "metadata": meta,
                                              "items": objects[start:start + limit]}, separators=(",", ":")).encode()
        self.reply(200, self.api.pages[key])

    def one(self, resource: str, name: str):
        for obj in self.api.objects.get(resource, []):
            if obj["metadata"]["name"] == name:
                self.reply(200, json.dumps(obj).encode())
                return
        self.reply(404, json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404,
                                    "message": f'{resource} "{name}" not found'}).encode())

    def watch(self, resource: str, query: dict):
        if "sendInitialEvents" in query and not self.api.streams:
            text = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"
            self.reply(422, json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": 422,
                                        "message": f'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: {text}'}).encode())
            return
        q = queue.Queue()
        if query.get("sendInitialEvents") == "true":
            q.put(self.api.initial(resource, query.get("fieldSelector", "")))
        with self.api.lock:
            self.api.watchers.setdefault(resource, []).append(q)
            if self.api.gone:
                q.put(None)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            while True:
                try:
                    line = q.get(timeout=30)
                except queue.Empty:
                    line = json.dumps({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": str(self.api.rv)}}}).encode() + b"\n"
                if line is None:
                    break
                while self.api.frozen.is_set():
                    time.sleep(0.02)
                more = [line]
                while len(more) < 200 and not q.empty():
                    more.append(q.get())
                data = memoryview(line if len(more) == 1 else b"".join(m for m in more if m))
                for at in range(0, len(data), PIECE_BYTES):  # as a server does that has no whole list in hand
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(data[at:at + PIECE_BYTES]), data[at:at + PIECE_BYTES]))
        except OSError:
            pass
        finally:
            with self.api.lock:
                self.api.watchers[resource].remove(q)
            self.close_connection = True
