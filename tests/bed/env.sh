#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where the real components are. Without arguments it prints shell lines for those
# that are built: eval "$(tests/bed/env.sh)". With names it prints their paths and
# fails if one is not built.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if (($#)); then
    for name in "$@"; do
        component_path "$name" || die "$name is not built: tests/bed/build.sh $name"
        echo "$REPLY"
    done
    exit
fi
for name in $(printf '%s\n' "${!GROUP[@]}" | sort); do
    if component_path "$name"; then
        variable=${name^^}
        printf 'export SANDMUX_BED_%s=%q\n' "${variable//-/_}" "$REPLY"
    fi
done
