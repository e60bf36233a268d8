#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# bpftrace runs programs at entries and returns of functions of user space, and at USDT probes.

. "$(dirname "$0")/functions.sh"

begin
command -v bpftrace >/dev/null || skip_all "there is no bpftrace"

# catches_int PID: does the process catch SIGINT, whose bit in the mask is 2?
catches_int()
{
	grep -q '^SigCgt:.*[2367abef]$' "/proc/$1/status"
}

# trace PROGRAM [NAME]: its output, for three calls of a function (plain) in a program that starts
# when it is attached.
# Before that, bpftrace ignores SIGINT, as all background jobs of scripts do; it catches
# the signal only some time after it has called BEGIN.
trace()
{
	bpftrace -e "BEGIN { printf(\"attached\\n\") } $1" >"$OUTPUT" 2>&1 &
	if wait_until 90 grep -q attached "$OUTPUT" && wait_until 90 catches_int $!; then
		"$TARGET" call "${2:-plain}" 3 >/dev/null
		kill -INT $!
	else
		echo "bpftrace has not attached in 90 s"
		kill -KILL $!
	fi
	wait $!
	cat "$OUTPUT"
}

matches "uprobe: three hits" \
	"$(trace "uprobe:$TARGET:target_plain { @hits++ }" | tr '\n' ' ')" '@hits: 3'
matches "uretprobe: three results" \
	"$(trace "uretprobe:$TARGET:target_plain { @sum = sum(retval) }" | tr '\n' ' ')" '@sum: 6'
matches "both, with a time between" \
	"$(trace "uprobe:$TARGET:target_plain { @start = nsecs }
		uretprobe:$TARGET:target_plain /@start/ { @times = count(); delete(@start) }" |
		tr '\n' ' ')" '@times: 3'

# The function returns its argument and 3.
matches "usdt: three hits, with the argument" \
	"$(trace "usdt:$TARGET:target:counted { @hits++; @sum = sum(arg0) }" counted |
		tr '\n' ' ')" '@hits: 3.*@sum: 3'

finish
