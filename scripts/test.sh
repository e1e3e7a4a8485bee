#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up and runs the tests. Installs Debian packages where they are missing and builds the real components of the test
# bed into a cache outside this folder.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib/common.sh"
cd "$here/.."

ALL=(lint unit fuzz tui local jail real cluster bench)
NAMED=(scale) # only when they are named

usage() {
    cat <<EOF
usage: scripts/test.sh [TIER…]
  tiers: ${ALL[*]}; all of these without arguments
  only when named: ${NAMED[*]}, 20,000 claims on a real API server beside k9s, and a GiB through port-forwards beside kubectl

Installs what is missing (scripts/setup.sh --test --check lists it), builds, and runs the tests. The tier cluster is a
whole Kubernetes on this machine; without root the cases that need a node are skipped.
  CI=true                  a tier that cannot run is a failure, both compilers build with -Werror, and the fuzz targets fuzz
  SANDMUX_FUZZ_SECONDS=30  for how long each of these does
  JOBS=2                   how many programs run at once; of the tier unit twice as many
EOF
}

# All words are looked at before anything is installed or built.
for tier in "$@"; do
    case $tier in
    -h | --help) usage; exit 0 ;;
    esac
    if [[ " ${ALL[*]} ${NAMED[*]} " != *" $tier "* ]]; then
        usage >&2
        die "there is no tier '$tier'"
    fi
done
tiers=("$@")
if ((${#tiers[@]} == 0)); then tiers=("${ALL[@]}"); fi
wants() { [[ " ${tiers[*]} " == *" $1 "* ]]; }

if wants cluster || wants scale; then "$here/setup.sh" --cluster; else "$here/setup.sh" --test; fi
"$here/build.sh" debug -DSANDMUX_WERROR=ON
if [ "${CI:-}" = true ]; then
    # the other compiler, with its own warnings; also what the fuzz targets need
    "$here/build.sh" fuzz -DSANDMUX_WERROR=ON
fi
if wants bench || wants tui || wants scale; then "$here/build.sh" release -DSANDMUX_TESTS=ON; fi
if wants real || wants local || wants tui; then tests/bed/build.sh; fi
if wants cluster; then tests/bed/build.sh default control-plane node; fi
if wants scale; then tests/bed/build.sh control-plane bench; fi

summary=()
failed=0
passed_all=0
failed_all=0

# The cluster is brought up once for all programs of the tier; one that runs already is used and left running.
bed_cluster=tests/bed/cluster/cluster.py
cluster_up() {
    local node=()
    if "$bed_cluster" status >/dev/null 2>&1; then return; fi
    trap '"$bed_cluster" down --wipe || true' EXIT
    if "$bed_cluster" can-node; then node=(--node); fi
    "$bed_cluster" up --no-build "${node[@]}" || say "the cluster did not come up; each program tries by itself"
}

# run_tier NAME BUILD-FOLDER: one ctest label; counts programs and the cases they report.
run_tier() {
    local tier=$1 folder=$2 log status=0
    log=build/test-$tier.log
    local jobs=${JOBS:-2}
    if [ "$tier" = unit ]; then jobs=$((jobs * 2)); fi # they wait more than they compute
    say "tier $tier"
    ctest --test-dir "$folder" -L "^$tier\$" --output-on-failure --no-tests=error -j "$jobs" \
        >"$log" 2>&1 || status=$?
    local programs cases
    programs=$(sed -n 's/^.* tests failed out of \([0-9]*\)$/\1/p' "$log")
    cases=$(python3 tests/count.py "$folder" "$log")
    if ((status)); then
        failed=1
        tail -n 120 "$log" >&2
        summary+=("$(printf '%-6s %4s programs %6s cases  FAILED' "$tier" "$programs" "$cases")")
        failed_all=$((failed_all + 1))
    else
        summary+=("$(printf '%-6s %4s programs %6s cases  passed' "$tier" "$programs" "$cases")")
        passed_all=$((passed_all + cases))
    fi
}

for tier in "${tiers[@]}"; do
    case $tier in
    lint | unit | tui | local | jail | real) run_tier "$tier" build/debug ;;
    cluster)
        cluster_up
        run_tier cluster build/debug
        ;;
    bench | scale) run_tier "$tier" build/release ;;
    fuzz)
        if [ "${CI:-}" = true ]; then run_tier fuzz build/fuzz; else run_tier fuzz build/debug; fi
        ;;
    esac
done

printf '\n'
printf '%s\n' "${summary[@]}"
printf '\n%d passed, %d failed\n' "$passed_all" "$failed_all"
exit "$failed"
