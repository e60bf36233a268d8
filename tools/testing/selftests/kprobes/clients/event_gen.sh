#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# kprobe_event_gen_test creates kprobe events in the kernel.

. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/client_functions.sh"

MODULE=kprobe_event_gen_test

begin
modinfo $MODULE >/dev/null 2>&1 || skip_all "$MODULE has not been built"
begin_events

yes "loads" modprobe $MODULE
matches "two events are there" "$(cut -d' ' -f1,2 "$EVENTS" | sort | tr '\n' ';')" \
	'^p:kprobes/gen_kprobe_test do_sys_open;r[0-9]*:kprobes/gen_kretprobe_test do_sys_open;$'
is "both are on" \
	"$(cat "$TRACING/events/kprobes/gen_kprobe_test/enable" \
		"$TRACING/events/kprobes/gen_kretprobe_test/enable" | tr '\n' ' ')" "1 1 "
# Compilers inline do_sys_open() into its callers, and emit a function without a caller.
echo "p:kprobes/inner do_sys_openat2" >>"$EVENTS"
echo 1 >"$TRACING/events/kprobes/inner/enable"
found=$(trace_of open_tagged missing)
echo 0 >"$TRACING/events/kprobes/inner/enable"
echo "-:kprobes/inner" >>"$EVENTS"
matches "a file is opened" "$(printf '%s\n' "$found" | grep ' inner: ' | head -n 1)" \
	'\(do_sys_openat2\+0x[04]/0x[0-9a-f]+\)$'
if printf '%s\n' "$found" | grep -q 'do_sys_open[+)]'; then
	matches "the probe's records" "$(printf '%s\n' "$found" | grep ' gen_kprobe_test: ')" \
		'\(do_sys_open\+0x[04]/0x[0-9a-f]+\) dfd=0x[0-9a-f]+ filename=0x[0-9a-f]+ flags=0x[0-9a-f]+ mode=0x[0-9a-f]+$'
	matches "the return probe's" \
		"$(printf '%s\n' "$found" | grep ' gen_kretprobe_test: ')" \
		'\([^ ]+ <- do_sys_open\) arg1=(0x[0-9a-f]+|-?[0-9]+)$'
else
	skip "the probe's records" "nothing here calls do_sys_open()"
	skip "the return probe's" "nothing here calls do_sys_open()"
fi
yes "unloads" rmmod $MODULE
is "no event is left" "$(cat "$EVENTS")" ""
finish
