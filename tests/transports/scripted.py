# SPDX-License-Identifier: Apache-2.0
"""A scripted legacy Python runtime (port 8888 of a sandbox), alone or behind a scripted sandbox-router that checks every
header. Both answer as the upstream ones do; what was asked is kept."""
import http.server
import json
import os
import re
import shlex
import subprocess
import threading
from pathlib import Path
from urllib.parse import unquote


def own_address() -> str:
    """Loopback, and of this program alone: the ports of a runtime and of a Gateway are given."""
    pid = os.getpid()
    return f"127.6.{pid >> 8 & 255}.{(pid & 127) + 1}"


class Request:
    def __init__(self, method, path, headers, body):
        self.method, self.path, self.headers, self.body = method, path, headers, body

    def __repr__(self):
        return f"{self.method} {self.path}"


class Legacy:
    """router: the X-Sandbox-* headers that must come, exactly; None: none may come."""

    def __init__(self, root: Path, router: dict = None, address=("127.0.0.1", 0)):
        self.root, self.router = root, router
        self.requests, self.wrong = [], []
        self.token = None   # the router's own, which must come
        self.refuse = None  # (status, body) of every answer
        self.env = None     # answers as sandboxd's REST side, with this environment
        handler = type("Handler", (_Handler,), {"app": self})
        self.server = http.server.ThreadingHTTPServer(address, handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def asked(self, method, start):
        return [r for r in self.requests if r.method == method and r.path.startswith(start)]


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    app: Legacy

    def log_message(self, *_):
        pass

    def body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def reply(self, status, body, kind="application/json", **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def check_headers(self):
        got = {k.lower(): v for k, v in self.headers.items() if k.lower().startswith("x-")}
        request_id = got.pop("x-request-id", None)
        timeout = got.pop("x-sandbox-timeout", None) if self.app.router else None
        if timeout is not None and not (re.fullmatch(r"\d+\.\d{3}", timeout) and 0 < float(timeout) <= 180):
            self.app.wrong.append(f"{self.command} {self.path}: timeout {timeout}")
        want = {k.lower(): v for k, v in (self.app.router or {}).items()}
        if got != want:
            self.app.wrong.append(f"{self.command} {self.path}: {got} instead of {want}")
        if self.app.router and not re.fullmatch("[0-9a-f]{16}", request_id or ""):
            self.app.wrong.append(f"{self.command} {self.path}: request id {request_id}")
        if self.app.router is None and request_id:
            self.app.wrong.append("a request id without a router")
        if self.headers["Authorization"] != (self.app.token and f"Bearer {self.app.token}"):
            self.app.wrong.append(f"{self.command} {self.path}: Authorization: {self.headers['Authorization']}")

    def handle_one(self):
        body = self.body()
        self.app.requests.append(Request(self.command, self.path, self.headers, body))
        self.check_headers()
        if self.app.refuse:
            self.reply(*self.app.refuse)
        elif self.app.env is not None:
            self.sandboxd()
        else:
            self.legacy(body)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = handle_one

    def sandboxd(self):
        if self.path == "/v1/health":
            self.reply(200, {"status": "ok", "uptime_seconds": 1})
        elif self.path == "/v1/metadata":
            self.reply(200, {"env": self.app.env})
        elif self.path == "/v1/files/":
            self.reply(200, {"path": "/", "entries": []})
        else:
            self.reply(404, {"code": "NOT_FOUND", "message": "path does not exist within the sandbox"})

    def legacy(self, body):
        if (self.command, self.path) == ("GET", "/"):
            self.reply(200, {"status": "ok", "message": "Sandbox Runtime is active."})
        elif (self.command, self.path) == ("POST", "/execute"):
            self.execute(json.loads(body))
        elif (self.command, self.path) == ("POST", "/upload"):
            self.upload(body)
        elif m := re.fullmatch(r"/(download|list|exists)/([A-Za-z0-9\-._~%]+)", self.path):
            if self.command != "GET":
                self.reply(405, {"detail": "Method Not Allowed"})
                return
            self.file(m[1], unquote(unquote(m[2])))
        else:
            self.reply(404, {"detail": "Not Found"})

    def execute(self, request):
        if set(request) != {"command"}:
            self.reply(422, {"detail": [{"msg": "Field required"}]})
            return
        try:
            p = subprocess.run(shlex.split(request["command"]), cwd=self.app.root, stdin=subprocess.DEVNULL, capture_output=True)
            answer = 200, {"stdout": p.stdout.decode(), "stderr": p.stderr.decode(), "exit_code": p.returncode}
        except OSError as e:
            answer = 200, {"stdout": "", "stderr": f"Failed to execute command: {e}", "exit_code": 1}
        except UnicodeDecodeError as e:
            answer = 500, {"message": str(e)}
        try:
            self.reply(*answer)
        except BrokenPipeError:
            self.close_connection = True  # nobody waits for the answer any more

    def inside(self, path):
        full = os.path.realpath(os.path.join(self.app.root, path.lstrip("/")))
        if full != str(self.app.root) and not full.startswith(f"{self.app.root}/"):
            self.reply(403, {"message": "Access denied"})
            return None
        return Path(full)

    def upload(self, body):
        boundary = re.fullmatch(r"multipart/form-data; boundary=(\S+)", self.headers["Content-Type"])[1].encode()
        m = re.fullmatch(rb"--" + boundary + rb"\r\n(.*?)\r\n\r\n(.*)\r\n--" + boundary + rb"--\r\n", body, re.DOTALL)
        part = dict(line.split(": ", 1) for line in m[1].decode().split("\r\n"))
        name = re.fullmatch(r'form-data; name="file"; filename="((?:[^"\\]|\\.)*)"', part["Content-Disposition"])[1]
        path = self.inside(re.sub(r"\\(.)", r"\1", name))
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(m[2])
        self.reply(200, {"message": f"File '{name}' uploaded successfully."})

    def file(self, what, name):
        path = self.inside(name)
        if path is None:
            return
        if what == "exists":
            self.reply(200, {"path": name, "exists": path.exists()})
        elif what == "list" and not path.is_dir():
            self.reply(404, {"message": "Path is not a directory"})
        elif what == "list":
            self.reply(200, [{"name": e.name, "size": e.stat().st_size, "type": "directory" if e.is_dir() else "file",
                              "mod_time": e.stat().st_mtime} for e in os.scandir(path)])
        elif not path.is_file():
            self.reply(404, {"message": "File not found"})
        else:
            self.reply(200, path.read_bytes(), "application/json" if name.endswith(".json") else "application/octet-stream",
                       Last_Modified=self.date_time_string(path.stat().st_mtime), Accept_Ranges="bytes")
