#!/usr/bin/env bash
# Builds all generated files of the page, each of which goes into the next: the bundle of its script and style, the
# WebAssembly, and docs/lab.html. Needs Node 20 or later, and zopfli.
#
#     scripts/page/build.sh
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"
for tool in node npm zopfli; do
    command -v "$tool" > /dev/null || { echo "$tool is missing; on Debian: apt install nodejs npm zopfli" >&2; exit 1; }
done

(cd crates/page/script && npm ci --no-audit --no-fund && npm run build)
scripts/page/build_lab.sh
cargo run --quiet --release --package headlight --no-default-features -- lab --html docs/lab.html --force
