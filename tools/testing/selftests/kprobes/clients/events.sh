#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Kprobe events from their definition to their removal, as in the usual descriptions,
# on the function that opens files.

. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/client_functions.sh"

begin
begin_events
ours=$TRACING/events/kprobes

# --- define ---

myprobe="myprobe $OPEN dfd=$ARG1 filename=$ARG2 flags=+0($ARG3) mode=+8($ARG3)"
is "a probe with four arguments" "$(put "$EVENTS" "p:$myprobe")" ok
is "a return probe is appended" "$(event "r:myretprobe $OPEN \$retval")" ok
is "both are listed, and where it belongs, the group as well" \
	"$(sed 's/^r[0-9]*:/r:/' "$EVENTS")" "p:kprobes/$myprobe
r:kprobes/myretprobe $OPEN arg1=\$retval"
is "dynamic_events has them, too" "$(cat "$TRACING/dynamic_events")" "$(cat "$EVENTS")"
is "new events are off" "$(cat $ours/myprobe/enable $ours/myretprobe/enable | tr '\n' ' ')" "0 0 "

same "format: the fields" "$(sed -nE 's/^\tfield:[a-z0-9 ]+ ([^ ;]*);.*/\1/p' \
	$ours/myprobe/format | grep -v common_)" <<'END'
__probe_ip
dfd
filename
flags
mode
END
matches "format: how it is printed" "$(grep '^print fmt' $ours/myprobe/format)" \
	'^print fmt: "\(%lx\) dfd=0x%[lL]*x filename=0x%[lL]*x flags=0x%[lL]*x mode=0x%[lL]*x", REC->__probe_ip, REC->dfd, REC->filename, REC->flags, REC->mode$'
matches "id: is a number" "$(cat $ours/myprobe/id)" '^[0-9]+$'
is "format: has the same" "$(sed -n 's/^ID: //p' $ours/myprobe/format)" \
	"$(cat $ours/myprobe/id)"

# --- trace ---

: >"/tmp/$TAG-there"
turn kprobes/myprobe 1
turn kprobes/myretprobe 1
matches "on: in the list" "$(list | grep $OPEN | sort)" "^ADDR  [kr]  $OPEN\\+0x[04] "
found=$(trace_of open_tagged there)
matches "the probe's line" "$(printf '%s\n' "$found" | last myprobe)" \
	"\\($OPEN\\+0x[04]/0x[0-9a-f]+\\) dfd=0x[0-9a-f]+ filename=0x[0-9a-f]+ flags=0x[0-9a-f]+ mode=0x0\$"
matches "the return probe's line names the caller" \
	"$(printf '%s\n' "$found" | grep ' myretprobe: ')" \
	"\\([a-z_0-9]*open[a-z_0-9]*\\+0x[0-9a-f]+/0x[0-9a-f]+ <- $OPEN\\) arg1="
# A kernel with type information shows an int as a signed number.
matches "the program got descriptor 3" "$(printf '%s\n' "$found" | last myretprobe)" \
	'arg1=(0x)?3$'
matches "for a file that is not there, it is an error" \
	"$(trace_of open_tagged missing | last myretprobe)" 'arg1=(0xf+e|-2)$'
echo 0 >"$TRACING/tracing_on"
is "tracing_on 0: nothing is recorded" "$(trace_of open_tagged there)" ""
echo 1 >"$TRACING/tracing_on"
turn kprobes/myretprobe 0
is "off: the one is silent" "$(trace_of open_tagged there | grep -c ' myretprobe: ')" 0
between "the other is not" "$(trace_of open_tagged there | grep -c ' myprobe: ')" 1 20

# --- count ---

before=$(profile myprobe 2)
for i in 1 2 3 4 5; do
	open_tagged there
done
between "kprobe_profile: hits" "$(($(profile myprobe 2) - before))" 5 100
is "kprobe_profile: nothing was missed" "$(profile myprobe 3) $(profile myretprobe 3)" "0 0"
turn kprobes/myprobe 0
before=$(profile myprobe 2)
open_tagged there
is "kprobe_profile: an event that is off does not count" "$(profile myprobe 2)" "$before"

# --- clear ---

is "one is cleared by its name" "$(event "-:myprobe")" ok
is "and the other is still there" "$(cut -d' ' -f1 "$EVENTS" | sed 's/^r[0-9]*:/r:/')" \
	r:kprobes/myretprobe
echo >"$EVENTS"
is "all are cleared" "$(cat "$EVENTS")" ""

# --- filters and triggers ---

event "p:filtered $OPEN name=+0($ARG2):ustring dfd=$ARG1:s32" >/dev/null
event "p:other $OPEN name=+0($ARG2):ustring" >/dev/null
is "a filter" "$(put $ours/filtered/filter "name ~ \"*$TAG-f*\" && dfd == -100")" ok
turn kprobes/filtered 1
turn kprobes/other 1
two_files()
{
	open_tagged there
	open_tagged filter
}
found=$(trace_of two_files | grep "$TAG")
matches "only records that pass" "$(printf '%s\n' "$found" | grep ' filtered: ')" \
	"name=\"/tmp/$TAG-filter\" dfd=-100\$"
is "the other event is not filtered" "$(printf '%s\n' "$found" | grep -c ' other: ')" 2
is "a filter with a field that is not there is refused" \
	"$(put $ours/filtered/filter "kp_no_field == 1")" EINVAL
put $ours/filtered/filter 0 >/dev/null
is "no filter any more" "$(trace_of two_files | grep "$TAG" | grep -c ' filtered: ')" 2
is "a trigger" "$(put $ours/filtered/trigger "traceoff:1 if name ~ \"*$TAG-filter*\"")" ok
trace_of two_files >/dev/null
is "has been pulled" "$(cat "$TRACING/tracing_on")" 0
put $ours/filtered/trigger "!traceoff:1" >/dev/null
echo 1 >"$TRACING/tracing_on"
drop_events

# --- names, places ---

is "no name" "$(event "p $OPEN")" ok
is "nor here" "$(event "r $OPEN")" ok
is "a group" "$(event "p:kp_group/there $OPEN")" ok
is "an address" "$(event "p:address 0x$(symbol_address $OPEN)")" ok
is "an offset" "$(event "p:offset $OPEN+$(inside $OPEN)")" ok
is "a return probe by its place" "$(event "p:suffix $OPEN%return \$retval")" ok
is "a return probe with so many instances" "$(event "r7:instances $OPEN")" ok
is "their names" "$(cut -d' ' -f1 "$EVENTS" | sed 's/^r10:/r:/' | sort | tr '\n' ' ')" \
	"p:kp_group/there p:kprobes/address p:kprobes/offset p:kprobes/p_${OPEN}_0 r7:kprobes/instances r:kprobes/r_${OPEN}_0 r:kprobes/suffix "
for name in kp_group kprobes; do
	turn $name 1
done
open_tagged there
for name in kp_group kprobes; do
	turn $name 0
done
between "all have been hit" \
	"$(awk '$2 > 0 { n++ } END { print n }' "$TRACING/kprobe_profile")" 7 7
is "dynamic_events takes them as well" "$(put "$TRACING/dynamic_events" "p:unified $OPEN")" ok
is "and kprobe_events has no other then" "$(cut -d' ' -f1 "$EVENTS")" p:kprobes/unified

rm -f "/tmp/$TAG-there"
drop_events
finish
