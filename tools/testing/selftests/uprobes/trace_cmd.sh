#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# trace-cmd records events of user-space probes, and can read its recording.

. "$(dirname "$0")/functions.sh"

begin
command -v trace-cmd >/dev/null || skip_all "there is no trace-cmd"
data=/tmp/uprobes-trace.dat

echo "p:plain $TARGET:$(offset plain)" >>"$UPROBE_EVENTS"
echo "r:back $TARGET:$(offset plain) result=\$retval:u64" >>"$UPROBE_EVENTS"
matches "trace-cmd lists them" "$(trace-cmd list -e '^uprobes:' | sort | tr '\n' ' ')" \
	'^uprobes:back uprobes:plain $'
# The recorders of trace-cmd lose all if they have not begun when the command ends.
yes "trace-cmd record" trace-cmd record -q -o "$data" -e uprobes \
	sh -c "$TARGET call plain 3; sleep 5"
report=$(trace-cmd report -i "$data" 2>&1)
is "trace-cmd report: three hits" "$(printf '%s\n' "$report" | grep -c ' plain: ')" 3
is "trace-cmd report: three results" \
	"$(printf '%s\n' "$report" | sed -nE 's/.* back: .* result=//p' | tr '\n' ' ')" "1 2 3 "
is "it has turned the events off" "$(cat "$TRACING/events/uprobes/enable")" 0
rm -f "$data"

finish
