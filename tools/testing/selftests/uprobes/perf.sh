#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf makes events of user-space probes by the names of functions, and counts them.

. "$(dirname "$0")/functions.sh"

begin
command -v perf >/dev/null || skip_all "there is no perf"
data=/tmp/uprobes-perf.data

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

yes "perf probe -d" perf probe -q -d 'probe_target:*'
is "no event is left" "$(grep -c probe_target "$UPROBE_EVENTS")" 0

rm -f "$data"

finish
