#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes of x32 processes, which have the registers of 64 bits and addresses of 32: probes of a
# file, and of a process by pid and address.

. "$(dirname "$0")/functions.sh"

TARGET=$HERE/target_x32
"$TARGET" offsets >/dev/null 2>&1 || skip_all "no programs for x32"

begin
need_process_probes

echo >"$TRACING/trace"
is "a probe of the file" "$(define "p:first $TARGET:$(offset plain) value=%di:u64")" ok
is "one of its returns" "$(define "r:back $TARGET:$(offset plain) result=\$retval:u64")" ok
is "one of a jump over code" "$(define "p:other $TARGET:$(offset skipped)")" ok
echo 1 >"$TRACING/events/uprobes/enable"
is "a function is called" "$(call plain 4)" 4
is "its arguments" "$(sed -nE 's/.* first: .* value=//p' "$TRACING/trace" | tr '\n' ' ')" \
	"0 1 2 3 "
is "its results" "$(sed -nE 's/.* back: .* result=//p' "$TRACING/trace" | tr '\n' ' ')" \
	"1 2 3 4 "
call skipped 2 >/dev/null
is "hits of the other function" "$(hits other)" 2
echo 0 >"$TRACING/events/uprobes/enable"
echo >"$UPROBE_EVENTS"

# A push, an address that is computed, a pop: all instructions of a function but the last.
start_twice plain 3
echo >"$TRACING/trace"
for name in first second third; do
	is "a probe of the process: $name" \
		"$(define "p:$name pid:$waiting:$(instruction "$name")")" ok
done
is "its returns" "$(define "r:back pid:$waiting:$(address plain)")" ok
echo 1 >"$TRACING/events/uprobes/enable"
call plain 4 >/dev/null
is "another process has no hits" "$(hits first)" 0
is "the process goes on" "$(go)" 3
wait "$waiting"
is "hits of each probe" "$(hits first) $(hits second) $(hits third) $(hits back)" "3 3 3 3"
echo 0 >"$TRACING/events/uprobes/enable"

finish
