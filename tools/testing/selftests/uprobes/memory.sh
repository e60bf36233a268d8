#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Let an allocation of an unregistration fail, another one each time. The point must vanish
# nevertheless, if not at once, then a little later.

. "$(dirname "$0")/functions.sh"

LIST=/sys/kernel/debug/uprobes/list
MOST=6

begin
[ -e "$LIST" ] || skip_all "no list of points in this kernel"
fail_allocations
load up_test

no_point()
{
	! grep -q target "$LIST"
}

start_twice plain 3
n=1
failed=0
stays=0
while [ $n -le $MOST ]; do
	up "add a $(at plain)" >/dev/null
	# The answer is not zero if it is the command that has no memory.
	answer=$("$HERE/fail_once" "$UP_TEST/control" "del a" $n)
	case $answer in
	*failed*)	failed=$((failed + 1)) ;;
	esac
	up del a >/dev/null 2>&1
	wait_until 15 no_point || stays=$((stays + 1))
	n=$((n + 1))
done
between "unregistrations with a failed allocation" $failed 1 $MOST
is "no point stays" $stays 0
is "the process goes on" "$(go)" 3
is "a probe can be registered again" "$(up "add a $(at plain)") $(call plain 2)" "ok 2"
is "its calls are hits" "$(counts a)" "2 0 0"
up del a >/dev/null
wait "$waiting"

finish
