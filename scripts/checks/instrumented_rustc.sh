#!/bin/sh
# rustc for Cargo's RUSTC_WORKSPACE_WRAPPER: builds the workspace's crates with the coverage that guides libFuzzer
# (edges and comparisons) and with the checks of a debug build, optimised a little: fuzzing is short, building is not.
# Build scripts are not instrumented.
case " $* " in
*" --crate-name "*) ;;
*) exec "$@" ;;
esac
case " $* " in
*" build_script_build "*) exec "$@" ;;
esac
# Crates that read no foreign files.
case " $* " in
*" headlight_fused "* | *" headlight_model "* | *" headlight_report "*) exec "$@" -Copt-level=0 ;;
esac
exec "$@" \
    -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Copt-level=1 -Coverflow-checks=yes -Cdebug-assertions=yes
