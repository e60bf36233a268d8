#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# A probed instruction runs as a copy somewhere else.  When it faults and nobody
# expects that, the oops must name the instruction, not the copy.
#
# A kernel thread dies for this, which taints the kernel: run it last.  The lines
# "kprobes-test: expect-oops" in the kernel's log are for those who judge it.

. "$(dirname "$0")/functions.sh"

begin
[ "$(cat /proc/sys/kernel/panic_on_oops)" = 0 ] || skip_all "an oops would be a panic"
load kp_test
load kp_oops

say()
{
	echo "kprobes-test: $1" >/dev/kmsg
}

# die NAME: lets the thread die and leaves what the kernel said in $report.
die()
{
	say "expect-oops begin"
	say "case $1"
	is "$1: the thread has died, its creator has not" \
		"$(put /sys/module/kp_oops/parameters/oops 1)" ok
	say "expect-oops end"
	report=$(dmesg | sed 's/^\[[^]]*\] *//' |
		awk -v from="kprobes-test: case $1" \
			'$0 == from { on = 1 } on { print } /expect-oops end/ { on = 0 }')
}

# instruction: where the kernel says the fault was; the first such line.
instruction()
{
	printf '%s\n' "$report" |
		sed -nE 's/^(RIP|EIP): ([0-9a-f]+:)?([^ ]+( \[[a-z_]+\])?).*/\3/p' | head -n 1
}

# judge NAME HITS...: the report is about kp_oops_load+0x2.
judge()
{
	matches "$1: the oops names the probed instruction" "$(instruction)" \
		'^kp_oops_load\+0x2/0x[0-9a-f]+( \[kp_oops\])?$'
	is "$1: the copy is not mentioned" \
		"$(printf '%s\n' "$report" | grep -c 'kprobe_insn_page')" 0
}

die "not probed"
judge "not probed"

kp add load symbol=kp_oops_load offset=2 >/dev/null
die "boosted"
judge "boosted"
is "boosted: it was hit" "$(hits load)" 1
kp del load >/dev/null

kp add load symbol=kp_oops_load offset=2 post >/dev/null
die "with a post_handler"
judge "with a post_handler"
is "with a post_handler: it was hit, and not completed" \
	"$(hits load) $(count load after)" "1 0"

# The death has left nothing behind: no level that is taken on the CPU where it
# was, no lock that is held.
kp add after symbol=kp_test_plain post >/dev/null
for i in 1 2 3 4; do
	for mask in 1 2; do
		taskset -p $mask $$ >/dev/null 2>&1
		kp call plain >/dev/null
	done
done
is "other probes fire afterwards, nothing is missed" \
	"$(hits after) $(count after after) $(count after nmissed)" "8 8 0"
is "the probe that it died of can be unregistered" "$(kp del load)" ok
is "and registered again" "$(kp add load symbol=kp_oops_load offset=2)" ok
kp del load >/dev/null

finish
