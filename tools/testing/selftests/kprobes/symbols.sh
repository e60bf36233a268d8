#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A probe on the symbol of a function is accepted and hit, whether or not a tracer traces the
# function, and whether or not the function has a landing pad.  Of the instructions that ftrace
# has at an entry, those that it patches can be probed only if ftrace calls kprobes.

. "$(dirname "$0")/functions.sh"

FUNCTION=cmdline_proc_show
WANTED=300
MANY=/sys/module/kp_many/parameters

begin
TRACED=$TRACING/available_filter_functions
[ -r "$TRACED" ] || skip_all "no function tracer in this kernel"
[ -n "$(symbol_address $FUNCTION)" ] || skip_all "no $FUNCTION in this kernel"
mkdir "$INSTANCE" || skip_all "no instances in tracefs"
load kp_test

untrace()
{
	[ -d "$INSTANCE" ] || return 0
	echo nop >"$INSTANCE/current_tracer"
	echo >"$INSTANCE/set_ftrace_filter"
}
trap 'untrace; rm -f "$WORK"; cleanup' EXIT
WORK=$(mktemp)

# trace_functions: trace the functions that are on the standard input.
trace_functions()
{
	cat >"$INSTANCE/set_ftrace_filter" && echo function >"$INSTANCE/current_tracer"
}

call()
{
	cat /proc/cmdline
}

# --- Every address at the entry of one function ---

# places: result of a probe on each of the first addresses, and its number of hits in a call.
places()
{
	local offset=0 result

	while [ "$offset" -le 16 ]; do
		result=$(kp add a symbol=$FUNCTION offset=$offset)
		[ "$result" != ok ] || result="hit $(gains a call)"
		kp del a >/dev/null
		echo "+$offset $result"
		offset=$((offset + INSN_STEP))
	done
}

plain=$(places)
note "$plain"
is "a probe on the symbol" "$(echo "$plain" | sed -n 1p)" "+0 hit 1"
echo $FUNCTION | trace_functions
is "the same places can be probed while the function is traced" "$(places)" "$plain"
kp add a symbol=$FUNCTION >/dev/null
echo >"$INSTANCE/trace"
is "both: a hit, and a record" "$(gains a call) $(grep -c $FUNCTION "$INSTANCE/trace")" "1 1"
untrace
is "the tracer has gone: a hit" "$(gains a call)" 1
echo $FUNCTION | trace_functions
is "the tracer is back: a hit" "$(gains a call)" 1
kp del a >/dev/null
untrace

# The instructions that ftrace patches, and those after them.
start=$((0x$(symbol_address $FUNCTION)))
site=$(awk -v name=$FUNCTION '$2 == name { print $1; exit }' "${TRACED}_addrs" 2>/dev/null)
if [ -n "$site" ]; then
	site=$((0x${site#0x} - start))
	[ -n "$ON_FTRACE" ] && wanted="hit 1" || wanted=EINVAL
	is "a probe on ftrace's instruction" "$(echo "$plain" | sed -n "s/^+$site //p")" "$wanted"
else
	skip "a probe on ftrace's instruction" "this kernel does not list their addresses"
fi

# --- The symbols of many functions ---

# functions: "ADDRESS NAME" of functions from all over the kernel, whose names are unique, that
# can be traced and are not blacklisted.  A part (name.part.0) is blacklisted with its function.
functions()
{
	awk -v wanted=$WANTED '
	FILENAME ~ /blacklist$/ { sub(/.*\t/, ""); black[$1]; next }
	FILENAME ~ /kallsyms$/ { times[$3]++; if ($2 ~ /[tT]/ && NF == 3) addr[$3] = $1; next }
	{ whole = $1; sub(/\..*/, "", whole) }
	NF == 1 && times[$1] == 1 && $1 in addr && !(whole in black) { all[n++] = $1 }
	END {
		step = int(n / wanted)
		for (i = 0; i < wanted; i++)
			print addr[all[i * step]], all[i * step]
	}' "$KPROBES/blacklist" /proc/kallsyms "$TRACED"
}

functions >"$WORK"
is "there are functions" "$(sort -u "$WORK" | wc -l)" $WANTED

# probe_all NAME: probe all symbols.
probe_all()
{
	local address name

	load kp_many
	is "$1: all symbols are accepted" "$(while read -r address name; do
		echo "$address 0 k" >"$MANY/add" 2>/dev/null || echo "$name"
	done <"$WORK")" ""
	is "$1: all are registered" "$(cat "$MANY/accepted")" $WANTED
}

# are_hit NAME: call functions all over the kernel; some of them are probed.
are_hit()
{
	local before

	before=$(cat "$MANY/hits")
	ls -lR /proc/self/task /sys/bus >/dev/null 2>&1
	between "$1: hits" $(($(cat "$MANY/hits") - before)) 100 1000000000
}

probe_all "not traced"
are_hit "not traced"
cut -d' ' -f2 "$WORK" | trace_functions
between "a tracer came: functions that it traces" \
	"$(wc -l <"$TRACING/enabled_functions")" $((WANTED - 10)) 1000000
are_hit "a tracer came"
unload kp_many
probe_all "traced"
are_hit "traced"
untrace
are_hit "the tracer has gone"
unload kp_many

finish
