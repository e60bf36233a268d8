#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes on every instruction of the kernel's text, a file of TEXT_LISTS at a time: as
# breakpoints, then as jumps where there can be any, with hits, while other parts of the
# kernel patch text and processors come and go.  Not run by default: it takes hours.
# Files have lines for kp_many's parameter "add"; their addresses are more than a jump apart.

. "$(dirname "$0")/functions.sh"

MANY=/sys/module/kp_many/parameters
LISTS=${TEXT_LISTS:?a folder of lists of addresses}
CPU1=/sys/devices/system/cpu/cpu1/online

# feed FILE: a hundred lines a write.
feed()
{
	awk -v to="$MANY/add" '
	function flush()
	{
		printf "%s", lines >to
		close(to)
		lines = ""
	}
	{ lines = lines $0 "\n" }
	NR % 100 == 0 { flush() }
	END { if (lines) flush() }' "$1" 2>/dev/null
}

# may_write VALUE FILE: where there is such a file.
may_write()
{
	[ ! -w "$2" ] || echo "$1" >"$2" 2>/dev/null || true
}

# disturb: jump labels, static calls, ftrace, a module and a processor, until it is killed.
disturb()
{
	local on=0

	while :; do
		on=$((1 - on))
		may_write "$on" /proc/sys/kernel/sched_schedstats
		may_write "$on" "$TRACING/events/sched/enable"
		may_write "$on" "$TRACING/events/irq/enable"
		may_write "$on" "$TRACING/instances/disturb/events/sched/enable"
		may_write 'vfs_*' "$TRACING/set_ftrace_filter"
		if [ "$on" = 1 ]; then
			may_write function "$TRACING/current_tracer"
			insmod "$HERE/test_modules/kp_target.ko" 2>/dev/null
		else
			may_write nop "$TRACING/current_tracer"
			rmmod kp_target 2>/dev/null
		fi
		may_write "$((1 - on))" "$CPU1"
		sleep 0.2
	done
}

work()
{
	local i=0

	while [ "$i" -lt 5 ]; do
		i=$((i + 1))
		cat /proc/self/maps /proc/self/stat | wc -l >/dev/null
		echo "$i" >/tmp/whole_text.work
		sh -c ': | cat' &
		: </proc/uptime
	done
	wait "$!"
	rm -f /tmp/whole_text.work
	sleep 0.1
}

nothing_waits()
{
	! grep -q '  breakpoint  waiting' "$KPROBES/optimization"
}

begin
mkdir -p "$TRACING/instances/disturb"
accepted=0
jumps=0
hits=0
lines=0
disturb &
disturber=$!
for list in "$LISTS"/*; do
	set_knob "$KPROBES/enabled" 0
	load kp_many
	feed "$list"
	echo 1 >"$KPROBES/enabled"
	work
	[ ! -e "$KNOB" ] ||
		yes "$(basename "$list"): none waits to be a jump" wait_until 300 nothing_waits
	work
	jump=$(grep -c '  jump  ' "$KPROBES/optimization")
	note "$(basename "$list"): $(grep -c . "$list") addresses, $(cat "$MANY/accepted")\
 accepted, $jump jumps, $(cat "$MANY/hits") hits"
	lines=$((lines + $(grep -c . "$list")))
	accepted=$((accepted + $(cat "$MANY/accepted")))
	jumps=$((jumps + jump))
	hits=$((hits + $(cat "$MANY/hits")))
	unload kp_many
done
kill "$disturber"
may_write nop "$TRACING/current_tracer"
may_write 1 "$CPU1"
rmmod kp_target 2>/dev/null
for events in "$TRACING" "$TRACING/instances/disturb"; do
	may_write 0 "$events/events/enable"
done
rmdir "$TRACING/instances/disturb"
note "$lines addresses, $accepted accepted, $jumps jumps, $hits hits"
between "accepted addresses" "$accepted" $((lines / 2)) "$lines"
between "hits" "$hits" 1000 1000000000000
finish
