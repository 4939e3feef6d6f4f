#!/usr/bin/env bash
# rustc for a release: cargo puts this script before every call of rustc (RUSTC_WRAPPER).
#
# Cargo names a crate by a hash that is part of every symbol, and so of the bytes of what is built. Two absolute paths can be in that hash: that
# of a crate outside of the workspace, as those of the Python module are, and that of cargo-auditable, which also wraps rustc. Here, the crate's
# own name takes the place of the hash.
set -euo pipefail

name=''
arguments=()
for argument in "$@"; do
    if [ "${before-}" = --crate-name ]; then name=$argument; fi
    if [[ $name = *headlight* && $argument = metadata=* ]]; then argument=metadata=$name; fi
    arguments+=("$argument")
    before=$argument
done
exec "${arguments[@]}"
