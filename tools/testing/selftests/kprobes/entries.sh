#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A probe at the entry of a function, together with every other user of the entry, attached
# in both orders: the function tracers, fprobe, other probes there and after it.

. "$(dirname "$0")/functions.sh"

FUNCTION=kp_test_traced
DYNAMIC=$TRACING/dynamic_events

begin
[ -n "$ON_FTRACE" ] || skip_all "ftrace owns no entry here"
[ -w "$KNOB" ] || skip_all "no probe becomes a jump in this kernel"
set_knob "$KNOB" 1
load kp_test
mkdir "$INSTANCE" || skip_all "no instances in tracefs"

drop_others()
{
	echo nop >"$INSTANCE/current_tracer" 2>/dev/null
	[ ! -d "$INSTANCE" ] || rmdir "$INSTANCE"
	[ ! -e "$DYNAMIC" ] || sed -n 's,^[ft][0-9]*:\(kp_st/[^ ]*\) .*,-:\1,p' "$DYNAMIC" |
		while read -r event; do
			echo "$event" >>"$DYNAMIC"
		done
	set_filter ''
}

# set_filter FUNCTION: of the function tracers in the instance.
set_filter()
{
	[ ! -d "$INSTANCE" ] || echo "$1" >"$INSTANCE/set_ftrace_filter"
}
trap 'drop_others; cleanup' EXIT

# state: how the entry is served.
state()
{
	optimization "$FUNCTION+0x$ENTRY" | sed 's/ *$//'
}

calls()
{
	local i=0

	while [ "$i" -lt 5 ]; do
		i=$((i + 1))
		kp call traced >/dev/null
	done
}

# The other users.  on_USER attaches it, off_USER detaches it; seen_USER prints the number of
# calls that it has seen since it was attached.

on_function()
{
	set_filter "$FUNCTION" && echo function >"$INSTANCE/current_tracer"
}

off_function()
{
	echo nop >"$INSTANCE/current_tracer"
}

seen_function()
{
	grep -c "$FUNCTION" "$INSTANCE/trace"
}

on_graph()
{
	set_filter "$FUNCTION" && echo function_graph >"$INSTANCE/current_tracer"
}

off_graph()
{
	off_function
}

# A call that is interrupted has a line for its end, too, without parentheses.
seen_graph()
{
	grep -c "$FUNCTION.*()" "$INSTANCE/trace"
}

# An fprobe event; its text is in $1, and its name is "other".
on_fprobe()
{
	echo "$1" >>"$DYNAMIC" && echo 1 >"$INSTANCE/events/kp_st/other/enable"
}

on_fprobe_entry()
{
	on_fprobe "f:kp_st/other $FUNCTION"
}

on_fprobe_exit()
{
	on_fprobe "f:kp_st/other $FUNCTION%return"
}

off_fprobe_entry()
{
	echo 0 >"$INSTANCE/events/kp_st/other/enable" && echo "-:kp_st/other" >>"$DYNAMIC"
}

off_fprobe_exit()
{
	off_fprobe_entry
}

seen_fprobe_entry()
{
	grep -c ' other: ' "$INSTANCE/trace"
}

seen_fprobe_exit()
{
	seen_fprobe_entry
}

on_kprobe()
{
	[ "$(kp add other symbol=$FUNCTION)" = ok ]
}

off_kprobe()
{
	kp del other >/dev/null
}

seen_kprobe()
{
	hits other
}

on_after()
{
	[ "$(kp add other symbol=$FUNCTION offset=$((ENTRY + 5)))" = ok ]
}

off_after()
{
	off_kprobe
}

seen_after()
{
	hits other
}

on_return()
{
	[ "$(kp add other symbol=$FUNCTION return)" = ok ]
}

off_return()
{
	off_kprobe
}

seen_return()
{
	count other after
}

# settled: the optimizer has finished with the entry.
settled()
{
	wait_until 20 grep -q "  $FUNCTION+0x$ENTRY  .*\[OPTIMIZED\]" "$KPROBES/list"
}

# available USER: this kernel has it.  Every kernel has probes.
available()
{
	local status=0

	case $1 in
	kprobe|after|return)	return ;;
	esac
	"on_$1" 2>/dev/null || status=1
	"off_$1" >/dev/null 2>&1
	return "$status"
}

# pair USER WORD...: our probe, described by the words, and the other user, in both orders.
pair()
{
	local user="$1" column=hits
	local name="$*"

	shift
	[ "$*" != return ] || column=after

	if ! available "$user"; then
		skip "$name" "this kernel does not have it"
		return
	fi
	echo >"$INSTANCE/trace"
	kp add ours "symbol=$FUNCTION" "$@" >/dev/null
	"on_$user"
	calls
	is "$name: ours came first" "$(count ours $column) $("seen_$user")" "5 5"
	yes "$name: it is a jump" settled
	calls
	is "$name: and as a jump" "$(count ours $column) $("seen_$user")" "10 10"
	"off_$user"
	calls
	is "$name: ours alone" "$(count ours $column)" 15
	kp del ours >/dev/null

	echo >"$INSTANCE/trace"
	"on_$user"
	kp add ours "symbol=$FUNCTION" "$@" >/dev/null
	calls
	is "$name: ours came second" "$(count ours $column) $("seen_$user")" "5 5"
	is "$name: the entry is carried" "$(state)" carried
	yes "$name: it is a jump" settled
	calls
	is "$name: ours came second, as a jump" "$(count ours $column) $("seen_$user")" "10 10"
	kp del ours >/dev/null
	calls
	is "$name: the other alone" "$("seen_$user")" 15
	"off_$user"
}

for user in function graph fprobe_entry fprobe_exit kprobe after return; do
	pair "$user"
	pair "$user" return
	pair "$user" post
done

# A direct caller that returns to the caller of the function, as a BPF program can.

skip_on()
{
	insmod "$HERE/test_modules/kp_skip.ko" "address=0x$(symbol_address $FUNCTION)"
}

skipped_calls()
{
	cat /sys/module/kp_skip/parameters/calls
}

check_skipped()
{
	kp add ours "symbol=$FUNCTION" >/dev/null
	calls
	yes "skipped function: it is a jump" settled
	skip_on
	is "skipped function: the entry is not carried" "$(state)" ftrace
	calls
	is "skipped function: ours came first" "$(hits ours) $(skipped_calls)" "10 5"
	rmmod kp_skip
	kp del ours >/dev/null
	skip_on
	kp add ours "symbol=$FUNCTION" >/dev/null
	calls
	is "skipped function: ours came second" "$(hits ours) $(skipped_calls)" "5 5"
	kp del ours >/dev/null
	rmmod kp_skip
}

if [ -f "$HERE/test_modules/kp_skip.ko" ]; then
	check_skipped
else
	skip "skipped function" "this kernel has no direct callers"
fi

drop_others
finish
