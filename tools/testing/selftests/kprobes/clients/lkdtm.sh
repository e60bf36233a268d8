#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# lkdtm's crash points are kprobes.  Each whose function this kernel has can be
# set; one of them is triggered, with the mildest of the crashes, a warning.
#
# The warning taints the kernel.  The lines "kprobes-test: expect-warning" in the
# kernel's log are for those who judge it.

. "$(dirname "$0")/../functions.sh"

POINTS=/sys/kernel/debug/provoke-crash
DISK=/dev/ram0

begin
modinfo lkdtm >/dev/null 2>&1 || skip_all "lkdtm has not been built"

say()
{
	echo "kprobes-test: $1" >/dev/kmsg
}

# set_point NAME FUNCTION: is refused exactly if there is no such function.
set_point()
{
	if [ -z "$(symbol_address "$2")" ]; then
		is "$1: is refused, there is no $2 in this kernel" \
			"$(put "$POINTS/$1" WARNING)" ENOENT
		return
	fi
	is "$1: can be set" "$(put "$POINTS/$1" WARNING)" ok
	matches "$1: is a probe on $2" "$(list)" "^ADDR  k  $2\\+0x[04] "
}

# So many hits that no point is triggered while it is set.
yes "loads" modprobe lkdtm cpoint_count=1000000000
set_point INT_HARDWARE_ENTRY do_IRQ
set_point INT_HW_IRQ_EN handle_irq_event
set_point INT_TASKLET_ENTRY tasklet_action
set_point FS_SUBMIT_BH submit_bh
set_point MEM_SWAPOUT shrink_inactive_list
set_point TIMERADD hrtimer_start
set_point SCSI_QUEUE_RQ scsi_queue_rq
is "no point has been forgotten here" "$(find $POINTS -type f | wc -l)" 8
yes "unloads" rmmod lkdtm
is "no probe is left" "$(list)" ""

if [ -b $DISK ]; then
	yes "loads again" modprobe lkdtm cpoint_count=1
	say "expect-warning begin"
	is "a warning at FS_SUBMIT_BH" "$(put "$POINTS/FS_SUBMIT_BH" WARNING)" ok
	# The first block of an empty disk is all that there is to be seen.
	no "somebody looks for a file system" mount -t ext2 $DISK /tmp
	yes "and unloading is possible" rmmod lkdtm
	say "expect-warning end"
	report=$(dmesg | sed -n '/expect-warning begin/,/expect-warning end/p')
	matches "the point was hit" \
		"$(printf '%s\n' "$report" | grep 'lkdtm: Crash point' | head -n 1)" \
		' FS_SUBMIT_BH of type WARNING hit, trigger in 0 rounds$'
	for place in lkdtm_WARNING lkdtm_do_action submit_bh __bread_gfp; do
		between "the warning's back trace has $place" \
			"$(printf '%s\n' "$report" | grep -cE "[ :]$place\+")" 1 20
	done
else
	skip "a warning at FS_SUBMIT_BH" "there is no $DISK"
fi
finish
