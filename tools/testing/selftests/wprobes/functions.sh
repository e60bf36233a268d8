# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC3043,SC2034
#
# Functions shared by the scripts of the selftests of watchpoint probes, over those of the kprobes
# selftests: results, modules, settings, waiting.
#
# The module wp_test registers the probes: see test_modules/wp_test.c for the commands of wp.

. "$(dirname "$0")/../kprobes/functions.sh"

LIST=/sys/kernel/debug/wprobes/list
WP_TEST=/sys/kernel/debug/wp_test
INSTANCE=$TRACING/instances/wprobes-test

# Bytes of a long of the kernel.
case $(uname -m) in
i?86)	long=4 ;;
*)	long=8 ;;
esac

begin()
{
	echo "TAP version 14"
	[ "$(id -u)" -eq 0 ] || skip_all "must be run as root"
	[ -e "$LIST" ] || mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
	[ -e "$LIST" ] || skip_all "no watchpoint probes in debugfs"
	[ -e "$TRACING/trace" ] || mount -t tracefs tracefs "$TRACING" 2>/dev/null
	trap cleanup EXIT
	trap 'exit 1' INT TERM HUP
	list_before=$(cat "$LIST")
}

# wp COMMAND...: write a command to wp_test; prints ok or the name of the error.
wp()
{
	put "$WP_TEST/control" "$*"
}

# fill: use all registers, for n probes on words of wp_test.
fill()
{
	n=0
	while [ "$(wp add "n$n" wp_test_words "$long" w $((16 * n)))" = ok ]; do
		n=$((n + 1))
	done
}

# probe NAME: the line of a probe without its name.
probe()
{
	sed -n "s/^$1 //p" "$WP_TEST/probes"
}

# list: the probes of wp_test, without addresses, sizes, and the module.
list()
{
	sed -E 's/^[0-9a-f]+ +//; s/\/0x[0-9a-f]+//; s/ \[wp_[a-z]+\]//' "$LIST"
}

# start_sleeper: start a program that sleeps, and set "pid", and "end" to the digits of the end of
# its stack.  Before the new process executes the program, its stack is that of the shell.
start_sleeper()
{
	sleep 100 &
	pid=$!
	wait_until 10 grep -qx sleep "/proc/$pid/comm"
	end=
	while [ -z "$end" ]; do
		end=$(sed -n 's/^[0-9a-f]*-\([0-9a-f]*\) .*\[stack\]$/\1/p' "/proc/$pid/maps")
	done
}

# trace_event EVENT: trace an event of the core in an instance.
trace_event()
{
	mkdir "$INSTANCE" || skip_all "no instances in tracefs"
	echo 1 >"$INSTANCE/events/wprobe_core/$1/enable"
}

# paths: the states of each watch whose state has changed since the last call, in the order of
# the last changes: "SYMBOL+OFFSET STATE STATE...".  Needs trace_event wprobe_state.  A change
# that does not begin in the state before is marked.  While a register is taken, a watch may get it
# back for a moment: such rounds are left out.
paths()
{
	sed -nE 's,.*wprobe_state: ([^ /]*)[^ ]* (.* )?([a-z]+) -> ([a-z]+)$,\1 \3 \4,p' \
		"$INSTANCE/trace" | awk '
	{
		if (!($1 in path))
			path[$1] = $1 " " $2
		else if (last[$1] != $2)
			path[$1] = path[$1] " (" $2 "!)"
		path[$1] = path[$1] " " $3
		last[$1] = $3
		when[$1] = NR
		name[NR] = $1
		while (sub(/parked off armed parked/, "parked", path[$1]))
			;
	}
	END {
		for (i = 1; i <= NR; i++)
			if (when[name[i]] == i)
				print path[name[i]]
	}'
	echo >"$INSTANCE/trace"
}

# reasons: the reasons of the refusals since the last call.  Needs trace_event wprobe_refused.
reasons()
{
	sed -nE 's/.*wprobe_refused: [^:]*: (.*) \(.*/\1/p' "$INSTANCE/trace"
	echo >"$INSTANCE/trace"
}

# command_refused NAME ERROR REASON COMMAND...: a command of wp is refused for that reason.
command_refused()
{
	local name="$1" error="$2" reason="$3"

	shift 3
	echo >"$INSTANCE/trace"
	is "$name: error" "$(wp "$@")" "$error"
	is "$name: reason" "$(reasons)" "$reason"
}

# refused NAME ERROR REASON ARG...: the probe is refused for that reason.
refused()
{
	local name="$1" error="$2" reason="$3"

	shift 3
	command_refused "$name" "$error" "$reason" add x "$@"
}
