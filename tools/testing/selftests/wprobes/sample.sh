#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The samples in samples/wprobes/ show the writes to a variable: of the kernel, and of a process.

. "$(dirname "$0")/functions.sh"

# messages MODULE: its last five lines in the kernel's log.
messages()
{
	dmesg | sed -n "s/.*$1: //p" | tail -n 5
}

# load_sample MODULE PARAMETER...
load_sample()
{
	if modprobe "$@"; then
		result 0 "$1 loads"
		loaded="$1 "
	else
		result 1 "$1 loads"
		finish
	fi
}

begin
grep -q '/wprobe_example\.ko' "/lib/modules/$(uname -r)/modules.dep" ||
	skip_all "the samples have not been built"
load_sample wprobe_example symbol=total_forks show=3
for i in 1 2 3 4 5; do
	(true) &
	wait
done
put_back
lines=$(messages wprobe_example)
is "the sample watches" "$(printf '%s\n' "$lines" | grep -c '^watching total_forks+0x0')" 1
is "it shows three writes" "$(printf '%s\n' "$lines" |
	grep -cE '^total_forks: [0-9]+ -> [0-9]+ \(.* on CPU [0-9]+\), before .*\+0x')" 3
is "it counts all" "$(printf '%s\n' "$lines" |
	awk '/writes/ { print ($2 >= 5 && $4 == 0) }')" 1

# The program prints the addresses of a word, of a store of 258 to it, and of the next
# instruction; at the signal it stores, then it stores 259, and exits.
"$HERE/process" writes_of_event >/tmp/sample &
pid=$!
trap 'kill "$pid" 2>/dev/null; cleanup' EXIT
# The line arrives in parts; read fails before its end.
until read -r word _ after </tmp/sample; do
	sleep 0.1
done
load_sample wprobe_process_example pid="$pid" address="$word" len="$long" show=1
kill -USR1 "$pid"
wait "$pid"
trap cleanup EXIT
put_back
rm -f /tmp/sample
lines=$(messages wprobe_process_example |
	sed -E "s/ \(.*\/$pid\)//; s/(: [0-9a-f]{2})( [0-9a-f]{2}){3}\$//")
is "the process's writes are shown and counted" "$lines" "watching $word of process $pid
$word: 7 -> 258, before $after
process $pid (ended): 2 writes, 0 missed"
is "without a process, it is refused" \
	"$(modprobe wprobe_process_example address="$word" 2>&1 | grep -c 'Invalid argument')" 1
finish
