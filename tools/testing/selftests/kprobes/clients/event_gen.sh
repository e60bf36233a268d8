#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# kprobe_event_gen_test makes kprobe events from within the kernel.

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
found=$(trace_of open_tagged missing)
matches "the probe's records" "$(printf '%s\n' "$found" | grep ' gen_kprobe_test: ')" \
	'\(do_sys_open\+0x[04]/0x[0-9a-f]+\) dfd=0x[0-9a-f]+ filename=0x[0-9a-f]+ flags=0x[0-9a-f]+ mode=0x[0-9a-f]+$'
matches "the return probe's" "$(printf '%s\n' "$found" | grep ' gen_kretprobe_test: ')" \
	'\([^ ]+ <- do_sys_open\) arg1=(0x[0-9a-f]+|-?[0-9]+)$'
yes "unloads" rmmod $MODULE
is "no event is left" "$(cat "$EVENTS")" ""
finish
