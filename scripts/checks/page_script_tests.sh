#!/usr/bin/env bash
# Tests the page's own script under Node (20 or later): a Rust test writes a page and the numbers that it must show, and
# crates/inspector/page/tests/*.test.mjs compare them. Needs `npm ci` in crates/inspector/page.
#
#     scripts/checks/page_script_tests.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
PAGE_FIXTURE=$(mktemp)
export PAGE_FIXTURE
trap 'rm -f "$PAGE_FIXTURE"' EXIT

cargo test --release --quiet --workspace --test page -- --ignored --exact writes_the_fixture_of_the_script_tests
npm test --prefix crates/inspector/page
