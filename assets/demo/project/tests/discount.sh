. tests/expect.sh
. lib/discount.sh
expect "discount: none below 100.00" 0 "$(discount 9999)"
expect "discount: from 100.00 on" 1000 "$(discount 10000)"
expect "discount: rounded down" 1234 "$(discount 12349)"
done_testing
