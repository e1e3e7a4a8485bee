#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian or Ubuntu packages that building, running and testing
# sandmux needs. Installs only what is missing; does nothing when all is there.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

usage() {
    cat <<'EOF'
usage: scripts/setup.sh [--run|--test|--cluster|--record] [--check]
  --run      what building and running sandmux needs
  --test     that, and what the tests and checks need (default)
  --cluster  that, and what the tests with a whole Kubernetes node need
  --record   that of --test, and the programs whose output tests/terminals/record.py records
  --check    install nothing; print what is missing and exit 1 if anything is
EOF
}

RUN_PACKAGES=(
    gcc libc6-dev cmake ninja-build pkg-config
    libevent-dev libcurl4-openssl-dev libssl-dev libnghttp2-dev libwslay-dev
    libprotobuf-c-dev protobuf-c-compiler protobuf-compiler
    libcjson-dev libyaml-dev libjq-dev libsqlite3-dev libseccomp-dev uthash-dev zlib1g-dev
    libvterm-dev libncurses-dev ncurses-term libtermkey-dev libutf8proc-dev
    bubblewrap ca-certificates
    vim less procps # local sandboxes offer the programs of this machine: a shell without these is no fun
)
# libvterm0 comes with libvterm-dev; the test harness loads it by itself.
TEST_PACKAGES=(
    clang clang-format clang-tidy llvm libcmocka-dev valgrind
    python3 python3-venv tmux curl git openssl
)
CLUSTER_PACKAGES=(runc containerd containernetworking-plugins busybox-static iproute2)
RECORD_PACKAGES=(nano mc htop screen dialog tig fzf zsh fish w3m ncdu neovim man-db make)

level=test check=0
for arg in "$@"; do
    case $arg in
    --run | --test | --cluster | --record) level=${arg#--} ;;
    --check) check=1 ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
    esac
done

command -v dpkg-query >/dev/null || die "only Debian and Ubuntu are supported; see the package list in scripts/setup.sh"

# missing PACKAGE...: prints those that are not installed
missing() {
    local have p
    have=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p') || true
    for p in "$@"; do
        grep -qxF "$p" <<<"$have" || echo "$p"
    done
}

# clang_runtime: the package with clang's sanitizer and fuzzer libraries; its
# name has the version, and older releases ship it in another package.
clang_runtime() {
    local v
    v=$(dpkg-query -W -f='${Depends}' clang | sed -n 's/.*clang-\([0-9]*\).*/\1/p')
    if [ -n "$(missing "libclang-rt-$v-dev")" ] && ! apt-cache show "libclang-rt-$v-dev" >/dev/null 2>&1; then
        echo "libclang-common-$v-dev"
    else
        echo "libclang-rt-$v-dev"
    fi
}

# client_python: a Python for the official Python client, which needs 3.11, where
# the system's own is older
client_python() {
    if ! /usr/bin/python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        echo python3.11 python3.11-venv
    fi
}

install() {
    local list=("$@") rcd=/usr/sbin/policy-rc.d
    if ((check)); then
        say "missing: ${list[*]}"
        exit 1
    fi
    say "installing ${list[*]}"
    if ((!updated)); then
        as_root apt-get update -qq
        updated=1
    fi
    # No package may start a service of its own.
    if [ ! -e $rcd ]; then
        trap 'as_root rm -f /usr/sbin/policy-rc.d' EXIT
        printf '#!/bin/sh\nexit 101\n' | as_root tee $rcd >/dev/null
        as_root chmod 755 $rcd
    fi
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        -o DPkg::Lock::Timeout=300 "${list[@]}" >/dev/null || die "apt-get install failed"
    if [ -n "$(trap -p EXIT)" ]; then
        as_root rm -f $rcd
        trap - EXIT
    fi
}

updated=0
want=("${RUN_PACKAGES[@]}")
if [ $level != run ]; then want+=("${TEST_PACKAGES[@]}"); fi
if [ $level = record ]; then want+=("${RECORD_PACKAGES[@]}"); fi
if [ $level = cluster ]; then want+=("${CLUSTER_PACKAGES[@]}"); fi

mapfile -t need < <(missing "${want[@]}")
if ((${#need[@]})); then install "${need[@]}"; fi
if [ $level != run ]; then
    # shellcheck disable=SC2046
    mapfile -t need < <(missing $(clang_runtime) $(client_python))
    if ((${#need[@]})); then install "${need[@]}"; fi
fi
say "all packages are there ($level)"
