. tests/expect.sh
. lib/money.sh
expect "money: plain" 12.34 "$(money 1234)"
expect "money: a zero after the point" 12.05 "$(money 1205)"
expect "money: less than a tenth" 0.07 "$(money 7)"
done_testing
