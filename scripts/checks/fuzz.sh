#!/usr/bin/env bash
# Fuzzes the readers of foreign files (crates/fuzz): scripts/checks/fuzz.sh SECONDS [TARGET]...
#
# Each target runs for so many seconds, from its seeds and from what earlier runs found (target/fuzz). A
# panic, more than 256 MB of memory, or an input that takes over 10 seconds ends it with exit code 1; the
# input lies in target/fuzz/findings then. Needs a C++ compiler; SEED (default 1) repeats a run.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:?name the seconds for each target}
shift

RUSTC_WORKSPACE_WRAPPER="$PWD/scripts/checks/instrumented_rustc.sh" \
    cargo build --quiet --release -p headlight-fuzz --features libfuzzer --bin fuzz
work=target/fuzz
mkdir -p "$work/found" "$work/findings"
# The next build of the workspace may put another in its place.
cp target/release/fuzz "$work/fuzz"
targets=$(cargo run --quiet --release -p headlight-fuzz --bin fuzz_seeds -- "$work/seeds")
failed=0
total=0
for target in ${@:-$targets}; do
    mkdir -p "$work/found/$target"
    log="$work/$target.log"
    status=0
    # Large enough for every seed; comparisons of whole words are guided by -use_value_profile.
    HEADLIGHT_FUZZ=$target "$work/fuzz" "$work/found/$target" "$work/seeds/$target" \
        -seed="${SEED:-1}" -max_total_time="$seconds" -timeout=10 -max_len=65536 -rss_limit_mb=1024 \
        -use_value_profile=1 -print_final_stats=1 -artifact_prefix="$work/findings/$target-" \
        > "$log" 2>&1 || status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    peak=$(sed -n 's/^peak //p' "$log" | tail -n 1)
    printf '%-16s %9s inputs  peak %-12s %s\n' "$target" "${runs:-?}" "${peak:-under 0.1 MB}" \
        "$([ "$status" = 0 ] || echo "FAILED: $log")"
    total=$((total + ${runs:-0}))
    [ "$status" = 0 ] || failed=1
done
echo "$total inputs"
exit "$failed"
