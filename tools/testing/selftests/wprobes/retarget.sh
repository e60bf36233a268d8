#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The handler of a user-space probe lets a watchpoint probe watch another word.

. "$(dirname "$0")/functions.sh"

# results: of wp_follow: return value of wprobe_retarget(), hits, old, new.
results()
{
	(cd /sys/module/wp_follow/parameters && cat moved hits old new | tr '\n' ' ')
}

has_line()
{
	[ "$(wc -l <"$output")" -ge 1 ]
}

begin
input=/tmp/called-in
output=/tmp/called-out
rm -f "$input" "$output"
mkfifo "$input"
"$HERE/called" <"$input" >"$output" &
exec 3>"$input"
wait_until 10 has_line
read -r pid address <"$output"
load wp_follow "pid=$pid" "address=$address"
is "before the call" "$(results)" "1 0 0 0 "
exec 3>&-
wait
is "the write of the new word is the only hit" "$(results)" "0 1 3 4 "
rm -f "$input" "$output"
finish
