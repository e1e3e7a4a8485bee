#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds, and opens the dashboard on local sandboxes. Without a terminal it takes a
# headless tour instead and exits 0, or tells why not.
# Installs Debian packages where they are missing (scripts/setup.sh --run lists them); the
# program itself stays in build/release, its state in ~/.local/state/sandmux.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
case ${1:-} in
-h | --help)
    cat <<'EOF'
usage: scripts/run.sh [OPTION…]
Installs what is missing, builds, and opens the dashboard on local sandboxes; the options are those of sandmux.
EOF
    exit 0
    ;;
esac
"$here/setup.sh" --run
"$here/build.sh" release -DSANDMUX_TESTS=OFF
cd "$here/.."

sandmux=build/release/bin/sandmux
if [ -t 0 ] && [ -t 1 ]; then
    exec "$sandmux" --local "$@"
fi
exec "$here/tour.sh" "$sandmux"
