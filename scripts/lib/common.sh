# SPDX-License-Identifier: Apache-2.0
# Small helpers that every script here sources.

# shellcheck disable=SC2034
REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
die() { say "error: $*"; exit 1; }

# as_root COMMAND...: runs it as root, through sudo when we are not
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo -- "$@"
    else
        die "this needs root and there is no sudo; run as root: $*"
    fi
}
