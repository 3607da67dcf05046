#!/bin/sh
# A reviewer: prints its version if asked (that in the file `version`), or notes its arguments (a record separator before each call, so that one that is killed here does not run into the
# next; a NUL after each argument) and does what the file `behaviour` says, with $file being the path that ends the prompt.
here=${0%/*}
if [ "$*" = --version ]; then
    cat "$here/version" 2>/dev/null || echo 2.1.330
    exit
fi
printf '\036' >> "$here/calls"
printf '%s\000' "$@" >> "$here/calls"
for prompt in "$@"; do :; done
file=${prompt##*Write your review to }
. "$here/behaviour"
