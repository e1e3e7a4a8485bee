# SPDX-License-Identifier: Apache-2.0
"""The control plane: etcd, API server, controller manager, and the Agent Sandbox
controller with its custom resources. Needs no root."""
import re
import ssl
import urllib.request
from pathlib import Path

from state import bed, say, sh, wait_for

# Ranges for pods and services; with a node they exist on its bridge only.
NODE_IP = "10.66.0.1"
POD_NET = "10.66.0.0/24"
POD_FIRST = "10.66.0.10"
SERVICE_NET = "10.67.0.0/16"
SERVICE_FIRST = "10.67.0.1"
NODE = "node1"
CRDS = ("sandboxes.agents.x-k8s.io", "sandboxclaims.extensions.agents.x-k8s.io",
        "sandboxtemplates.extensions.agents.x-k8s.io", "sandboxwarmpools.extensions.agents.x-k8s.io")
USERS = {"admin": "/O=system:masters/CN=admin", "kcm": "/CN=system:kube-controller-manager", "scheduler": "/CN=system:kube-scheduler",
         "kubelet": f"/O=system:nodes/CN=system:node:{NODE}", "agent-sandbox-controller": "/O=system:masters/CN=agent-sandbox-controller"}


def certificates(c):
    c.certificate("ca", "/CN=bed-ca")
    c.certificate("apiserver", "/CN=kube-apiserver",
                  f"IP:127.0.0.1,IP:{NODE_IP},IP:{SERVICE_FIRST},DNS:localhost,DNS:kubernetes.default.svc")
    c.certificate("apiserver-kubelet", "/O=system:masters/CN=kube-apiserver-kubelet-client")
    for name, subject in USERS.items():
        c.certificate(name, subject, f"IP:{NODE_IP},DNS:{NODE}" if name == "kubelet" else None)
        c.kubeconfig_for(c.pki / f"{name}.kubeconfig", name, certificate=name)
    c.kubeconfig_for(c.kubeconfig, "admin", certificate="admin")
    c.kubeconfig_for(c.dir / "kubeconfig.token", "token", token=c.data["token"])
    if not (c.pki / "sa.pub").exists():
        sh("openssl", "genrsa", "-out", c.pki / "sa.key", "2048")
        sh("openssl", "rsa", "-in", c.pki / "sa.key", "-pubout", "-out", c.pki / "sa.pub")
    (c.pki / "tokens.csv").write_text(f'{c.data["token"]},token,token,"system:masters"\n')
    (c.pki / "tokens.csv").chmod(0o600)


def http_ok(url, context=None):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        return opener.open(url, timeout=2).status == 200
    except OSError:
        return False


def start_api(c, extra=()):
    etcd, apiserver, kcm = bed("etcd", "kube-apiserver", "kube-controller-manager")
    p, pki = c.ports, c.pki
    client, peer = f"http://127.0.0.1:{p['etcd']}", f"http://127.0.0.1:{p['etcd_peer']}"
    c.start("etcd", etcd, "--name=bed", f"--data-dir={c.dir}/etcd", f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=bed={peer}", "--unsafe-no-fsync")
    wait_for("etcd", lambda: http_ok(client + "/health"), 30, f"; see {c.logs}/etcd.log")
    c.start("kube-apiserver", apiserver, f"--etcd-servers={client}", "--bind-address=127.0.0.1", f"--secure-port={p['api']}",
            f"--advertise-address={NODE_IP}", "--endpoint-reconciler-type=none",
            f"--tls-cert-file={pki}/apiserver.crt", f"--tls-private-key-file={pki}/apiserver.key",
            f"--client-ca-file={pki}/ca.crt", f"--token-auth-file={pki}/tokens.csv", "--authorization-mode=Node,RBAC",
            "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={pki}/sa.pub",
            f"--service-account-signing-key-file={pki}/sa.key", f"--service-cluster-ip-range={SERVICE_NET}",
            f"--kubelet-client-certificate={pki}/apiserver-kubelet.crt", f"--kubelet-client-key={pki}/apiserver-kubelet.key",
            f"--kubelet-certificate-authority={pki}/ca.crt", "--kubelet-preferred-address-types=InternalIP", "--profiling=false", *extra)
    tls = ssl.create_default_context(cafile=str(pki / "ca.crt"))
    wait_for("kube-apiserver", lambda: http_ok(c.api + "/readyz", tls), 90, f"; see {c.logs}/kube-apiserver.log")
    config = f"{pki}/kcm.kubeconfig"
    c.start("kube-controller-manager", kcm, f"--kubeconfig={config}", f"--authentication-kubeconfig={config}",
            f"--authorization-kubeconfig={config}", "--bind-address=127.0.0.1", f"--secure-port={p['kcm']}", "--leader-elect=false",
            "--use-service-account-credentials", f"--service-account-private-key-file={pki}/sa.key", f"--root-ca-file={pki}/ca.crt",
            f"--cluster-signing-cert-file={pki}/ca.crt", f"--cluster-signing-key-file={pki}/ca.key",
            "--controllers=*,-node-ipam-controller,-node-route-controller,-service-lb-controller,-cloud-node-lifecycle-controller")


def resources(folder):
    """The custom resources. Only v1beta1 is used, which is what is stored, so their conversion webhook is taken out: without
    one that runs the API server would ask it without end. Not by a patch: a change of them restarts every watch."""
    texts = (f.read_text() for f in sorted(Path(folder).glob("*.yaml")))
    return "\n---\n".join(re.sub(r"^  conversion:\n(?:   .*\n)+", "", text, flags=re.M) for text in texts)


def start_sandbox(c, extra=()):
    controller, crds = bed("agent-sandbox-controller", "crds")
    c.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=resources(crds))
    c.kubectl("wait", "--for=condition=Established", "--timeout=60s", *(f"crd/{name}" for name in CRDS))
    probe = f"127.0.0.1:{c.ports['controller_probe']}"
    c.start("agent-sandbox-controller", controller, f"--kubeconfig={c.pki}/agent-sandbox-controller.kubeconfig", "--extensions",
            "--leader-elect=false", "--enable-webhook=false", "--metrics-bind-address=0", f"--health-probe-bind-address={probe}", *extra)
    wait_for("agent-sandbox-controller", lambda: http_ok(f"http://{probe}/readyz"), 60, f"; see {c.logs}/agent-sandbox-controller.log")
    # The service account comes from the controller manager; without it no pod is accepted.
    wait_for("the default service account", lambda: c.kubectl_ok("get", "serviceaccount", "default"), 30)
    c.kubectl("apply", "-f", Path(__file__).parent / "sandbox.yaml")
    if not c.node:
        say("no node: sandboxes and claims stay pending")
