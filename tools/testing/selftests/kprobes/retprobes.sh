#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Return probes on a function in which tasks sleep: stack traces of such a task show the
# real callers, no call is missed however many there are, and the module with the
# handlers can be unloaded before the calls return.

. "$(dirname "$0")/functions.sh"

SLEEPER=hrtimer_nanosleep
PROFILE=$TRACING/kprobe_profile

begin
[ -w "$EVENTS" ] || skip_all "no kprobe_events in tracefs"
grep -q " $SLEEPER\$" /proc/kallsyms || skip_all "no $SLEEPER in this kernel"

drop_events()
{
	[ ! -d "$TRACING/events/kp_ret" ] || echo 0 >"$TRACING/events/kp_ret/enable"
	for event in slept again; do
		! grep -q "kp_ret/$event " "$EVENTS" || echo "-:kp_ret/$event" >>"$EVENTS"
	done
}
trap 'drop_events; cleanup' EXIT

# sleeper SECONDS: start a program, wait until it sleeps, and set PID to its number.
sleeper()
{
	sleep "$1" &
	PID=$!
	wait_until 10 sleeps "$PID"
}

sleeper 30
plain=$(stack "$PID")
kill "$PID"
matches "the function is on the stack of a task that sleeps" \
	"$(printf '%s\n' "$plain" | grep -x "$SLEEPER")" "^$SLEEPER\$"

echo "r:kp_ret/slept $SLEEPER" >>"$EVENTS"
echo "r:kp_ret/again $SLEEPER" >>"$EVENTS"
echo 1 >"$TRACING/events/kp_ret/enable"
sleeper 30
is "/proc/PID/stack is the same with two return probes on it" "$(stack "$PID")" "$plain"
kill "$PID"
wait "$PID" 2>/dev/null

# By default there is no limit on the number of calls.
i=0
pids=
stacks=
while [ "$i" -lt 60 ]; do
	i=$((i + 1))
	sleep 300 &
	pids="$pids $!"
	stacks="$stacks /proc/$!/stack"
done
all_sleep()
{
	[ "$(grep -l nanosleep $stacks | wc -l)" -eq 60 ]
}
yes "60 tasks sleep in the function" wait_until 60 all_sleep
kill $pids
wait 2>/dev/null
matches "none of their calls is missed" \
	"$(awk '$1 == "slept" || $1 == "again" { print $3 }' "$PROFILE")" '^0$'
between "their returns are seen" \
	"$(awk '$1 == "slept" { print $2 }' "$PROFILE")" 61 1000
drop_events

# A module is unloaded while a call that it follows is in flight.
module=$(sample kretprobe_example)
if [ -z "$module" ]; then
	skip "unloading a module while a call is in flight" "kretprobe_example has not been built"
else
	yes "a module follows the function" insmod "$module" func="$SLEEPER"
	sleep 20 &
	PID=$!
	wait_until 10 sleeps "$PID"
	yes "it is unloaded while a call is in flight" rmmod kretprobe_example
	dmesg -c >/dev/null
	yes "the call is still in flight, and the stack can be shown" sleeps "$PID"
	wait "$PID"
	is "the call returns" "$?" 0
	is "and the handler is not called" "$(dmesg | grep -c "$SLEEPER returned")" 0
fi

finish
