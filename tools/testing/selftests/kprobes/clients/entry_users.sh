#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Two users of the entry of one function at once, in both orders of attaching: BPF programs,
# error injection, kprobe events, the function tracer, fprobe events.  Each sees all calls, and
# BPF programs get the address of the function.  An error that a probe injects ends the hit, so
# probes that came later are not called.

. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/client_functions.sh"

FAIL=/sys/kernel/debug/fail_function
CALLS=5
DYNAMIC=$TRACING/dynamic_events

begin
[ -x "$HERE/bpf_kprobe" ] || skip_all "bpf_kprobe has not been built"
[ -n "$(symbol_address bpf_get_func_ip_kprobe)" ] || skip_all "no BPF on kprobes in this kernel"
[ -d "$FAIL" ] || skip_all "no fail_function in debugfs"
# A system call that nothing else makes; errors can be injected into all of them.
FUNCTION=$(call_function sched_get_priority_max)
[ -n "$FUNCTION" ] || skip_all "the function of sched_get_priority_max() is not found"
ADDRESS=$(symbol_address "$FUNCTION" | sed 's/^0*//')
case $(uname -m) in
*64)	EIO=0xfffffffffffffffb ;;
*)	EIO=0xfffffffb ;;
esac
begin_events
mkdir "$INSTANCE" || skip_all "no instances in tracefs"
PIPES=$(mktemp -d)

drop_users()
{
	exec 5>&- 6<&- 7>&- 8<&-
	echo >"$FAIL/inject"
	if [ -d "$INSTANCE" ]; then
		echo nop >"$INSTANCE/current_tracer"
		echo >"$INSTANCE/set_ftrace_filter"
		echo 0 >"$INSTANCE/events/enable"
	fi
	drop_events
	[ ! -e "$DYNAMIC" ] || echo >"$DYNAMIC"
	rm -rf "$PIPES"
	[ ! -d "$INSTANCE" ] || rmdir "$INSTANCE"
}
trap 'drop_users; cleanup' EXIT

# calls: the numbers of calls with the normal result and with the injected one.
calls()
{
	"$HERE/bpf_kprobe" call $CALLS
}

# --- Users ---
#
# on_USER SIDE attaches the user, off_USER SIDE detaches it, seen_USER SIDE prints the number
# of calls that the user has seen since it was attached.  SIDE is "a" or "b".

# bpf SIDE KIND: start a program that attaches a BPF program, and that is asked through pipes.
bpf()
{
	local in="$PIPES/in-$1" out="$PIPES/out-$1" answer=

	rm -f "$in" "$out"
	mkfifo "$in" "$out"
	"$HERE/bpf_kprobe" "$2" "$FUNCTION" <"$in" >"$out" 5>&- 6<&- 7>&- 8<&- &
	case $1 in
	a)	exec 5>"$in" 6<"$out" ;;
	b)	exec 7>"$in" 8<"$out" ;;
	esac
	eval "bpf_$1=$!"
	bpf_answer "$1" && [ "$answer" = attached ]
}

# bpf_answer SIDE: read a line into "answer".
bpf_answer()
{
	case $1 in
	a)	read -r answer <&6 ;;
	b)	read -r answer <&8 ;;
	esac
}

bpf_off()
{
	case $1 in
	a)	exec 5>&- 6<&- ; wait "$bpf_a" ;;
	b)	exec 7>&- 8<&- ; wait "$bpf_b" ;;
	esac
}

# bpf_seen SIDE: the number of runs, and the address if it is not that of the function.
bpf_seen()
{
	local answer

	case $1 in
	a)	echo >&5 ;;
	b)	echo >&7 ;;
	esac
	bpf_answer "$1"
	case $answer in
	*" $ADDRESS"|"0 0")	echo "${answer% *}" ;;
	*)			echo "$answer" ;;
	esac
}

