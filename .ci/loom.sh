#!/usr/bin/env bash
# The channel room under loom, a model checker: flow-core/src/channel/models.rs.
# `--short` allows two preemptions instead of what each model asks for; it still finds a fence or an ordering taken away.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "${1:-}" = --short ]; then
    export LOOM_MAX_PREEMPTIONS=2
fi
# A target directory of its own, so that the flag does not rebuild everything twice.
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
export RUSTFLAGS="--cfg loom"
if ! cargo fetch --locked; then
    echo "loom.sh: loom cannot be fetched, skipped"
    exit 0
fi
cargo test --locked -p flow-core --release --lib channel
