#!/bin/sh
# A reviewer: notes its arguments (a NUL after each, a record separator after each call) and does what the file
# `behaviour` says, with $file being the path that ends the prompt.
here=${0%/*}
printf '%s\000' "$@" >> "$here/calls"
printf '\036' >> "$here/calls"
for prompt in "$@"; do :; done
file=${prompt##*Write your review to }
. "$here/behaviour"
