#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Events in uprobe_events: their records, their filters, counts, several instructions with
# one name, and errors.

. "$(dirname "$0")/functions.sh"

# records NAME: the arguments in the records of an event, without parts that differ between runs.
records()
{
	sed -nE "s/.*: $1: \(0x[0-9a-f]+( <- 0x[0-9a-f]+)?\) ?//p" "$TRACING/trace"
}

# profile NAME: hits in uprobe_profile.
profile()
{
	awk -v name="$1" '$2 == name { print $3 }' "$TRACING/uprobe_profile"
}

switch()
{
	echo "$2" >"$TRACING/events/uprobes/$1/enable"
}

begin
case $(uname -m) in
aarch64) ip=%pc ;;
*)	ip=%ip ;;
esac
first=$(first_argument)
plain=$(offset plain)
counted=$(offset counted)

echo >"$TRACING/trace"
is "an event is defined" "$(define "p:plain $TARGET:$plain value=$first code=+0($ip):x8")" ok
is "a return event is defined" "$(define "r:back $TARGET:$plain result=\$retval")" ok
is "both are listed" \
	"$(sed -nE "s,^([pr]:uprobes/[a-z]+) .*/target:0x0*${plain#0x}( .*)?\$,\1,p" \
		"$UPROBE_EVENTS" | tr '\n' ' ')" "p:uprobes/plain r:uprobes/back "
switch plain 1
switch back 1
is "calls have their result" "$(call plain 3)" 3
switch plain 0
switch back 0
is "the event records the argument" "$(records plain | sed 's/ code=.*//' | tr '\n' ' ')" \
	"value=0 value=1 value=2 "
is "the return event records the result" "$(records back | tr '\n' ' ')" \
	"result=0x1 result=0x2 result=0x3 "
is "the profile counts" "$(profile plain) $(profile back)" "3 3"
call plain 3 >/dev/null
is "a disabled event does not count" "$(profile plain)" 3

echo >"$TRACING/trace"
echo "value == 1" >"$TRACING/events/uprobes/plain/filter"
switch plain 1
call plain 5 >/dev/null
switch plain 0
is "a filter" "$(records plain | sed 's/ code=.*//' | tr '\n' ' ')" "value=1 "
echo 0 >"$TRACING/events/uprobes/plain/filter"

is "the counter of users in an event" \
	"$(define "p:users $TARGET:$counted($(offset counter))")" ok
switch users 1
is "it is 1 while the event is enabled" "$(call counter 1)" 1
switch users 0
is "it is 0 afterwards" "$(call counter 1)" 0
is "an event there without a counter is refused" "$(define "p:none $TARGET:$counted")" EINVAL
define "-:users" >/dev/null

is "another instruction with the same name" \
	"$(define "p:plain $TARGET:$counted value=$first code=+0($ip):x8")" ok
echo >"$TRACING/trace"
switch plain 1
call counted 2 >/dev/null
call plain 1 >/dev/null
switch plain 0
is "both record" "$(records plain | sed 's/ code=.*//' | tr '\n' ' ')" "value=0 value=1 value=0 "

is "an event is removed" "$(define "-:uprobes/back")" ok
define "p:single $TARGET:$plain" >/dev/null
switch single 1
is "an enabled event cannot be removed" "$(define "-:uprobes/single")" EBUSY
switch single 0
# The kernel's own uprobes free a probe whose consumer is registered.
if [ -d /sys/kernel/debug/uprobes ]; then
	switch plain 1
	is "nor one at two instructions" "$(define "-:uprobes/plain")" EBUSY
	is "both are still there" "$(grep -c 'uprobes/plain ' "$UPROBE_EVENTS")" 2
	switch plain 0
else
	skip "nor one at two instructions" "this kernel would use freed memory"
fi
echo >"$UPROBE_EVENTS"
is "all are removed" "$(cat "$UPROBE_EVENTS")" ""

is "no such file" "$(define "p:x /nonexistent:0x10")" ENOENT
is "a directory" "$(define "p:x /tmp:0x10")" EINVAL
is "no offset" "$(define "p:x $TARGET")" EINVAL
if ! grep -q ' register_uprobe_process_notifier$' /proc/kallsyms; then
	is "an event of a process, without such probes" "$(define "p:x pid:$$:0x1000")" EINVAL
fi
is "a bad register" "$(define "p:x $TARGET:$plain %nothing")" EINVAL
is "the same twice" "$(define "p:x $TARGET:$plain") $(define "p:x $TARGET:$plain")" "ok EEXIST"
is "an offset after the end: enabling fails" \
	"$(define "p:y $TARGET:0x10000000") $(put "$TRACING/events/uprobes/y/enable" 1)" "ok EINVAL"

# An instance has records of its own.
mkdir "$TRACING/instances/uprobes-test"
echo 1 >"$TRACING/instances/uprobes-test/events/uprobes/x/enable"
call plain 4 >/dev/null
echo 0 >"$TRACING/instances/uprobes-test/events/uprobes/x/enable"
is "an instance records" "$(grep -c ': x: ' "$TRACING/instances/uprobes-test/trace")" 4
rmdir "$TRACING/instances/uprobes-test"

finish
