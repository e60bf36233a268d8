#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes of a file while allocations fail: those of an unregistration, each of a registration, and
# each of the first hit of a process.

. "$(dirname "$0")/functions.sh"

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

# --- Unregistration -----------------------------------------------------------------------

# All allocations fail but that of the command, which is small. The point must vanish nevertheless,
# if not at once, then a little later.  Several processes map the text, because a few mappings need
# no allocation.

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
set_knob "$SLAB/probability" 0

# --- Registration -------------------------------------------------------------------------

# each_fails NAME FEWEST WORD...: register such a probe, with each allocation failing.
each_fails()
{
	local name="$1" fewest="$2"

	shift 2
	start_twice plain 3
	fail_each "$name" "$fewest" "$UP_TEST/control" "add a $(at plain)$*" "del a"
	yes "$name: no point stays" wait_until 15 no_point
	is "$name: with memory it works" "$(up "add a $(at plain)$*")" ok
	is "$name: the process goes on" "$(go)" 3
	up del a >/dev/null
	wait "$waiting"
}

each_fails "a probe" 2
each_fails "a return probe" 2 " return"
each_fails "a probe with a counter" 2 " ref=$(offset counter)"

# --- First hits ---------------------------------------------------------------------------

# A hit is repeated until there is memory. The return of a call is missed without.
for kind in entry return; do
	results=$("$HERE/fail_hits" "$kind")
	is "$kind: the helper has run to its end" $? 0
	# shellcheck disable=SC2086 # words
	set -- $results
	note "$kind: $1 allocations of the first hit"
	between "$kind: allocations of the first hit" "$1" 3 99
	is "$kind: no wrong result" "$2" 0
	if [ "$kind" = entry ]; then
		is "$kind: no hit is lost" "$3" 0
	else
		is "$kind: each missed return is counted" "$3" "$4"
		between "$kind: missed returns" "$3" 1 "$1"
	fi
done

finish
