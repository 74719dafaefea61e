. tests/expect.sh
wanted='subtotal       107.40
discount        10.74
net             96.66
vat             19.33
total          115.99'
expect "invoice: the standard order" "$wanted" "$(sh invoice.sh orders/standard.txt)"
done_testing
