#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Stack traces at the entry of a probed function, at its return, and of a task inside it.  They
# show the function and its real callers, however the entry is served, and also if the graph
# tracer has replaced the return address, too, before or after the probe was registered.

. "$(dirname "$0")/functions.sh"

FUNCTION=cmdline_proc_show
CALLER='seq_read[^ ]*'
SLEEPER=hrtimer_nanosleep
STACKTRACE=$TRACING/options/stacktrace
KP_ST=$TRACING/events/kp_st

begin
[ -w "$EVENTS" ] || skip_all "no kprobe_events in tracefs"
[ -w "$KNOB" ] || skip_all "no probe becomes a jump in this kernel"
[ -n "$(symbol_address $FUNCTION)" ] || skip_all "no $FUNCTION in this kernel"
[ -n "$(symbol_address $SLEEPER)" ] || skip_all "no $SLEEPER in this kernel"
mkdir "$INSTANCE" || skip_all "no instances in tracefs"

# --- Probes and the graph tracer ---

# probe FUNCTION: add a return event, and an event whose handler runs after that of the return
# event has replaced the return address.
probe()
{
	[ "$(event "r:kp_st/return $1")$(event "p:kp_st/entry $1")" = okok ] &&
		echo 1 >"$KP_ST/return/enable" && echo 1 >"$KP_ST/entry/enable"
}

unprobe()
{
	[ -d "$KP_ST" ] || return 0
	echo 0 >"$KP_ST/enable"
	for name in entry return; do
		! grep -q ":kp_st/$name " "$EVENTS" || echo "-:kp_st/$name" >>"$EVENTS"
	done
}

# graph FUNCTION: trace its calls, in the instance.
graph()
{
	echo "$1" >"$INSTANCE/set_ftrace_filter" && echo function_graph >"$INSTANCE/current_tracer"
}

ungraph()
{
	echo nop >"$INSTANCE/current_tracer"
	echo >"$INSTANCE/set_ftrace_filter"
}

clean_up()
{
	unprobe
	[ ! -d "$INSTANCE" ] || ungraph
	cleanup
}
trap clean_up EXIT
set_knob "$STACKTRACE" 0

# is_jump FUNCTION: the optimizer has finished with its entry.
is_jump()
{
	wait_until 20 grep -q "  $1+0x.*\[OPTIMIZED\]" "$KPROBES/list"
}

# --- Traces that handlers take ---

# calls_of EVENT: call the function, and print the stack trace of the last record of that
# event, in a line, innermost function first.
calls_of()
{
	echo >"$TRACING/trace"
	cat /proc/cmdline >/dev/null
	awk -v event=" $1: " '
	index($0, event)	{ wanted = 1; stack = "" }
	/ (entry|return): / && !index($0, event) { wanted = 0 }
	wanted && /^ *=> /	{ stack = stack " " $2 }
	END			{ print stack }' "$TRACING/trace"
}

# from_registers EVENT: a trace that begins with the registers of the hit.
from_registers()
{
	echo 1 >"$STACKTRACE"
	calls_of "$1"
	echo 0 >"$STACKTRACE"
}

# from_handler EVENT FUNCTION: a trace that begins in the handler, without the functions before
# FUNCTION, a regular expression.
from_handler()
{
	echo stacktrace >"$KP_ST/$1/trigger"
	calls_of "$1" | sed "s/.* \\($2 .*\\)/ \\1/"
	echo '!stacktrace' >"$KP_ST/$1/trigger"
}

# traces NAME: all traces are complete.
traces()
{
	traces_with_graph "$1"
	is "$1: at the return, from the registers" "$(from_registers return)" "$callers"
}

# traces_with_graph NAME: the same for the graph tracer.  At the return, the instruction pointer
# in the registers is then the address of the tracer's trampoline.
traces_with_graph()
{
	is "$1: at the entry, from the registers" "$(from_registers entry)" "$entry_registers"
	is "$1: at the entry, from the handler" "$(from_handler entry $FUNCTION)" "$whole"
	is "$1: at the return, from the handler" "$(from_handler return "$CALLER")" "$callers"
}

# No jump, and no other user of the function.  At the entry, a function has not stored its frame
# pointer, and an unwinder that needs it does not find the caller; i386 has no other unwinder.
case $(uname -m) in
i?86)	entry="^ $FUNCTION.* [^ ]*(_sys_|syscall).*" ;;
*)	entry="^ $FUNCTION $CALLER .* [^ ]*(_sys_|syscall).*" ;;
esac
set_knob "$KNOB" 0
echo "p:kp_st/entry $FUNCTION" >>"$EVENTS"
echo 1 >"$KP_ST/entry/enable"
whole=$(from_handler entry $FUNCTION)
entry_registers=$(from_registers entry)
unprobe
matches "at the entry, from the handler: the function, and a system call" "$whole" "$entry"
matches "at the entry, from the registers: the same" "$entry_registers" "$entry"
echo "r:kp_st/return $FUNCTION" >>"$EVENTS"
echo 1 >"$KP_ST/return/enable"
callers=$(from_handler return "$CALLER")
unprobe
matches "at the return, from the handler: the caller, and a system call" "$callers" \
	"^ $CALLER .* [^ ]*(_sys_|syscall).*"

yes "no jump: probes" probe $FUNCTION
traces "no jump"
unprobe

set_knob "$KNOB" 1
yes "a jump: probes" probe $FUNCTION
yes "a jump: it is there" is_jump $FUNCTION
traces "a jump"

if ! grep -qw function_graph "$INSTANCE/available_tracers"; then
	skip "the graph tracer" "this kernel does not have it"
	unprobe
	finish
fi
yes "the graph tracer came second: it is on" graph $FUNCTION
traces_with_graph "the graph tracer came second"
unprobe
yes "the graph tracer came first: probes" probe $FUNCTION
yes "the graph tracer came first: a jump" is_jump $FUNCTION
traces_with_graph "the graph tracer came first"
unprobe
ungraph

# --- Traces of another task ---

# sleeping: the stack of a task inside the function.
sleeping()
{
	sleep 30 &
	wait_until 10 sleeps $!
	stack $!
	kill $!
	wait $! 2>/dev/null
}

plain=$(sleeping)
matches "the function is on the stack of a task that sleeps" \
	"$(printf '%s\n' "$plain" | grep -x $SLEEPER)" "^$SLEEPER\$"
yes "the graph tracer came first: it is on" graph $SLEEPER
yes "the graph tracer came first: probes in its function" probe $SLEEPER
is "the graph tracer came first: /proc/PID/stack" "$(sleeping)" "$plain"
ungraph
is "the graph tracer is off: /proc/PID/stack" "$(sleeping)" "$plain"
yes "the graph tracer came second: it is on again" graph $SLEEPER
is "the graph tracer came second: /proc/PID/stack" "$(sleeping)" "$plain"
unprobe
is "the graph tracer alone: /proc/PID/stack" "$(sleeping)" "$plain"
ungraph

finish
