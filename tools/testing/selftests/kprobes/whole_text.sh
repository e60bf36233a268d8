#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes on every instruction of the kernel's text, a file of TEXT_LISTS at a time: as
# breakpoints, then as jumps where they are possible, with hits, while other parts of the
# kernel patch text and processors go offline and online.  Not run by default, because it
# takes hours.  Files have lines for kp_many's parameter "add"; their addresses are more
# than a jump apart, and from all parts of the text.

. "$(dirname "$0")/functions.sh"

MANY=/sys/module/kp_many/parameters
LISTS=${TEXT_LISTS:?a folder of lists of addresses}
MOST=600	# seconds for the jumps of a list
QUIET=5	# seconds without another jump, after which none is expected
DONE=/tmp/whole_text.done	# a file for each kind of disturbance that has happened

# feed FILE: write its lines to kp_many, 192 at a time: at most a page, and whole batches.
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
	NR % 192 == 0 { flush() }
	END { if (lines) flush() }' "$1" 2>/dev/null
}

# may_write VALUE FILE [NAME]: write VALUE if the file exists, and note that NAME has happened.
may_write()
{
	[ -w "$2" ] && echo "$1" >"$2" 2>/dev/null || return 0
	[ $# -lt 3 ] || echo "$1" >>"$DONE/$3"
}

# happened NAME COMMAND...: the disturbance has happened, if the command says that it can.
happened()
{
	local name="$1"

	shift
	if "$@" 2>/dev/null; then
		yes "meanwhile: $name" [ -s "$DONE/$name" ]
	else
		skip "meanwhile: $name" "not possible in this kernel"
	fi
}

# disturb: change jump labels, static calls, ftrace, a module and a processor, until killed.
disturb()
{
	local on=0

	while :; do
		on=$((1 - on))
		may_write "$on" "$SCHEDSTATS" "jump labels"
		may_write "$on" "$TRACING/events/sched/enable" events
		may_write "$on" "$TRACING/events/irq/enable"
		may_write "$on" "$TRACING/instances/disturb/events/sched/enable"
		may_write 'vfs_*' "$TRACING/set_ftrace_filter"
		if [ "$on" = 1 ]; then
			may_write function "$TRACING/current_tracer" "function tracer"
			insmod "$HERE/test_modules/kp_target.ko" 2>/dev/null &&
				echo >>"$DONE/modules"
		else
			may_write nop "$TRACING/current_tracer"
			rmmod kp_target 2>/dev/null
		fi
		may_write "$((1 - on))" "$CPU" processors
		sleep 1
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

seconds()
{
	cut -d. -f1 /proc/uptime
}

# settled: wait for jumps, and then until QUIET seconds have brought no other; fails after MOST
# seconds.  debugfs would tell at once, but to print it, the guest executes millions of probed
# instructions.
settled()
{
	local start jumps=0 before last

	[ -e "$KNOB" ] || return 0
	start=$(seconds)
	last=$start
	while [ "$jumps" = 0 ] || [ $(($(seconds) - last)) -lt "$QUIET" ]; do
		before=$jumps
		jumps=$(cat "$MANY/jumps")
		[ "$jumps" = "$before" ] || last=$(seconds)
		[ $(($(seconds) - start)) -lt "$MOST" ] || return 1
		sleep 1
	done
}

probe()
{
	local list="$1" name nr jump registered worked

	name=$(basename "$list")
	nr=$(grep -c . "$list")
	set_knob "$KPROBES/enabled" 0
	load kp_many
	feed "$list"
	registered=$(seconds)
	echo 1 >"$KPROBES/enabled"
	work
	worked=$(seconds)
	settled || result 1 "$name: no more jumps after $MOST s" || true
	work
	jump=$(cat "$MANY/jumps")
	note "$name: $nr addresses, $(cat "$MANY/accepted") accepted,\
 $jump jumps, $(cat "$MANY/hits") hits;\
 registered at $registered s, hit until $worked s, jumps at $(seconds) s"
	lines=$((lines + nr))
	accepted=$((accepted + $(cat "$MANY/accepted")))
	jumps=$((jumps + jump))
	hits=$((hits + $(cat "$MANY/hits")))
	unload kp_many
}

begin
SCHEDSTATS=/proc/sys/kernel/sched_schedstats
[ ! -w "$CPU" ] || echo 0 >"$CPU" 2>/dev/null || CPU=/nonexistent
may_write 1 "$CPU"
rm -rf "$DONE"
mkdir -p "$TRACING/instances/disturb" "$DONE"
accepted=0
jumps=0
hits=0
lines=0
disturb &
disturber=$!
for list in "$LISTS"/*; do
	probe "$list"
done
kill "$disturber"
may_write nop "$TRACING/current_tracer"
may_write 1 "$CPU"
rmmod kp_target 2>/dev/null
for events in "$TRACING" "$TRACING/instances/disturb"; do
	may_write 0 "$events/events/enable"
done
rmdir "$TRACING/instances/disturb"
note "$lines addresses, $accepted accepted, $jumps jumps, $hits hits"
between "accepted addresses" "$accepted" $((lines / 2)) "$lines"
between "hits" "$hits" 1000 1000000000000
happened "jump labels" [ -w "$SCHEDSTATS" ]
happened "events" [ -w "$TRACING/events/sched/enable" ]
happened "function tracer" grep -qw function "$TRACING/available_tracers"
happened "modules" [ -f "$HERE/test_modules/kp_target.ko" ]
happened "processors" [ -w "$CPU" ]
rm -rf "$DONE"
finish
