# price SKU: the price in cents, from data/prices.txt ("sku price").
price() {
    grep "^$1 " data/prices.txt | cut -d' ' -f2 | tr -d '.'
}
