#!/bin/sh
# A reviewer: notes its arguments (a record separator before each call, so that one that is killed here does not run into the
# next; a NUL after each argument), and prints its version if asked, or does what the file `behaviour` says, with $file being
# the path that ends the prompt.
here=${0%/*}
printf '\036' >> "$here/calls"
printf '%s\000' "$@" >> "$here/calls"
if [ "$*" = --version ]; then
    echo 2.1.330
    exit
fi
for prompt in "$@"; do :; done
file=${prompt##*Write your review to }
. "$here/behaviour"
