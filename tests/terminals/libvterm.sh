#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libvterm.sh SOURCE…: builds each libvterm (a release's tar ball or its folder, as `apt-get source libvterm` gets them) with the
# sanitizer, the terminal on top of it, and runs what tests the terminal: unit programs, the fuzz corpus, panes. Then all of them and the
# system's are compared: the same recordings and random streams, and the same pictures. Everything is made under build/libvterm.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib/common.sh"
cd "$REPO"

case ${1:-} in
"" | -h | --help) sed -n '3,5s/^# //p' "${BASH_SOURCE[0]}"; exit 0 ;;
esac
targets=(term_cells fuzz_term views_pane_keys_test
    term_{sequences,screen,history,input,parser,vterm_adapter,script}_test)
launcher=()
if command -v ccache >/dev/null; then launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache); fi

# library SOURCE ROOT: a static library with its pkg-config file
library() {
    local source=$1 root=$2 object
    rm -rf "$root"
    mkdir -p "$root/lib/pkgconfig" "$root/include" "$root/objects"
    cp "$source"/include/*.h "$root/include"
    for file in "$source"/src/*.c; do
        object=$root/objects/$(basename "$file" .c).o
        cc -std=c99 -g -O1 -fPIC -fsanitize=address -fno-omit-frame-pointer -w -I"$source/include" -c "$file" -o "$object"
    done
    ar rcs "$root/lib/libvterm.a" "$root"/objects/*.o
    printf 'Name: vterm\nDescription: abstract terminal library\nVersion: %s\nLibs: -L%s/lib -lvterm\nCflags: -I%s/include\n' \
        "${root##*-}" "$root" "$root" >"$root/lib/pkgconfig/vterm.pc"
}

# tested BUILD [CMAKE-OPTION…]: builds and runs
tested() {
    local build=$1
    shift
    say "building in $build"
    mkdir -p "$build"
    if ! { cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Debug -DSANDMUX_SANITIZE=ON "${launcher[@]}" "$@" &&
        cmake --build "$build" --target "${targets[@]}"; } >"$build/log" 2>&1; then
        tail -n 20 "$build/log" >&2
        die "see $build/log"
    fi
    ctest --test-dir "$build" --output-on-failure -R '^(term_.*_test|fuzz_term|views_pane_keys_test)$' | tail -n 8
}

system=build/libvterm/build-system
tested "$system"
for source in "$@"; do
    if [[ -f $source ]]; then
        mkdir -p build/libvterm/source
        tar -xf "$source" -C build/libvterm/source
        source=build/libvterm/source/$(tar -tf "$source" | sed -n '1s,/.*,,p')
    fi
    version=$(basename "$source")
    root=$REPO/build/libvterm/$version
    library "$source" "$root"
    tested "build/libvterm/build-$version" -DSANDMUX_VTERM_ROOT="$root"
    python3 tests/terminals/versions.py "$system/bin/term_cells" "build/libvterm/build-$version/bin/term_cells"
done
