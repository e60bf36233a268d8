#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The sample in samples/wprobes/ shows the writes to a variable.

. "$(dirname "$0")/functions.sh"

begin
modprobe wprobe_example symbol=total_forks show=3 2>/dev/null ||
	skip_all "the sample has not been built"
loaded=wprobe_example
for i in 1 2 3 4 5; do
	(true) &
	wait
done
cleanup
lines=$(dmesg | sed -n 's/.*wprobe_example: //p' | tail -n 5)
is "the sample watches" "$(printf '%s\n' "$lines" | grep -c '^watching total_forks+0x0')" 1
is "it shows three writes" "$(printf '%s\n' "$lines" |
	grep -cE '^total_forks: [0-9]+ -> [0-9]+ \(.* on CPU [0-9]+\), before .*\+0x')" 3
is "it counts all" "$(printf '%s\n' "$lines" |
	awk '/writes/ { print ($2 >= 5 && $4 == 0) }')" 1
finish
