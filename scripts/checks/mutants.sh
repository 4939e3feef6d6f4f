#!/usr/bin/env bash
# Do a crate's own tests notice when its code is changed? scripts/checks/mutants.sh CRATE...
#
#     scripts/checks/mutants.sh input npz dump
#
# For each crate, cargo-mutants (27.1) changes COUNT places of the source, one at a time, and runs the crate's
# own tests. A crate fails if they catch fewer than 95% of the changes that compile. The sample is the COUNT
# mutants with the lowest SHA-256 of SEED, file, change and source line, without those that are listed in
# scripts/checks/mutants-equivalent.txt. So it stays the same when code moves. The fields that cargo-mutants leaves out of
# structs come first: it makes these changes whatever it is asked for. COUNT (default 32; 0 takes all) and SEED (default 14)
# are environment variables. The logs are in target/mutants.
#
# Files that drive engines, threads or devices are left out (not_pure below): the binary's tests hold them.
#
# The changes are made in a copy of the working tree. Its build is kept from one run to the next.
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"
[ $# -gt 0 ] || { sed -n '2,4s/^# \{0,1\}//p' "$0" >&2; exit 2; }
root=$PWD
work=$root/target/mutants
command -v cargo-mutants > /dev/null || {
    echo "cargo-mutants is missing; install it with: cargo install --locked --version 27.1.0 cargo-mutants" >&2
    exit 2
}

export CARGO_TARGET_DIR=$work/build
# Tests of an unoptimised build take up to a minute per mutant.
export CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_PROFILE_DEV_DEBUG=false CARGO_PROFILE_DEV_DEBUG_ASSERTIONS=true
# The fused engine compiles for half a minute with optimisation, and its own tests take seconds without.
unoptimised=(--cargo-arg=--config --cargo-arg=profile.dev.package.headlight-fused.opt-level=0)

not_pure=(
    crates/experiment/src/fused.rs
    crates/sweep/src/attention.rs
    crates/sweep/src/plan.rs
    crates/sweep/src/results.rs
    crates/sweep/src/thread_limit.rs
    crates/sweep/src/run.rs
    crates/sweep/src/workers.rs
)
excluded=()
for file in "${not_pure[@]}"; do excluded+=(--exclude "$file"); done

failed=0
for crate; do
    out=$work/$crate
    rm -rf "$out"
    mkdir -p "$out/tree"
    # All files get the present time: a build of an earlier mutant must not look up to date.
    (
        cd "$root"
        git ls-files -z --cached --others --exclude-standard |
            { xargs -0 sh -c 'for file; do [ ! -e "$file" ] || printf "%s\0" "$file"; done' sh; } |
            tar c --null -T - | tar xm -C "$out/tree"
    )
    cd "$out/tree"
    cargo mutants --list --json -p "headlight-$crate" "${excluded[@]}" > "$out/all.json"
    python3 - "$out/all.json" "$root/scripts/checks/mutants-equivalent.txt" "${COUNT:-32}" "${SEED:-14}" \
        > "$out/sample" <<'PYTHON'
import collections, hashlib, json, pathlib, re, sys

listed, equivalent, count, seed = sys.argv[1:]
mutants, always = {}, set()
for mutant in json.load(open(listed)):
    file, line = mutant["file"], mutant["span"]["start"]["line"]
    name = mutant["name"]
    change = re.sub(r"^.*?:\d+:\d+: ", "", name)
    source = pathlib.Path(file).read_text().splitlines()[line - 1].strip()
    mutants[name] = f"{file}: {change} @ {source}"
    if mutant["genre"] == "StructField":
        always.add(name)
same = set()
if pathlib.Path(equivalent).exists():
    for line in pathlib.Path(equivalent).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            same.add(line.rsplit(" # ", 1)[0])
files = {mutant.split(": ")[0].split("/src/")[0] for mutant in mutants.values()}
for line in sorted(same - set(mutants.values())):
    if line.split("/src/")[0] in files:
        sys.exit(f"{equivalent}: this mutant is gone, remove its line: {line}")
chosen, seen = [], collections.Counter()
for name, mutant in mutants.items():
    seen[mutant] += 1
    if mutant not in same:
        text = f"{seed} {mutant} {seen[mutant]}"
        chosen.append((name not in always, hashlib.sha256(text.encode()).digest(), name))
for *_, name in sorted(chosen)[: int(count) or None]:
    print("^" + re.sub(r"([^\w\s:/<>&,'\"!=-])", r"\\\1", name) + "$")
PYTHON
    mapfile -t sample < "$out/sample"
    chosen=()
    for regex in "${sample[@]}"; do chosen+=(--re "$regex"); done
    own=()
    [ "$crate" != fused ] || own=("${unoptimised[@]}")
    # Its exit code is 2 or 3 if mutants are missed or time out: the lists below say which.
    status=0
    nice -n 10 cargo mutants -p "headlight-$crate" "${excluded[@]}" --in-place --output "$out" --no-times \
        --colors never --cap-lints true "${own[@]}" "${chosen[@]}" -- --tests > "$out/log" 2>&1 || status=$?
    lists=$out/mutants.out
    [ "$status" -le 3 ] || { tail -n 20 "$out/log" >&2; exit 1; }
    lines() { wc -l < "$lists/$1.txt"; }
    caught=$(($(lines caught) + $(lines timeout)))
    missed=$(lines missed)
    [ $((caught + missed)) -gt 0 ] || { echo "$crate: no mutant compiles" >&2; exit 1; }
    # One name may stand for two changes of a line.
    [ $((caught + missed + $(lines unviable))) -ge ${#sample[@]} ] ||
        { echo "$crate: the run was interrupted; see $out/log" >&2; exit 1; }
    printf '%-10s %3s caught of %3s (%s%%), %s do not compile; %s of %s mutants\n' "$crate" "$caught" \
        $((caught + missed)) $((100 * caught / (caught + missed))) "$(lines unviable)" "${#sample[@]}" \
        "$(grep -c '"genre"' "$out/all.json")"
    sed 's/^/    missed: /' "$lists/missed.txt"
    [ $((100 * caught)) -ge $((95 * (caught + missed))) ] || failed=1
done
exit "$failed"
