# SPDX-License-Identifier: Apache-2.0
"""The official clients in their default mode, a port-forward, against the local backend. The Python client knows no token of a
daemon (release 1.0.8), so the daemons are started without one. The Go client (0.5.6) knows only the legacy runtime behind a
sandbox-router: what it does to claims and sandboxes works when an EndpointSlice names a pod for that router."""
from harness.case import Case, main
from harness.official import OfficialClients

from backend import AGENTS, EXT, Backend, wait_for

KINDS = {"sandboxclaims": EXT, "sandboxes": AGENTS}


class Clients(OfficialClients, Case):
    ns, pool = "default", "local"

    def setUp(self):
        self.backend = Backend(self.tmp / "state", daemon_auth="off", warm=2)
        self.addCleanup(self.backend.stop)
        self.kubeconfig = self.backend.kubeconfig

    def sm(self, *args, **kw):
        return self.sandmux("--kubeconfig", self.kubeconfig, "-n", self.ns, *args, **kw)

    def object(self, kind, name):
        return self.backend.object(f"{KINDS[kind]}/namespaces/{self.ns}/{kind}/{name}")

    def router(self):
        pod = wait_for("a pod", lambda: [p for p in self.backend.get("/api/v1/pods").json["items"] if p["status"].get("phase") == "Running"])[0]
        r = self.backend.create("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
            "metadata": {"name": "sandbox-router-svc-1", "labels": {"kubernetes.io/service-name": "sandbox-router-svc"}},
            "addressType": "IPv4", "ports": [{"port": 8080}],
            "endpoints": [{"addresses": [pod["status"]["podIP"]], "conditions": {"ready": True},
                           "targetRef": {"kind": "Pod", "name": pod["metadata"]["name"], "namespace": "default"}}]})
        self.assertEqual(r.code, 201, r.body)


main()
