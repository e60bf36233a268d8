#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Let each allocation of a registration fail once.  The result is ENOMEM, or success without that
# memory.  In both cases, no probe may stay registered after "del".

. "$(dirname "$0")/functions.sh"

SLAB=/sys/kernel/debug/failslab
PAGES=/sys/kernel/debug/fail_page_alloc
knobs=

# shellcheck disable=SC2317 # the trap calls it
end()
{
	local knob

	for knob in $knobs; do
		echo "${knob#*=}" >"${knob%%=*}"
	done
	echo "kprobes-test: out-of-memory end" >/dev/kmsg
	cleanup
}

# set_knob FILE VALUE: change a setting; the end of the test restores it.
set_knob()
{
	knobs="$1=$(cat "$1") $knobs"
	echo "$2" >"$1"
}

# each_fails NAME FEWEST ARG...: add that probe again and again, with each allocation failing; at
# least FEWEST are needed.  The first is one of the module; each other refusal has its reason.
each_fails()
{
	local name="$1" fewest="$2" results

	shift 2
	# A debugging kernel allocates more at the first time.
	is "$name: with memory it works" "$(wp add m "$@") $(wp del m)" "ok ok"
	echo >"$instance/trace"
	results=$("$HERE/fail_nth" "$WP_TEST/control" "add m $*" "del m" 2>&1)
	is "$name: the helper has run to its end" $? 0
	printf '%s\n' "$results" | tail -n 1 | sed 's/^/# /'
	is "$name: each answer is success or ENOMEM" \
		"$(printf '%s\n' "$results" | grep -vE '^(through [0-9]+|[0-9]+ (0|12))$')" ""
	[ "$(printf '%s\n' "$results" | grep -c ' 12$')" -ge "$fewest" ]
	result $? "$name: $fewest allocations are needed"
	is "$name: reasons" "$(reasons | sort -u)" "out of memory"
	is "$name: no probe stays registered" "$(cat "$LIST")" "$list_before"
	is "$name: with memory it works again" "$(wp add m "$@") $(wp del m)" "ok ok"
}

begin
[ -x "$HERE/fail_nth" ] || skip_all "fail_nth has not been built"
[ -d "$SLAB" ] && [ -d "$PAGES" ] ||
	skip_all "allocations do not fail in this kernel (FAILSLAB, FAIL_PAGE_ALLOC)"
load wp_test
trace_refusals
long=$(word_size)

# The kernel's message about each failure is expected until the test ends.
trap end EXIT
echo "kprobes-test: out-of-memory begin" >/dev/kmsg
set_knob "$SLAB/ignore-gfp-wait" N
set_knob "$PAGES/ignore-gfp-wait" N
set_knob "$PAGES/min-order" 0
set_knob "$SLAB/verbose" 0
set_knob "$PAGES/verbose" 0

# The struct of the module, and the watch.
each_fails "data of the kernel" 2 wp_test_words "$long" w

# The struct of the module, the object, the thread, and its event.  A debugging kernel sometimes
# allocates for itself, so that one allocation may never be the one that fails.
start_sleeper
each_fails "data of a process" 3 "pid:$pid:$((0x$end - long))" "$long" w
kill "$pid"
wait
rmdir "$instance"
finish
