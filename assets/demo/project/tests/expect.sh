# expect LABEL WANTED ACTUAL: prints a line and remembers failures. done_testing ends a suite.
bad=0
expect() {
    if [ "$2" = "$3" ]; then
        echo "ok    $1"
    else
        echo "FAIL  $1: wanted '$2', got '$3'"
        bad=$((bad + 1))
    fi
}
done_testing() {
    exit "$((bad > 0))"
}
