#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A live patch and probes on the entry of the function that it replaces, in both orders: the
# patch takes effect, its transitions end, and no call is missed by the probes.

. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/client_functions.sh"

FUNCTION=cmdline_proc_show
PATCH=/sys/kernel/livepatch/kp_livepatch
CALLS=5

begin
[ -d /sys/kernel/livepatch ] || skip_all "no live patching in this kernel"
[ -n "$(symbol_address $FUNCTION)" ] || skip_all "no $FUNCTION in this kernel"
begin_events
trap 'end_patch; drop_events; cleanup' EXIT
plain=$(cat /proc/cmdline)

# end_patch: disable the patch, if a check has failed before.
end_patch()
{
	[ ! -d $PATCH ] || echo 0 >$PATCH/enabled
	wait_until 60 has_gone
}

calls()
{
	local i=0

	while [ "$i" -lt $CALLS ]; do
		i=$((i + 1))
		cat /proc/cmdline
	done | sort -u
}

# counts: hits of both events, which are added and removed together.
counts()
{
	echo "$(profile entry 2) $(profile return 2)"
}

probe()
{
	event "p:kp_lp/entry $FUNCTION" >/dev/null
	event "r:kp_lp/return $FUNCTION" >/dev/null
	turn kp_lp/entry 1 && turn kp_lp/return 1
}

unprobe()
{
	turn kp_lp/entry 0
	turn kp_lp/return 0
	echo >"$EVENTS"
}

# Some implementations of kprobes serve an entry by a jump, and show how it is served.
if [ -r "$KPROBES/optimization" ] && [ -w "$KNOB" ]; then
	set_knob "$KNOB" 1
	CARRIED="carried"
	OWNED="ftrace [FTRACE]"
else
	CARRIED=
	OWNED=
fi

# state: how the entry is served, and the mark of the list.
state()
{
	[ -n "$CARRIED" ] || return 0
	awk -F '  ' -v at="$FUNCTION+0x" '
	FILENAME ~ /list$/ {
		if (index($3, at) == 1 && /\[FTRACE\]/)
			mark = " [FTRACE]"
		next
	}
	index($2, at) == 1 && $3 ~ /carried|ftrace/ { print $3 mark }' \
		"$KPROBES/list" "$KPROBES/optimization"
}

is_jump()
{
	grep -q "  $FUNCTION+0x.*\[OPTIMIZED\]" "$KPROBES/list"
}

settled()
{
	[ "$(cat $PATCH/transition)" = 0 ]
}

load_patch()
{
	load kp_livepatch
	yes "$1: the transition to the patch ends" wait_until 60 settled
}

has_gone()
{
	[ ! -d $PATCH ]
}

unload_patch()
{
	echo 0 >$PATCH/enabled
	yes "$1: the transition from the patch ends" wait_until 60 has_gone
	unload kp_livepatch
}

# check NAME TEXT CALLS STATE: /proc/cmdline has the text, and every call is counted.
check()
{
	is "$1: the function's result" "$(calls)" "$2"
	is "$1: hits of the entry, and of the return" "$(counts)" "$3 $3"
	is "$1: how the entry is served" "$(state)" "$4"
}

# --- The probes came first ---

probe
check "probed" "$plain" 5 "$CARRIED"
if [ -n "$CARRIED" ]; then
	yes "probed: a jump" wait_until 20 is_jump
fi
load_patch "probed first"
check "probed, patched" kp_livepatch 10 "$OWNED"
unload_patch "probed first"
check "probed, patched, unpatched" "$plain" 15 "$OWNED"
load_patch "probed first, again"
check "probed, patched again" kp_livepatch 20 "$OWNED"
unprobe
is "probed, patched again, unprobed" "$(calls)" kp_livepatch
unload_patch "probed first, again"
is "neither" "$(calls)" "$plain"

# --- The patch came first ---

load_patch "patched first"
probe
check "patched, probed" kp_livepatch 5 "$OWNED"
unload_patch "patched first"
check "patched, probed, unpatched" "$plain" 10 "$OWNED"
unprobe
probe
check "probed again" "$plain" 5 "$CARRIED"
unprobe

# --- A task sleeps in the function of a probe, while the patch comes ---

# The trampoline of the return probe is on the task's stack, and the stack is reliable.  If it were
# not, the kernel would interrupt the call after 15 seconds, and another function would restart it.
event "r:kp_lp/slept hrtimer_nanosleep" >/dev/null
turn kp_lp/slept 1
sleep 300 &
sleeper=$!
wait_until 10 grep -q nanosleep "/proc/$sleeper/stack"
load_patch "a task sleeps in a probed function"
unload_patch "a task sleeps in a probed function"
yes "a task sleeps in a probed function: it was not interrupted" \
	grep -q 'hrtimer_nanosleep+' "/proc/$sleeper/stack"
kill "$sleeper"
wait "$sleeper" 2>/dev/null
turn kp_lp/slept 0

drop_events
finish
