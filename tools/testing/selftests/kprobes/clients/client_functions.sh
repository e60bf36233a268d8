# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034,SC3043,SC2016
#
# Functions shared by the scripts about kprobe events.  Sourced after ../functions.sh.

TAG=kprobes-client-$$

# The registers of the first three arguments; the place of the return address at an entry;
# the length of ftrace's instruction.
case $(uname -m) in
x86_64)		ARG1=%di ARG2=%si ARG3=%dx RETURN='$stack0' FTRACE_SIZE=5 ;;
i?86)		ARG1=%ax ARG2=%dx ARG3=%cx RETURN='$stack0' FTRACE_SIZE=5 ;;
aarch64)	ARG1=%x0 ARG2=%x1 ARG3=%x2 RETURN=%lr FTRACE_SIZE=4 ;;
*)		ARG1='$arg1' ARG2='$arg2' ARG3='$arg3' RETURN='$stack0' FTRACE_SIZE=4 ;;
esac
OPEN=do_sys_openat2

# begin_events: check that there are no events, and remove all events when the script ends.
begin_events()
{
	[ -w "$EVENTS" ] || skip_all "no kprobe_events in tracefs"
	[ -z "$(cat "$EVENTS")" ] || skip_all "there are kprobe events already"
	trap 'drop_events; cleanup' EXIT
	echo >"$TRACING/trace"
}

drop_events()
{
	echo 0 >"$TRACING/events/enable"
	echo 1 >"$TRACING/tracing_on"
	echo >"$EVENTS"
	echo >"$TRACING/trace"
}

# turn GROUP/EVENT 0|1
turn()
{
	echo "$2" >"$TRACING/events/$1/enable"
}

# open_tagged NAME: let a program open a file of that name; only the three standard files
# are open in it.
open_tagged()
{
	cat "/tmp/$TAG-$1" >/dev/null 2>&1 3>&- 4>&- &
	openers="${openers:+$openers|}$!"
	wait $! || true
}

# trace_of COMMAND...: run the command, and print the records of the programs that it
# starts with open_tagged.
trace_of()
{
	local openers=

	echo >"$TRACING/trace"
	"$@"
	grep -E -e "-($openers) +\\[[0-9]+\\] " "$TRACING/trace"
}

# last EVENT: the last record of that event on the standard input, from the event's name
# on.
last()
{
	sed -n "s/.* $1: /$1: /p" | tail -n 1
}

# profile EVENT COLUMN: a column of kprobe_profile; 2 has the hits, 3 the misses.
profile()
{
	awk -v name="$1" -v column="$2" '$1 == name { print $column }' \
		"$TRACING/kprobe_profile"
}

# inside SYMBOL: the offset of the first instruction after that of ftrace.
inside()
{
	local start traced

	start=$(symbol_address "$1")
	traced=$(awk -v name="$1" '$2 == name { print $1; exit }' \
		"$TRACING/available_filter_functions_addrs")
	[ -n "$traced" ] || return
	echo $((0x${traced#0x} - 0x$start + FTRACE_SIZE))
}
