#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Suspend the system, and resume it: afterwards each CPU still watches.  The states are tested
# that the system has: up to the point at which the last CPU would be switched off.  If a clock
# can end it, the system is also suspended to memory completely: all registers are lost then.

. "$(dirname "$0")/functions.sh"

POWER=/sys/power
ALARM=/sys/class/rtc/rtc0/wakealarm
DELAY=/sys/module/suspend/parameters/pm_test_delay

# writes: the number of writes of the command "everywhere".
writes()
{
	echo $((20 * $(grep -c '^processor' /proc/cpuinfo)))
}

# suspend STATE: suspend and resume; prints the change of the number of successes.
suspend()
{
	local before

	before=$(cat "$POWER/suspend_stats/success")
	echo "$1" >"$POWER/state"
	echo $(($(cat "$POWER/suspend_stats/success") - before))
}

# hits NAME: hits of a probe since the last call, for writes on all CPUs.
hits()
{
	local before

	before=$(probe "$1" | sed 's/hits=\([0-9]*\) .*/\1/')
	wp everywhere >/dev/null
	echo $(($(probe "$1" | sed 's/hits=\([0-9]*\) .*/\1/') - before))
}

# check NAME: both probes are hit on all CPUs, each once for each write.
check()
{
	is "$1: writes" "$(hits word)" "$(writes)"
	is "$1: writes and reads" "$(hits other)" "$(writes)"
	is "$1: misses and flags" "$(probe word | sed 's/hits=[0-9]* //; s/ old=.* new=[0-9]*//')" \
		nmissed=0
}

begin
[ -w "$POWER/state" ] || skip_all "the kernel cannot suspend"
[ "${CPU_HOTPLUG:-}" != no ] || skip_all "processors have to stay online"
load wp_test
is "add" "$(wp add word wp_test_words "$long" w $((31 * long)))" ok
is "add another" "$(wp add other wp_test_words "$long" rw $((29 * long)))" ok
check "before"

tested=0
for state in $(cat "$POWER/state"); do
	if [ -w "$POWER/pm_test" ]; then
		echo 0 >"$DELAY"
		echo core >"$POWER/pm_test"
		[ "$state" = mem ] || echo devices >"$POWER/pm_test"
		tested=$((tested + 1))
		is "$state, tested" "$(suspend "$state")" 1
		echo none >"$POWER/pm_test"
		check "$state, tested"
	fi
done

# Other states may not be ended by the alarm.
if [ -w "$ALARM" ] && grep -q 'deep' "$POWER/mem_sleep"; then
	echo deep >"$POWER/mem_sleep"
	echo 0 >"$ALARM"
	echo +3 >"$ALARM"
	tested=$((tested + 1))
	is "to memory" "$(suspend mem)" 1
	# Firmware may need a second try to start the other CPUs.
	for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do
		[ "$(cat "$cpu")" = 1 ] || echo 1 >"$cpu"
	done
	check "to memory"
fi
[ "$tested" -gt 0 ] || skip "a state" "none can be tested, or ended by the clock"

# Registers are loaded and unloaded as before.
wp del other >/dev/null
is "a probe has left" "$(hits word)" "$(writes)"
wp del word >/dev/null
is "20 rounds lose no hit" "$(wp rounds 20)" ok
finish
