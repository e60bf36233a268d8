#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf makes events of user-space probes by the names of functions, and counts them.

. "$(dirname "$0")/functions.sh"

begin
command -v perf >/dev/null || skip_all "there is no perf"
data=/tmp/uprobes-perf.data
over=/tmp/uprobes-perf.over

yes "perf probe -x adds an entry" perf probe -q -x "$TARGET" -a back=target_plain
yes "perf probe -x adds a return" \
	perf probe -q -x "$TARGET" -a 'returned=target_plain%return $retval'
matches "perf probe -l shows them" "$(perf probe -l 2>/dev/null | tr -s ' \n' ' ')" \
	'probe_target:back .*probe_target:returned'

# counted EVENT: the number of events that perf stat counts in three calls.
counted()
{
	perf stat -x, -e "$1" -o "$data" "$TARGET" call plain 3 >/dev/null 2>&1
	sed -n "s/^\([0-9]*\),.*$1.*/\1/p" "$data"
}

is "perf stat: three hits" "$(counted probe_target:back)" 3
is "perf stat: three returns" "$(counted probe_target:returned__return)" 3

# An event of one process; another process calls the function, too.
if [ -e "$LIST" ]; then
	start_twice plain 3
	is "an event of a process" \
		"$(env echo "p:one pid:$waiting:$(address plain)" 2>&1 >>"$UPROBE_EVENTS")" ""
	rm -f "$over"
	# Until the calls are over, or for a minute.
	perf stat -x, -a -e uprobes:one -o "$data" timeout 60 \
		sh -c "until [ -e $over ]; do sleep 0.1; done" >/dev/null 2>&1 &
	counter=$!
	# Until perf has opened the event; the file "enable" does not show that.
	wait_until 10 grep -q "^pid:$waiting:" "$LIST"
	call plain 4 >/dev/null
	is "the process goes on" "$(go)" 3
	wait "$waiting"
	: >"$over"
	wait "$counter"
	is "perf stat: three hits of the process" \
		"$(sed -n 's/^\([0-9]*\),.*uprobes:one.*/\1/p' "$data")" 3
	echo '-:one' >>"$UPROBE_EVENTS"
else
	skip "an event of a process" "no probes of processes in this kernel"
fi

yes "perf probe -d" perf probe -q -d 'probe_target:*'
is "no event is left" "$(grep -c probe_target "$UPROBE_EVENTS")" 0

rm -f "$data" "$over"

finish
