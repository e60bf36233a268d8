#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# trace-cmd records kprobe events and can read its recording.

. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/client_functions.sh"

begin
command -v trace-cmd >/dev/null || skip_all "there is no trace-cmd"
begin_events
data=/tmp/$TAG.dat

is "a probe" "$(event "p:client/open $OPEN filename=+0(\$arg2):ustring")" ok
is "a return probe" "$(event "r:client/opened $OPEN fd=\$retval:s32")" ok
matches "trace-cmd lists them" "$(trace-cmd list -e '^client:' | sort | tr '\n' ' ')" \
	'^client:open client:opened $'

: >"/tmp/$TAG-there"
# The recorders of trace-cmd lose all if they have not begun when the command ends.
yes "trace-cmd record" trace-cmd record -q -o "$data" -e client \
	sh -c "cat /tmp/$TAG-there; sleep 5"
between "the probe was hit" "$(profile open 2)" 1 99999
between "the return probe was hit" "$(profile opened 2)" 1 99999
report=$(trace-cmd report -i "$data" 2>&1)
# Show the output if the recorded events are missing.
case $report in
*"$TAG-there"*) ;;
*)	printf '# %s\n' "$report" | head -n 40 ;;
esac
matches "trace-cmd report: the file that was opened" \
	"$(printf '%s\n' "$report" | grep "$TAG-there")" \
	" open: +\\([0-9a-fx]+\\) filename=\"?/tmp/$TAG-there\"?\$"
between "trace-cmd report: as often as it was opened" \
	"$(printf '%s\n' "$report" | grep -c "$TAG-there")" 1 1
matches "trace-cmd report: the descriptor that it got" \
	"$(printf '%s\n' "$report" | grep -A 1 "$TAG-there" | tail -n 1)" \
	' opened: +\([0-9a-fx]+ <- [0-9a-fx]+\) fd=[1-9][0-9]*$'
is "it has turned the events off" "$(cat "$TRACING/events/client/enable")" 0

rm -f "$data" "/tmp/$TAG-there"
drop_events
finish
