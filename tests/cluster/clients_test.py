# SPDX-License-Identifier: Apache-2.0
"""The official clients in their default mode, a port-forward, against the real API server, kubelet and controller."""
import json

from cluster_case import ClusterCase
from harness import bed_path, main
from harness.official import OfficialClients
from router_test import POD, SERVICE


class Clients(OfficialClients, ClusterCase):
    pool = "ready"

    def setUp(self):
        super().setUp()
        self.pools()
        self.kubeconfig = self.cluster.kubeconfig

    def object(self, kind, name):
        text = self.kubectl("-n", self.ns, "get", kind, name, "-o", "json", "--ignore-not-found")
        return json.loads(text) if text.strip() else None

    def router(self):
        self.need(bed_path("sandbox-router"), "sandbox-router is not built: tests/bed/build.sh node")
        self.kubectl("apply", "-f", "-", stdin=POD.replace("NAME", "router").replace("NS", self.ns) + "---" + SERVICE.replace("NS", self.ns))
        self.kubectl("-n", self.ns, "wait", "--for=condition=Ready", "pod/router", "--timeout=60s")


if __name__ == "__main__":
    main()
