#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# An event that the kernel's command line defines, with kprobe_event=: it
# exists and is on before the first process starts, and behaves like any other event.

. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/client_functions.sh"

# The parameter has commas instead of the blanks of an event's definition.
wanted=$(tr ' ' '\n' </proc/cmdline | sed -n 's/^kprobe_event=//p' | tail -n 1 | tr , ' ')

begin
[ -w "$EVENTS" ] || skip_all "no kprobe_events in tracefs"
[ -n "$wanted" ] || skip_all "no kprobe_event= on the kernel's command line"
name=$(printf '%s\n' "$wanted" | sed -nE 's,^p:([a-z]+) .*,\1,p')
[ -n "$name" ] || skip_all "kprobe_event= is not one probe with a name"

is "the event is there, with the arguments that it was given" "$(cat "$EVENTS")" \
	"$(printf '%s\n' "$wanted" | sed "s,^p:,p:kprobes/,")"
is "the event is on" "$(cat "$TRACING/events/kprobes/$name/enable")" 1
between "it has been hit before a program could turn it on" "$(profile "$name" 2)" 1 100000000
is "nothing was missed" "$(profile "$name" 3)" 0
between "its records are in the trace" \
	"$(trace_of open_tagged missing | grep -c " $name: .*dfd=0x[0-9a-f]*ffffff9c")" 1 10

# The other tests start without events.
turn "kprobes/$name" 0
is "the event can be removed" "$(event "-:$name")" ok
is "no event is left" "$(cat "$EVENTS")" ""
echo >"$TRACING/trace"
list_before=
finish
