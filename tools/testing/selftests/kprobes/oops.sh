#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A probed instruction is executed as a copy at another address.  If it faults and there is
# no fixup, the oops must name the instruction, not the copy; and BUG() and WARN()
# must be found by the address of the instruction.
#
# Kernel threads die in these tests, which taints the kernel: run this script last.  The
# lines "kprobes-test: expect-..." in the kernel's log are for the judge of that log.

. "$(dirname "$0")/functions.sh"

begin
[ "$(cat /proc/sys/kernel/panic_on_oops)" = 0 ] || skip_all "an oops would be a panic"
load kp_test
load kp_oops

say()
{
	echo "kprobes-test: $1" >/dev/kmsg
}

# die NAME [OF]: let the thread die, and store the kernel's messages in $report.
die()
{
	kind=oops
	[ "${2:-}" != warn ] || kind=warning
	say "expect-$kind begin"
	say "case $1"
	is "$1: the thread has failed, not its creator" \
		"$(put /sys/module/kp_oops/parameters/oops "${2:-load}")" ok
	say "expect-$kind end"
	report=$(dmesg | sed 's/^\[[^]]*\] *//' |
		awk -v from="kprobes-test: case $1" \
			'$0 == from { on = 1 } on { print } /expect-(oops|warning) end/ { on = 0 }')
}

# instruction: the address of the fault in the report; the first such line.
instruction()
{
	printf '%s\n' "$report" |
		sed -nE 's/^(RIP|EIP|pc ): ([0-9a-f]+:)?([^ ]+( \[[a-z_]+\])?).*/\3/p' | head -n 1
}

# judge NAME [PLACE]: check that the report is about that instruction.
judge()
{
	matches "$1: the oops names the probed instruction" "$(instruction)" \
		"^${2:-kp_oops_load\+0x$LOAD_AT}/0x[0-9a-f]+( \[kp_oops\])?\$"
	is "$1: the copy is not mentioned" \
		"$(printf '%s\n' "$report" | grep -c 'kprobe_insn_page')" 0
}

die "not probed"
judge "not probed"

kp add load symbol=kp_oops_load offset=$LOAD_AT >/dev/null
die "boosted"
judge "boosted"
is "boosted: it was hit" "$(hits load)" 1
kp del load >/dev/null

kp add load symbol=kp_oops_load offset=$LOAD_AT post >/dev/null
die "with a post_handler"
judge "with a post_handler"
is "with a post_handler: it was hit, and not completed" \
	"$(hits load) $(count load after)" "1 0"

# The report has the address, which the kernel finds by decoding the instruction.
wild()
{
	die "$1" wild
	judge "$1"
	is "$1: the report has the address" "$(printf '%s\n' "$report" |
		grep -c 'for non-canonical address 0x8000000000000000')" 1
}
if [ "$(uname -m)" = x86_64 ]; then
	kp del load >/dev/null
	wild "non-canonical address, not probed"
	kp add load symbol=kp_oops_load offset=$LOAD_AT >/dev/null
	wild "non-canonical address, probed"
	is "non-canonical address, probed: it was hit" "$(hits load)" 1
fi

# reported NAME: the number of lines of the report with the place in the source.
reported()
{
	printf '%s\n' "$report" | grep -cE "$1.*kp_oops\.c:[0-9]+"
}

# trap_site NAME MESSAGE: test a WARN or a BUG, if it can be probed.
trap_site()
{
	site=$(cat "/sys/module/kp_oops/parameters/$1")

	die "$1, not probed" "$1"
	judge "$1, not probed" "kp_oops_$1\\+0x[0-9a-f]+"
	is "$1, not probed: the failure is reported" "$(reported "$2")" 1
	for post in '' post; do
		name="$1, probed${post:+ with a post_handler}"
		is "$name: registered" "$(kp add "$1" "addr=$site" $post)" ok
		die "$name" "$1"
		judge "$name" "kp_oops_$1\\+0x[0-9a-f]+"
		is "$name: the failure is reported" "$(reported "$2")" 1
		is "$name: hit, and not completed" \
			"$(hits "$1") $(count "$1" after) $(count "$1" nmissed)" "1 0 0"
		kp del "$1" >/dev/null
	done
}

if [ "$(site warn)" = 0x0 ] && [ "$(cat /sys/module/kp_oops/parameters/warn)" != 0x0 ]; then
	trap_site warn 'WARNING: .*'
	trap_site bug 'kernel BUG at'
else
	skip "probes on WARN() and BUG()" "this kernel refuses them"
fi

# On x86 a breakpoint counts as an NMI, in which nothing may die.
if [ "$(uname -m)" = aarch64 ] && [ -d /sys/devices/system/cpu/cpu1 ]; then
	[ ! -w "$KNOB" ] || set_knob "$KNOB" 0
	taskset -p 1 $$ >/dev/null 2>&1
	die "a handler" handler
	judge "a handler" "die_in_handler\+0x[0-9a-f]+"
	is "a handler: no exception stays masked" \
		"$(cat /sys/module/kp_oops/parameters/masks)" 0
	[ ! -w "$KNOB" ] || set_knob "$KNOB" 1
fi

# After the deaths no context level may be busy, on any CPU, and no lock may be held.
kp add after symbol=kp_test_plain post >/dev/null
for i in 1 2 3 4; do
	for mask in 1 2; do
		taskset -p $mask $$ >/dev/null 2>&1
		kp call plain >/dev/null
	done
done
is "other probes fire afterwards, nothing is missed" \
	"$(hits after) $(count after after) $(count after nmissed)" "8 8 0"
is "the probe at which the thread died can be unregistered" "$(kp del load)" ok
is "and registered again" "$(kp add load symbol=kp_oops_load offset=$LOAD_AT)" ok
kp del load >/dev/null

finish
