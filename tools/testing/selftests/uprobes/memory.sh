#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Let the allocations of an unregistration fail, but not that of the command, which is small. The
# point must vanish nevertheless, if not at once, then a little later.  Several processes map the
# text, because a few mappings need no allocation.

. "$(dirname "$0")/functions.sh"

LIST=/sys/kernel/debug/uprobes/list
SLAB=/sys/kernel/debug/failslab
SMALL=48
PROCESSES=8
TIMES=1000

begin
[ -e "$LIST" ] || skip_all "no list of points in this kernel"
fail_allocations
load up_test

no_point()
{
	! grep -q target "$LIST"
}

start_twice plain 3
others=
for _ in $(seq "$PROCESSES"); do
	"$TARGET" wait "$FLAG" plain 1 >/dev/null &
	others="$others $!"
done

text_is_mapped()
{
	[ "$(grep -l "r-xp .*$TARGET" /proc/[0-9]*/maps 2>/dev/null | wc -l)" -gt "$PROCESSES" ]
}

yes "$PROCESSES other processes map the text" wait_until 5 text_is_mapped
up "add a $(at plain)" >/dev/null
set_knob "$SLAB/task-filter" Y
set_knob "$SLAB/times" "$TIMES"
set_knob "$SLAB/space" $SMALL
set_knob "$SLAB/probability" 100
is "a probe is unregistered without memory" "$("$HERE/fail_task" "$UP_TEST/control" "del a")" 0
yes "an allocation has failed" [ "$(cat "$SLAB/times")" -lt "$TIMES" ]
yes "the point vanishes" wait_until 15 no_point
is "the process goes on" "$(go)" 3
# shellcheck disable=SC2086 # a list of words
wait $others
is "a probe can be registered again" "$(up "add a $(at plain)") $(call plain 2)" "ok 2"
is "its calls are hits" "$(counts a)" "2 0 0"
up del a >/dev/null
wait "$waiting"

finish
