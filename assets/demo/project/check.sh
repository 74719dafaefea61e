#!/bin/sh
# Runs the suites in tests/ and says what is wrong. Usage: sh check.sh [SUITE...]
cd "$(dirname "$0")" || exit 2
[ $# -gt 0 ] || set -- money totals discount prices tax invoice
passed=0
failed=0
for suite in "$@"; do
    if [ ! -f "tests/$suite.sh" ]; then
        echo "there is no suite tests/$suite.sh" >&2
        exit 2
    fi
    if sh "tests/$suite.sh"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done
echo "$passed suites passed, $failed failed"
[ "$failed" -eq 0 ]
