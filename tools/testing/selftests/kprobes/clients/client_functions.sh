# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034,SC3043,SC2016
#
# What the scripts about kprobe events share, on top of ../functions.sh.
# Sourced after it.

TAG=kprobes-client-$$

# The registers of the first three arguments; where the return address is at an entry;
# how long the instruction is that ftrace owns.
case $(uname -m) in
x86_64)		ARG1=%di ARG2=%si ARG3=%dx RETURN='$stack0' FTRACE_SIZE=5 ;;
i?86)		ARG1=%ax ARG2=%dx ARG3=%cx RETURN='$stack0' FTRACE_SIZE=5 ;;
aarch64)	ARG1=%x0 ARG2=%x1 ARG3=%x2 RETURN=%lr FTRACE_SIZE=4 ;;
*)		ARG1='$arg1' ARG2='$arg2' ARG3='$arg3' RETURN='$stack0' FTRACE_SIZE=4 ;;
esac
OPEN=do_sys_openat2

# begin_events: there must be a clean set of events, and it must be so again at
# the end, whatever way the script takes.
begin_events()
{
	[ -w "$EVENTS" ] || skip_all "no kprobe_events in tracefs"
	[ -z "$(cat "$EVENTS")" ] || skip_all "somebody else has kprobe events"
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

# open_tagged NAME: a program opens a file of that name, with no other file open
# than the standard three.
open_tagged()
{
	cat "/tmp/$TAG-$1" >/dev/null 2>&1 3>&- 4>&- &
	openers="${openers:+$openers|}$!"
	wait $! || true
}

# trace_of COMMAND...: run it, and show the records of the programs that it has
# started with open_tagged.
trace_of()
{
	local openers=

	echo >"$TRACING/trace"
	"$@"
	grep -E -e "-($openers) +\\[[0-9]+\\] " "$TRACING/trace"
}

# last EVENT: of several records on the standard input, the last of that event,
# without what stands before the event's name.
last()
{
	sed -n "s/.* $1: /$1: /p" | tail -n 1
}

# profile EVENT COLUMN: of kprobe_profile; 2 is the hits, 3 what was missed.
profile()
{
	awk -v name="$1" -v column="$2" '$1 == name { print $column }' \
		"$TRACING/kprobe_profile"
}

# inside SYMBOL: how far behind a function's start the first instruction is that
# ftrace does not own.
inside()
{
	local start traced

	start=$(symbol_address "$1")
	traced=$(awk -v name="$1" '$2 == name { print $1; exit }' \
		"$TRACING/available_filter_functions_addrs")
	[ -n "$traced" ] || return
	echo $((0x${traced#0x} - 0x$start + FTRACE_SIZE))
}
