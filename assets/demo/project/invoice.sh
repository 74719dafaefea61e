#!/bin/sh
# Prints the invoice for one order. Usage: sh invoice.sh ORDER
cd "$(dirname "$0")" || exit 2
. lib/money.sh
. lib/prices.sh
. lib/totals.sh
. lib/discount.sh

row() {
    printf '%-10s %10s\n' "$1" "$(money "$2")"
}

[ -f "$1" ] || { echo "usage: sh invoice.sh ORDER" >&2; exit 2; }
subtotal=$(total "$1") || exit 1
off=$(discount "$subtotal")
net=$((subtotal - off))

row subtotal "$subtotal"
row discount "$off"
row total "$net"
