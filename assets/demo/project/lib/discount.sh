# discount CENTS: 10 % of large orders, rounded down, else 0.
discount() {
    if [ "$1" -gt 10000 ]; then
        echo "$(($1 / 10))"
    else
        echo 0
    fi
}
