# Sourced by every step: strict mode, the repository's root, a scratch folder, helpers that install what a
# step needs, and the time that the step took. With STEP_TIMES set, the time also goes into that file.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

headlight=target/release/headlight
work=$(mktemp -d)
began=$(date +%s.%N)

finish() {
    local status=$?
    rm -rf "$work"
    # Not in a pipe or a subshell: there the times of this shell's children would be zero.
    times > "$work.times"
    local wall processor
    wall=$(date +%s.%N | awk -v began="$began" '{ printf "%.0f", $1 - began }')
    processor=$(tr 'ms' '  ' < "$work.times" | awk '{ total += 60 * $1 + $2 + 60 * $3 + $4 } END { printf "%.0f", total }')
    rm -f "$work.times"
    local outcome=
    case $status in
    0) ;;
    143) outcome=", stopped before its end" ;;
    *) outcome=", FAILED with exit code $status" ;;
    esac
    printf -- '--- %s: %s s, %s s of processor time%s\n' "$(basename "$0")" "$wall" "$processor" "$outcome"
    if [ -n "${STEP_TIMES:-}" ]; then
        echo "$(basename "$0") $wall $processor $status" >> "$STEP_TIMES"
    fi
}
trap finish EXIT
trap 'exit 143' TERM

# build: the binary of the README's first command, for steps that run it.
build() {
    cargo build --quiet --release
}

# installed COMMAND...: whether all of them can be run.
installed() {
    local command
    for command in "$@"; do
        command -v "$command" >/dev/null || return 1
    done
}

# cargo_tool NAME VERSION: installs cargo-NAME, kept in the target folder; `cargo NAME` then runs it.
cargo_tool() {
    export PATH="$PWD/target/tools/bin:$PATH"
    if [ "$(cargo "$1" --version 2>/dev/null)" != "cargo-$1 $2" ]; then
        cargo install --quiet --debug --locked --root target/tools --version "$2" "cargo-$1"
    fi
}

# page_packages: what the page's script is built and checked with.
page_packages() {
    installed node npm || debian nodejs npm
    npm ci --no-audit --no-fund --prefix crates/inspector/page
}

# debian PACKAGE...: installs packages; needs root.
debian() {
    apt-get update -qq
    apt-get install -y -qq "$@" >/dev/null
}

# python_with REQUIREMENTS [PIP OPTION]...: sets `python` to an environment with these packages. It is
# kept in the target folder, so that steps with the same requirements share it.
python_with() {
    local requirements=$1 name included
    shift
    name=$(basename "$requirements" .txt)
    included=$(sed -n "s|^-r |$(dirname "$requirements")/|p" "$requirements")
    # shellcheck disable=SC2086 # There may be none.
    local environment=target/ci/$name-$(cat "$requirements" $included | sha256sum | cut -c 1-12)
    python=$environment/bin/python
    if [ ! -e "$environment/complete" ]; then
        rm -rf "$environment"
        python3 -m venv "$environment"
        "$python" -m pip install --quiet --disable-pip-version-check --no-compile "$@" --requirement "$requirements"
        touch "$environment/complete"
    fi
}

# python_module: builds the Python module's wheel with the environment `python`, and puts the module on PYTHONPATH.
python_module() {
    "$(dirname "$python")/maturin" build --quiet --release \
        --target-dir target --interpreter "$python" --out "$work"
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$work/site" "$work"/*.whl
    export PYTHONPATH=$work/site
}
