#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh PRESET [CMAKE-OPTION…]: configures once and builds build/PRESET.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

presets=$(sed -n '/"buildPresets"/,$ s/.*"name": "\([^"]*\)".*/\1/p' CMakePresets.json | tr '\n' ' ')
usage() { printf 'usage: scripts/build.sh PRESET [CMAKE-OPTION…]\n  presets: %s\n' "$presets"; }

case ${1:-} in
-h | --help) usage; exit 0 ;;
esac
if [[ $# -eq 0 || " $presets" != *" $1 "* ]]; then
    usage >&2
    if (($#)); then say "error: there is no preset '$1'"; fi
    exit 2
fi
preset=$1
shift
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache); fi
log=build/$preset.log
mkdir -p build
say "building $preset (log: $log)"
if ! { cmake --preset "$preset" "${launcher[@]}" "$@" && cmake --build --preset "$preset" -- -k 0; } >"$log" 2>&1; then
    grep -A 8 -E "error:|^FAILED" "$log" | head -n 60 >&2 || tail -n 60 "$log" >&2
    die "the $preset build failed"
fi
