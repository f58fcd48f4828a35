#!/usr/bin/env bash
# The channel room, and jobs on the hosts, under the thread sanitizer. It is an unstable flag of the stable compiler, hence RUSTC_BOOTSTRAP.
# Arguments beyond `--short` name other tests of flow-core to run: `.ci/tsan.sh channel host`.
#
# With the source of std (component rust-src) std is built with the sanitizer as well, and any report fails. Without it, std is
# linked as it comes, and the sanitizer cannot see what std does to order its own accesses. Then only reports
# with a frame of this workspace count: the others are libtest's results, which it sends through std's channel.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "${1:-}" = --short ]; then shift; fi
target=x86_64-unknown-linux-gnu
sysroot=$(rustc --print sysroot)
if [ "$(rustc -vV | sed -n 's/^host: //p')" != "$target" ]; then
    echo "tsan.sh: only for $target, skipped"
    exit 0
fi
if ! compgen -G "$sysroot/lib/rustlib/$target/lib/*tsan*" >/dev/null; then
    echo "tsan.sh: the toolchain has no thread sanitizer, skipped"
    exit 0
fi

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/tsan"
export RUSTC_BOOTSTRAP=1
tests=(cargo test --locked --target "$target" -p flow-core --lib)
options="suppressions=$PWD/.ci/tsan.supp"
if [ -e "$sysroot/lib/rustlib/src/rust/library/std/Cargo.toml" ]; then
    export TSAN_OPTIONS="$options halt_on_error=1" RUSTFLAGS="-Zsanitizer=thread"
    "${tests[@]}" -Zbuild-std -- "${@:-channel}"
    if [ $# -eq 0 ]; then
        # Whole jobs on the hosts with threads. How idle they are is not measured here: the sanitizer works too.
        FLOW_ENDURANCE_RUNS=30 cargo test --locked --target "$target" -Zbuild-std -p flow-tests \
            --test endurance --test faults -- --skip idle::
    fi
    exit
fi

echo "tsan.sh: no source of std (rust-src), so std is not instrumented"
reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
TSAN_OPTIONS="$options exitcode=0 log_path=$reports/report" \
    RUSTFLAGS="-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer" "${tests[@]}" -- "${@:-channel}"
ours() { awk 'BEGIN { RS = "==================\n" } /flow_core::/ { print; found = 1 } END { exit !found }' "$@"; }
if compgen -G "$reports/*" >/dev/null && ours "$reports"/*; then
    echo "tsan.sh: data races"
    exit 1
fi
echo "tsan.sh: no data race"
