#!/usr/bin/env bash
# The tables of flow-core/src/state, whose slots may be uninitialized, under valgrind. Skipped where it is not installed.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v valgrind >/dev/null; then
    echo "valgrind is not installed: skipped"
    exit 0
fi
binary=$(cargo test -p flow-core --lib --no-run --message-format=json |
    grep -o '"executable":"[^"]*"' | tail -n 1 | cut -d'"' -f4)
PROPTEST_CASES=${PROPTEST_CASES:-20} valgrind --quiet --error-exitcode=1 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
    "$binary" --test-threads=1 state::
