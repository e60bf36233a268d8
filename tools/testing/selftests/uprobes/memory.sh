#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Let the allocations of an unregistration fail, but not that of the command, which is small. The
# point must vanish nevertheless, if not at once, then a little later.

. "$(dirname "$0")/functions.sh"

LIST=/sys/kernel/debug/uprobes/list
SLAB=/sys/kernel/debug/failslab
SMALL=48

begin
[ -e "$LIST" ] || skip_all "no list of points in this kernel"
fail_allocations
load up_test

no_point()
{
	! grep -q target "$LIST"
}

start_twice plain 3
up "add a $(at plain)" >/dev/null
set_knob "$SLAB/task-filter" Y
set_knob "$SLAB/times" -1
set_knob "$SLAB/space" $SMALL
set_knob "$SLAB/probability" 100
is "a probe is unregistered without memory" "$("$HERE/fail_task" "$UP_TEST/control" "del a")" 0
yes "the point vanishes" wait_until 15 no_point
is "the process goes on" "$(go)" 3
is "a probe can be registered again" "$(up "add a $(at plain)") $(call plain 2)" "ok 2"
is "its calls are hits" "$(counts a)" "2 0 0"
up del a >/dev/null
wait "$waiting"

finish
