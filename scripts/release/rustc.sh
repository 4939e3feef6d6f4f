#!/usr/bin/env bash
# rustc for wheels of a release: cargo puts it before every call of rustc (RUSTC_WRAPPER).
#
# The crates that the Python module uses lie outside its workspace, and cargo names such a crate by a hash of its absolute path. The
# hash is part of every symbol, and so of the bytes of the module. Here, the crate's own name takes its place.
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
