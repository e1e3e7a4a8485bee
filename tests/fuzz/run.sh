#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh PROGRAM CORPUS: fuzz for SANDMUX_FUZZ_SECONDS (30), new inputs kept out of the repo. On CI the seed is
# fixed, so that a finding can be repeated; SANDMUX_FUZZ_SEED=0 draws one, as by hand.
set -euo pipefail
program=$1 corpus=$2
seconds=${SANDMUX_FUZZ_SECONDS:-30}
seed=${SANDMUX_FUZZ_SEED:-$([ "${CI:-}" = true ] && echo 1 || echo 0)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" -seed="$seed" -max_total_time="$seconds" -timeout=30 -rss_limit_mb=2048 -print_final_stats=1 \
	-artifact_prefix="${SANDMUX_FUZZ_ARTIFACTS:-./}" "$work" "$corpus"
