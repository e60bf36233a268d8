#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Events as "perf probe" writes them: every place is an offset from _text, the group is
# "probe", and the name of a return probe ends in __return.

. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/client_functions.sh"

begin
begin_events

# place FUNCTION OFFSET: the place in the form of perf probe.
place()
{
	echo "_text+$((0x$(symbol_address "$1") - 0x$(symbol_address _text) + $2))"
}

offset=$(inside $OPEN)
[ -n "$offset" ] || skip_all "ftrace does not list $OPEN"

is "a function" \
	"$(event "p:probe/$OPEN $(place $OPEN 0) dfd=$ARG1:s32 filename=+0($ARG2):ustring")" ok
is "a line in it" \
	"$(event "p:probe/${OPEN}_1 $(place $OPEN "$offset") filename=+0($ARG2):ustring")" ok
is "its return" "$(event "r:probe/${OPEN}__return $(place $OPEN 0) fd=\$retval:s32")" ok
matches "perf reads back its own events" "$(cat "$EVENTS")" \
	"^[pr][0-9]*:probe/${OPEN}[_a-z0-9]* _text\\+[0-9]+ "

turn probe 1
found=$(trace_of open_tagged missing)
turn probe 0
matches "the three places are hit, in this order" \
	"$(printf '%s\n' "$found" | sed -nE 's/.*: (do_sys_openat2[_a-z0-9]*): .*/\1/p' |
		tail -n 3 | tr '\n' ' ')" \
	"^$OPEN ${OPEN}_1 ${OPEN}__return \$"
matches "the arguments" "$(printf '%s\n' "$found" | grep " $OPEN: " | grep "$TAG")" \
	"\\($OPEN\\+0x[04]/0x[0-9a-f]+\\) dfd=-100 filename=\"/tmp/$TAG-missing\"\$"
matches "the line" "$(printf '%s\n' "$found" | grep " ${OPEN}_1: " | grep "$TAG")" \
	"\\($OPEN\\+0x[0-9a-f]+/0x[0-9a-f]+\\) filename=\"/tmp/$TAG-missing\"\$"
matches "the value that was returned" \
	"$(printf '%s\n' "$found" | last "${OPEN}__return")" \
	"\\([^ ]+ <- $OPEN\\) fd=-2\$"

for name in $OPEN ${OPEN}_1 ${OPEN}__return; do
	is "removed: $name" "$(event "-:probe/$name")" ok
done
finish
