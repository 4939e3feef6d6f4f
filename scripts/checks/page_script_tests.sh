#!/usr/bin/env bash
# Tests the page's own script under Node (20 or later): a Rust test writes a page and the numbers that it must
# show, and crates/inspector/tests/js/*.test.mjs compare them.
#
#     scripts/checks/page_script_tests.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
PAGE_FIXTURE=$(mktemp)
export PAGE_FIXTURE
trap 'rm -f "$PAGE_FIXTURE"' EXIT

cargo test --release --quiet --workspace --test page -- --ignored --exact writes_the_fixture_of_the_script_tests
node --test crates/inspector/tests/js/*.test.mjs
