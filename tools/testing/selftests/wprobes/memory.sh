#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Let each allocation of a registration fail once.  The result is ENOMEM, or success without that
# memory.  In both cases, no probe may stay registered after "del".

. "$(dirname "$0")/functions.sh"

# each_fails NAME FEWEST ARG...: add that probe again and again, with each allocation failing; at
# least FEWEST are needed.  The first is one of the module; each other refusal has its reason.
each_fails()
{
	local name="$1" fewest="$2"

	shift 2
	# A debugging kernel allocates more at the first time.
	is "$name: with memory it works" "$(wp add m "$@") $(wp del m)" "ok ok"
	echo >"$INSTANCE/trace"
	fail_each "$name" "$fewest" "$WP_TEST/control" "add m $*" "del m"
	is "$name: reasons" "$(reasons | sort -u)" "out of memory"
	is "$name: no probe stays registered" "$(cat "$LIST")" "$list_before"
	is "$name: with memory it works again" "$(wp add m "$@") $(wp del m)" "ok ok"
}

begin
fail_allocations
load wp_test
trace_event wprobe_refused

# The struct of the module, and the watch.
each_fails "data of the kernel" 2 wp_test_words "$long" w

# The struct of the module, the object, the thread, and its event.  A debugging kernel sometimes
# allocates for itself, so that one allocation may never be the one that fails.
start_sleeper
each_fails "data of a process" 3 "pid:$pid:$((0x$end - long))" "$long" w
kill "$pid"
wait
finish
