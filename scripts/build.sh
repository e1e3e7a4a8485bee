#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh PRESET [CMAKE-OPTION…]: configures once and builds build/PRESET.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
cd "$(dirname "${BASH_SOURCE[0]}")/.."

preset=${1:?usage: scripts/build.sh PRESET [CMAKE-OPTION…]}
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
