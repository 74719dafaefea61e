. tests/expect.sh
. lib/prices.sh
expect "prices: two decimals" 450 "$(price tea)"
expect "prices: one decimal" 1250 "$(price coffee)"
expect "prices: an unknown article is an error" failed "$(price sofa > /dev/null 2>&1 || echo failed)"
expect "prices: the old table is gone" gone "$([ -e data/prices.txt ] || echo gone)"
done_testing