on_bpf()		{ bpf "$1" probe; }
on_bpf_return()		{ bpf "$1" return; }
on_bpf_multi()		{ bpf "$1" multi; }
on_bpf_multi_return()	{ bpf "$1" multi_return; }
on_override()		{ bpf "$1" override; }
on_multi_override()	{ bpf "$1" multi_override; }
off_bpf()		{ bpf_off "$1"; }
off_bpf_return()	{ bpf_off "$1"; }
off_bpf_multi()		{ bpf_off "$1"; }
off_bpf_multi_return()	{ bpf_off "$1"; }
off_override()		{ bpf_off "$1"; }
off_multi_override()	{ bpf_off "$1"; }
seen_bpf()		{ bpf_seen "$1"; }
seen_bpf_return()	{ bpf_seen "$1"; }
seen_bpf_multi()	{ bpf_seen "$1"; }
seen_bpf_multi_return()	{ bpf_seen "$1"; }
seen_override()		{ bpf_seen "$1"; }
seen_multi_override()	{ bpf_seen "$1"; }

on_event()
{
	[ "$(event "p:kp_eu/entry $FUNCTION")" = ok ] && turn kp_eu/entry 1
}

off_event()
{
	turn kp_eu/entry 0
	echo "-:kp_eu/entry" >>"$EVENTS"
}

seen_event()
{
	profile entry 2
}

on_return_event()
{
	[ "$(event "r:kp_eu/return $FUNCTION")" = ok ] && turn kp_eu/return 1
}

off_return_event()
{
	turn kp_eu/return 0
	echo "-:kp_eu/return" >>"$EVENTS"
}

seen_return_event()
{
	profile return 2
}

on_function()
{
	echo >"$INSTANCE/trace"
	echo "$FUNCTION" >"$INSTANCE/set_ftrace_filter" &&
		echo function >"$INSTANCE/current_tracer"
}

off_function()
{
	echo nop >"$INSTANCE/current_tracer"
	echo >"$INSTANCE/set_ftrace_filter"
}

seen_function()
{
	grep -c "$FUNCTION" "$INSTANCE/trace"
}

# fprobe TEXT
fprobe()
{
	echo >"$INSTANCE/trace"
	echo "f:kp_eu/fprobe $1" >>"$DYNAMIC" && echo 1 >"$INSTANCE/events/kp_eu/fprobe/enable"
}

on_fprobe()
{
	fprobe "$FUNCTION"
}

on_fprobe_exit()
{
	fprobe "$FUNCTION%return"
}

off_fprobe()
{
	echo 0 >"$INSTANCE/events/kp_eu/fprobe/enable"
	echo "-:kp_eu/fprobe" >>"$DYNAMIC"
}

off_fprobe_exit()
{
	off_fprobe
}

seen_fprobe()
{
	grep -c ' fprobe: ' "$INSTANCE/trace"
}

seen_fprobe_exit()
{
	seen_fprobe
}

on_fail()
{
	[ "$(put "$FAIL/inject" "$FUNCTION")" = ok ] &&
		[ "$(put "$FAIL/$FUNCTION/retval" $EIO)" = ok ]
}

off_fail()
{
	echo "!$FUNCTION" >"$FAIL/inject"
}

# It has no counter; the results of the calls show its effect.
seen_fail()
{
	echo -
}

set_knob "$FAIL/verbose" 0
set_knob "$FAIL/probability" 100
set_knob "$FAIL/times" -1

# --- Pairs ---

# is_probe USER: it has a probe.  Others are called by ftrace itself.
is_probe()
{
	case $1 in
	bpf|bpf_return|override|event|return_event|fail)	true ;;
	*)							false ;;
	esac
}

injects()
{
	case $1 in
	override|multi_override|fail)	true ;;
	*)				false ;;
	esac
}

# On arm64, the probe of a function is in front of the instruction that calls ftrace.
is_in_front()
{
	[ "$(uname -m)" = aarch64 ]
}

# sees USER OTHER FIRST CALLS: the number that the user has to see, of so many calls.
sees()
{
	if [ "$1" = fail ]; then
		echo -
	elif injects "$2" && ! is_probe "$1" && is_in_front; then
		echo 0
	elif [ "$3" != "$1" ] && injects "$2" && is_probe "$1" && is_probe "$2"; then
		echo 0
	else
		echo "$4"
	fi
}

