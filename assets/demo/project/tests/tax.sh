. tests/expect.sh
if [ ! -f lib/tax.sh ]; then
    echo "FAIL  tax: lib/tax.sh is missing"
    exit 1
fi
. lib/tax.sh
expect "tax: 20 %" 200 "$(vat 1000)"
expect "tax: rounded half up" 3 "$(vat 13)"
expect "tax: rounded down below half" 2 "$(vat 12)"
done_testing
