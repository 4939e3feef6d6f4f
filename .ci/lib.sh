# Sourced by `check`, `evidence` and `full`: runs their steps, prints their times, and installs what they need.
# shellcheck shell=bash
set -euo pipefail
if declare -F run_steps > /dev/null; then return; fi # `run` sources this file twice.
cd "$(dirname "${BASH_SOURCE[0]}")/.."

headlight=$PWD/target/release/headlight
steps=()
failed=()
step_times=()
# The times of children that a step's subshell leaves behind.
times_file=$(mktemp)
trap 'rm -f "$times_file"' EXIT

# run_steps STEP...: calls these functions, each in a shell of its own, and then prints a table of their times.
run_steps() {
    local name
    for name; do
        if ! declare -F "$name" > /dev/null; then
            echo "no step is called $name; the steps are: ${steps[*]}" >&2
            exit 2
        fi
    done
    for name; do
        run_step "$name"
    done
    printf '\n%-20s %8s %13s\n' step "wall, s" "processor, s"
    printf '%s\n' "${step_times[@]}" | awk '
        { printf "%-20s %8d %13d%s\n", $1, $2, $3, $4 == 0 ? "" : "  FAILED"; wall += $2; processor += $3 }
        END { printf "%-20s %8d %13d\n", "total", wall, processor }'
    if [ ${#failed[@]} -gt 0 ]; then
        echo "failed: ${failed[*]}"
        exit 1
    fi
}

# run_step STEP: has the scratch folder `work`; a failure is remembered, and the other steps still run.
run_step() {
    local status=0 began=$SECONDS processor
    printf '\n=== %s (%s)\n' "$1" "$(date -u +%H:%M:%S)"
    # Not after `if` or `||`, where a command that fails would not end the step.
    set +e
    (
        set -e
        work=$(mktemp -d)
        trap 'times > "$times_file"; rm -rf "$work"' EXIT
        "$1"
    ) < /dev/null
    status=$?
    set -e
    processor=$(tr 'ms' '  ' < "$times_file" | awk '{ total += 60 * $1 + $2 + 60 * $3 + $4 } END { printf "%.0f", total }')
    step_times+=("$1 $((SECONDS - began)) $processor $status")
    if [ "$status" != 0 ]; then
        failed+=("$1")
        echo "--- $1 FAILED with exit code $status"
    fi
}

# build: the binary, for steps that run it.
build() {
    cargo build --quiet --release
}

# installed COMMAND...: whether all of them can be run.
installed() {
    local command
    for command in "$@"; do
        command -v "$command" > /dev/null || return 1
    done
}

# debian PACKAGE...: installs packages; needs root.
debian() {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" > /dev/null
}

# cargo_tool NAME VERSION: installs cargo-NAME, kept in the target folder; `cargo NAME` then runs it.
cargo_tool() {
    export PATH="$PWD/target/tools/bin:$PATH"
    if [ "$(cargo "$1" --version 2>/dev/null)" != "cargo-$1 $2" ]; then
        cargo install --quiet --debug --locked --root target/tools --version "$2" "cargo-$1"
    fi
}

# page_packages: what the page's script is built, formatted and checked with.
page_packages() {
    installed node npm || debian nodejs npm
    npm ci --no-audit --no-fund --prefix crates/page/script
}

# python_with REQUIREMENTS [PIP OPTION]...: sets `python` to an environment with these packages, kept in the target folder.
python_with() {
    local requirements=$1 name included
    shift
    name=$(basename "$requirements" .txt)
    included=$(sed -n "s|^-r |$(dirname "$requirements")/|p" "$requirements")
    # shellcheck disable=SC2086 # There may be none.
    local environment=$PWD/target/ci/$name-$(cat "$requirements" $included | sha256sum | cut -c 1-12)
    python=$environment/bin/python
    if [ ! -e "$environment/complete" ]; then
        rm -rf "$environment"
        python3 -c 'import ensurepip, venv' 2> /dev/null || debian python3-venv
        python3 -m venv "$environment"
        "$python" -m pip install --quiet --disable-pip-version-check --no-compile "$@" --requirement "$requirements"
        touch "$environment/complete"
    fi
}

# python_module: builds the Python module's wheel, and puts the module on PYTHONPATH. Its environment is `python`.
python_module() {
    python_with scripts/requirements.txt
    "$(dirname "$python")/maturin" build --quiet --release --target-dir target --interpreter "$python" --out "$work"
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$work/site" "$work"/*.whl
    export PYTHONPATH=$work/site
}

# torch: sets `python` to an environment with PyTorch and TransformerLens.
torch() {
    python_with scripts/evidence/pytorch/requirements.txt --no-deps
    "$python" scripts/evidence/pytorch/without_cuda.py
}
