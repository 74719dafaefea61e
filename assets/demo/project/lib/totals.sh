# total FILE: the sum of an order in cents. A line is "quantity sku".
total() {
    sum=0
    while read -r quantity sku; do
        cents=$(price "$sku") || return 1
        sum=$((sum + cents))
    done < "$1"
    echo "$sum"
}
