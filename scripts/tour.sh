#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tour.sh [SANDMUX]: the main job without a terminal, on the embedded backend: create a sandbox, run a
# program, use a PTY, copy a file each way and compare, delete. A backend that was not running
# before is stopped again.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

case ${1:-} in
-h | --help) echo "usage: scripts/tour.sh [SANDMUX]"; exit 0 ;;
esac
sandmux=${1:-build/release/bin/sandmux}
[ -x "$sandmux" ] || die "there is no program '$sandmux': scripts/build.sh release"
work=$(mktemp -d)
claim=tour-$$
was_up=0
created=0

leave() {
    local status=$?
    if ((created)); then "$sandmux" --local rm "$claim" --yes >/dev/null 2>&1 || true; fi
    if ((!was_up)); then "$sandmux" local down >/dev/null 2>&1 || true; fi
    rm -rf "$work"
    if ((status)); then say "the tour stopped: see the line above"; fi
}
trap leave EXIT

if "$sandmux" local status >/dev/null 2>&1; then was_up=1; fi

say "1. the embedded backend"
"$sandmux" local up

say "2. create"
"$sandmux" --local create "$claim" >/dev/null
created=1
"$sandmux" --local ls

say "3. run"
got=$("$sandmux" --local run "$claim" -- sh -c 'echo hello from $(hostname); exit 7') || status=$?
say "   said '$got' with status ${status:-0}"
[ "${status:-0}" -eq 7 ] || die "the remote status 7 came back as ${status:-0}"

say "4. a terminal"
size=$("$sandmux" --local run "$claim" -t -- stty size </dev/null | tr -d '\r')
say "   stty size: $size"
[ "$size" = "24 80" ] || die "the terminal is '$size' and not '24 80'"

say "5. copy there and back"
head -c 5000000 /dev/urandom >"$work/there"
"$sandmux" --local cp "$work/there" "$claim:tour/file.bin"
"$sandmux" --local cp "$claim:tour/file.bin" "$work/back"
cmp "$work/there" "$work/back" || die "the copy differs"
say "   5 MB, equal"

say "6. delete"
"$sandmux" --local rm "$claim" --yes
created=0
say "the tour is complete"
