#!/usr/bin/env bash
# Runs the list of a sweep's shards through the real GNU parallel. One job is killed, and --resume-failed repeats it.
# The merged file must have the bytes of the unsplit sweep. Needs parallel.
#
#     scripts/clusters/check_parallel.sh target/release/headlight
set -euo pipefail
cd "$(dirname "$0")/../.."
headlight=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "check_parallel: $*" >&2
    exit 1
}

sweep=(configs/notebook.toml --set training.epochs=5 --seeds 0..2000)
"$headlight" sweep "${sweep[@]}" --threads 1 --out "$work/seeds.jsonl" --shards 8 --list > "$work/jobs"
run() { parallel --jobs 2 --joblog "$work/log" --resume-failed < "$work/jobs" > "$work/out" 2> "$work/err"; }
run &
parallel=$!

# Kills a process whose shard has some rows and lacks others.
under_way() {
    local pid rows
    for pid in $(cd /proc && ls -d [0-9]*); do
        [ "$(readlink "/proc/$pid/exe")" = "$headlight" ] || continue
        out=$(tr '\0' '\n' < "/proc/$pid/cmdline" | grep -A1 -xF -- --out | tail -n 1)
        rows=$(wc -l < "$out") || continue
        if [[ $out == "$work"/* ]] && [ "$rows" -gt 20 ] && [ "$rows" -lt 200 ]; then
            kill -9 "$pid"
            echo "killed with $rows rows: $(basename "$out")"
            return
        fi
    done
    return 1
} 2>/dev/null
until under_way; do
    kill -0 $parallel || fail "all jobs ended before one could be killed"
    sleep 0.1
done
if wait $parallel; then
    fail "parallel did not notice that a job was killed"
fi
[ "$(wc -l < "$work/log")" = 9 ] || fail "the job log does not have 8 jobs"
run || fail "a job failed again: $(cat "$work/err")"
[ "$(wc -l < "$work/log")" = 10 ] || fail "jobs other than the killed one were repeated"

"$headlight" merge "$work"/seeds-*-of-8.jsonl --out "$work/seeds.jsonl"
"$headlight" sweep "${sweep[@]}" --out "$work/single.jsonl" > /dev/null 2>&1
cmp "$work/seeds.jsonl" "$work/single.jsonl"
echo "GNU parallel: the same bytes"
