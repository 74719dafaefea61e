. tests/expect.sh
. lib/totals.sh
price() {
    echo 250
}
expect "totals: two lines" 500 "$(total tests/orders/two.txt)"
expect "totals: quantities count" 1250 "$(total tests/orders/many.txt)"
expect "totals: a last line without newline" 500 "$(total tests/orders/cut.txt)"
done_testing
