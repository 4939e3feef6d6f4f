#!/usr/bin/env bash
# Builds crates/lab as WebAssembly with SIMD: crates/lab/lab.wasm.lzma for pages of runs of tokens, and lab_words.wasm.lzma
# for those of texts. With --check, it compares instead: the committed files must hold the same modules.
#
#     scripts/page/build_lab.sh [--check]
#
# The module has the same bytes wherever it is built: it holds no path, and the toolchain is pinned.
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"
root=$PWD
registry=${CARGO_HOME:-$HOME/.cargo}/registry/src
rustup target add wasm32-unknown-unknown

# Small, except for what training spends its time in.
settings=(
    'profile.release.opt-level="z"'
    'profile.release.lto="fat"'
    'profile.release.panic="abort"'
    'profile.release.strip="symbols"'
    'profile.release.package.headlight-architecture.opt-level="z"'
    'profile.release.package.headlight-fused.opt-level=3'
    'profile.release.package.headlight-fused.codegen-units=1'
)
# Loops that are unrolled for counts unknown to the compiler make it larger and no faster.
flags="-Ctarget-feature=+simd128 -Cllvm-args=-unroll-runtime=false --remap-path-prefix=$root=headlight"
for folder in "$registry"/*; do flags+=" --remap-path-prefix=$folder=registry"; done

# The settings that crates/inspector/page/src/engine/lzma.js reads.
packing=(--format=lzma --lzma1=preset=9e,lc=3,lp=0,pb=0)

# module NAME OPTION...
module() {
    local committed=crates/lab/$1.wasm.lzma built=target/lab/wasm32-unknown-unknown/release/headlight_lab.wasm
    RUSTFLAGS=$flags cargo build --quiet --release --locked -p headlight-lab --target wasm32-unknown-unknown \
        --target-dir target/lab "${settings[@]/#/--config=}" "${@:2}"
    if [ "$mode" != --check ]; then
        xz "${packing[@]}" --stdout "$built" > "$committed"
    elif ! xz --format=lzma --decompress --stdout < "$committed" | cmp "$built" -; then
        echo "$committed is not what crates/lab builds to; run scripts/page/build_lab.sh and commit the file" >&2
        exit 1
    fi
    echo "$1: $(wc -c < "$built") bytes, $(wc -c < "$committed") compressed"
}
mode=${1-}
# experiment takes a quarter of the time of a small training. Pages of texts have no room for its speed, and larger models.
experiment='--config=profile.release.package.headlight-experiment.opt-level='
module lab --no-default-features --features numbers "$experiment\"s\""
module lab_words --no-default-features --features words "$experiment\"z\""
