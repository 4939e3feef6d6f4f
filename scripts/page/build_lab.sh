#!/usr/bin/env bash
# Builds crates/lab as WebAssembly with SIMD: crates/lab/lab.wasm.gz, which pages hold. With --check, it compares instead: the
# committed file must hold the same module. Needs Binaryen's optimiser, which `npm ci` in crates/page/script installs, and zopfli, whose
# gzip is 5% smaller than gzip's own, except with --check.
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
    'profile.release.package.headlight-lab.opt-level="z"'
    'profile.release.package.headlight-lab.strip="symbols"' # Cargo.toml gives it a level: then it inherits no `strip`.
    'profile.release.package.headlight-fused.opt-level=3'
    'profile.release.package.headlight-fused.codegen-units=1'
)
# Loops that are unrolled for counts unknown to the compiler make it larger and no faster.
flags="-Ctarget-feature=+simd128 -Cllvm-args=-unroll-runtime=false --remap-path-prefix=$root=headlight"
for folder in "$registry"/*; do flags+=" --remap-path-prefix=$folder=registry"; done

committed=crates/lab/lab.wasm.gz
compiled=target/lab/wasm32-unknown-unknown/release/headlight_lab.wasm
built=target/lab/lab.wasm
RUSTFLAGS=$flags cargo build --quiet --release --locked -p headlight-lab --target wasm32-unknown-unknown \
    --target-dir target/lab "${settings[@]/#/--config=}"
# Smaller by 15%, packed by 1%, and as fast. Below address 1024 is the end of the stack alone, which stands before all else.
crates/page/script/node_modules/.bin/wasm-opt -Oz --low-memory-unused --enable-simd --enable-bulk-memory --enable-nontrapping-float-to-int \
    --enable-sign-ext --enable-mutable-globals --enable-reference-types --enable-multivalue "$compiled" -o "$built"
if [ "${1-}" != --check ]; then
    zopfli --i40 -c "$built" > "$committed"
elif ! gunzip < "$committed" | cmp "$built" -; then
    echo "$committed is not what crates/lab builds to; run scripts/page/build_lab.sh and commit the file" >&2
    exit 1
fi
echo "$(wc -c < "$built") bytes, $(wc -c < "$committed") compressed"
