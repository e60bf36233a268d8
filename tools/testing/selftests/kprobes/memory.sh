#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Let each allocation of a registration fail once.  The result is ENOMEM, or success
# without that memory.  In both cases, no probe may stay registered after "del".

. "$(dirname "$0")/functions.sh"

begin
fail_allocations
load kp_test
before=$(list)

# each_fails NAME FEWEST WORD...: add that probe, with each allocation failing.
each_fails()
{
	local name="$1" fewest="$2"

	shift 2
	fail_each "$name" "$fewest" "$KP_TEST/control" "add p $*" "del p"
	is "$name: no probe stays registered" "$(list)" "$before"
	is "$name: with memory it works" "$(kp add p "$@") $(kp del p)" "ok ok"
}

# The command needs two allocations for its text and its struct; then come the point, and
# its slot.
each_fails "a breakpoint" 3 symbol=kp_test_plain
each_fails "a post handler" 3 symbol=kp_test_plain post
each_fails "a function of ftrace's" 3 symbol=kp_test_traced
each_fails "a return probe" 4 symbol=kp_test_plain return

# With more and more probes, so that every structure has to grow.
i=0
for symbol in $(awk '$2 ~ /[tT]/ && $3 ~ /^(vfs|ksys|sys|do|fs)_/ && NF == 3 { print $3 }' \
		/proc/kallsyms | sort | uniq -u | head -n 40); do
	kp add "m$i" "symbol=$symbol" offset=$INSIDE disabled >/dev/null
	each=$("$HERE/fail_nth" "$KP_TEST/control" "add p symbol=kp_test_other" "del p" 2>&1) ||
		note "$symbol: $each"
	i=$((i + 1))
	printf '%s\n' "$each" | grep -v ^through
done >"${TMPDIR:-/tmp}/memory.$$"
# Not every offset is that of an instruction.
between "there are others" "$(list | grep -c DISABLED)" 10 40
matches "among more and more others: success or ENOMEM" "$(cat "${TMPDIR:-/tmp}/memory.$$")" \
	"^[0-9]+ (0|$ENOMEM)\$"
rm -f "${TMPDIR:-/tmp}/memory.$$"

finish
