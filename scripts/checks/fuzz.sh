#!/usr/bin/env bash
# Fuzzes the readers of foreign files (crates/fuzz): scripts/checks/fuzz.sh SECONDS [TARGET]...
#
# Each target runs for SECONDS, from its corpus and from the inputs that earlier runs found (target/fuzz). A panic,
# more than 256 MB of memory, or an input that takes over 10 seconds ends it with exit code 1 and leaves the input
# in target/fuzz/findings. Needs a C++ compiler. SEED (default 1) repeats a run.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:?name the seconds for each target}
shift

# With `--workspace` the dependencies have the features of every other build, and are not built again.
RUSTC_WORKSPACE_WRAPPER="$PWD/scripts/checks/instrumented_rustc.sh" \
    cargo build --quiet --release --workspace --features headlight-fuzz/libfuzzer --bin fuzz
work=target/fuzz
mkdir -p "$work/found" "$work/findings"
# The next build of the workspace may overwrite it.
cp target/release/fuzz "$work/fuzz"
failed=0
total=0
for target in ${@:-$("$work/fuzz")}; do
    mkdir -p "$work/found/$target"
    log="$work/$target.log"
    status=0
    # -max_len is large enough for every valid input; -use_value_profile guides comparisons of whole words.
    HEADLIGHT_FUZZ=$target "$work/fuzz" "$work/found/$target" "crates/fuzz/corpus/$target" \
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
