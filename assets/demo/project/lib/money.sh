# money CENTS: 1234 becomes 12.34.
money() {
    printf '%d.%d\n' "$(($1 / 100))" "$(($1 % 100))"
}
