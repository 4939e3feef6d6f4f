# Sourced by `run` and `full`: runs steps, knows which steps of `full` are verified, prints the table.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

always=(.ci/steps/[0-4]*)
sometimes=(.ci/steps/[5-9]*)
verified=.ci/verified
STEP_TIMES=$(mktemp)
export STEP_TIMES
trap 'rm -f "$STEP_TIMES"' EXIT
failed=0

# inputs_of STEP: one hash over the step and the files that it says it depends on, as they are now.
inputs_of() {
    local path paths=("$1")
    while read -r path; do
        paths+=("$path")
        if [ -z "$(git ls-files -- "$path")" ]; then
            echo "$1: no file matches '$path' of its \"Depends on\": correct the path" >&2
            return 1
        fi
    done < <(sed -n 's/^# Depends on: //p' "$1" | tr ' ' '\n')
    git ls-files -z --cached --others --exclude-standard -- "${paths[@]}" | sort -zu | xargs -0 sha256sum \
        | sha256sum | cut -c 1-16
}

# check_inputs: whether the "Depends on" of every step of `full` names files that exist.
check_inputs() {
    local step status=0
    for step in "${sometimes[@]}"; do
        inputs_of "$step" >/dev/null || status=1
    done
    return "$status"
}

# recorded STEP: the hash, the seconds and the seconds of processor time of its last pass, or nothing.
recorded() {
    awk -v name="$(basename "$1")" '$1 == name { print $2, $3, $4 }' "$verified"
}

# unverified: the steps of `full` whose inputs changed since they passed, shortest first, those without a
# known time last.
unverified() {
    local step inputs hash wall
    for step in "${sometimes[@]}"; do
        inputs=$(inputs_of "$step")
        read -r hash wall _ < <(recorded "$step"; echo)
        [ "$inputs" = "$hash" ] || echo "${wall:-99999} $step"
    done | sort -n
}

# run_step STEP [COMMAND...]: runs it, under COMMAND if there is one; a failure is remembered.
run_step() {
    local step=$1 status=0
    shift
    printf '\n=== %s (%s)\n' "$(basename "$step")" "$(date -u +%H:%M:%S)"
    "$@" "$step" || status=$?
    return "$status"
}

# finish: the table of all steps that ran, and the exit code.
finish() {
    printf '\n%-18s %8s %13s\n' step "wall, s" "processor, s"
    awk '{ printf "%-18s %8d %13d%s\n", $1, $2, $3, $4 == 0 ? "" : "  " ($4 == 143 ? "not finished" : "FAILED")
           wall += $2; processor += $3 }
         END { printf "%-18s %8d %13d\n", "total", wall, processor }' "$STEP_TIMES"
    exit "$failed"
}