# results USER...: of the calls, if these users are attached.
results()
{
	local user

	for user in "$@"; do
		if injects "$user"; then
			echo "0 $CALLS"
			return
		fi
	done
	echo "$CALLS 0"
}

# Some implementations of kprobes serve an entry by a jump, after a moment.
JUMP=
if [ -r "$KPROBES/optimization" ] && [ -w "$KNOB" ]; then
	set_knob "$KNOB" 1
	JUMP=jump
fi

# has_jump: the list has a probe of the function that is served by a jump.
has_jump()
{
	grep -q "  $FUNCTION+0x.*\[OPTIMIZED\]" "$KPROBES/list"
}

# jump [SECONDS]: wait until there is one, or do not wait, and print whether it is there.
jump()
{
	[ -z "$JUMP" ] || ! wait_until "${1:-0}" has_jump || echo jump
}

# jumps FIRST SECOND: "jump" if the function has one.  Where a BPF program that ftrace calls may
# send calls elsewhere, ftrace calls the probes, too, unless they are in front of its instruction.
jumps()
{
	is_probe "$1" || is_probe "$2" || return 0
	case "$1 $2" in
	*multi_override*)	! is_in_front || echo "$JUMP" ;;
	*)			echo "$JUMP" ;;
	esac
}

# ordered FIRST SECOND
ordered()
{
	local name="$1, then $2" first second wanted

	if ! "on_$1" a || ! "on_$2" b; then
		note "$name: cannot be attached"
	fi
	first=$(calls)
	wanted=$(jumps "$1" "$2")
	[ -z "$wanted" ] || jump 20 >/dev/null
	second=$(calls)
	is "$name: calls" "$("seen_$1" a), $("seen_$2" b); $first, $second; $(jump)" \
		"$(sees "$1" "$2" "$1" 10), $(sees "$2" "$1" "$1" 10); $(results "$1" "$2"), \
$(results "$1" "$2"); $wanted"
	"off_$1" a
	first=$(calls)
	second=$(sees "$2" "$1" "$1" 10)
	[ "$second" = - ] || second=$((second + CALLS))
	is "$name: the second alone" "$("seen_$2" b); $first" "$second; $(results "$2")"
	"off_$2" b
}

pair()
{
	ordered "$1" "$2"
	ordered "$2" "$1"
}

# usable USER...: those that this kernel has.
usable()
{
	local user

	for user in "$@"; do
		if "on_$user" a 2>/dev/null; then
			echo "$user"
		fi
		"off_$user" a >/dev/null 2>&1
	done
}

others=$(usable event return_event function fprobe fprobe_exit)
multis=$(usable bpf_multi bpf_multi_return)
multi_override=$(usable multi_override)
note "others: $(echo "$others" | tr '\n' ' ')$(echo "$multis" | tr '\n' ' ')$multi_override"

# Without this, pairs would be left out in silence. i386 has no fprobe, nor has arm64 on Linux 6.12.
wanted="event return_event function"
if grep -q ' register_fprobe$' /proc/kallsyms; then
	wanted="$wanted fprobe fprobe_exit bpf_multi bpf_multi_return multi_override"
fi
is "all users can be attached" "$(echo $others $multis $multi_override)" "$wanted"

pair event return_event
for user in event return_event; do
	for other in $(echo "$others" | grep -v event); do
		pair "$user" "$other"
	done
done
for user in $multis; do
	pair "$user" function
done
for user in bpf bpf_return; do
	for other in $others $multis override fail; do
		pair "$user" "$other"
	done
done
for user in $multis; do
	for other in event return_event override fail; do
		pair "$user" "$other"
	done
done
for other in $others fail; do
	pair override "$other"
done
for user in $multi_override; do
	for other in bpf bpf_return $others; do
		pair "$user" "$other"
	done
done
for other in $others; do
	pair fail "$other"
done

# is_free: no probe, no event, and no user of ftrace is left.  Most of them change no result.
is_free()
{
	[ -z "$(list; cat "$EVENTS")" ] && ! grep "^$FUNCTION " "$TRACING/enabled_functions"
}
is "no user remains that changes results" "$(calls)" "$CALLS 0"
yes "no user remains" wait_until 20 is_free

drop_users
finish
