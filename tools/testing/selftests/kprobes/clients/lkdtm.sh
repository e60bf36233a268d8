#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# lkdtm's crash points are kprobes.  Each point can be set if the kernel has its function;
# one of them is triggered, with the mildest of the crashes, a warning.
#
# The warning taints the kernel.  The lines "kprobes-test: expect-warning" in the
# kernel's log are for the judge of that log.

. "$(dirname "$0")/../functions.sh"

POINTS=/sys/kernel/debug/provoke-crash
DISK=/dev/ram0

begin
modinfo lkdtm >/dev/null 2>&1 || skip_all "lkdtm has not been built"

say()
{
	echo "kprobes-test: $1" >/dev/kmsg
}

# set_point NAME FUNCTION: check that the point is refused only if there is no such function.
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

# read_disk: read the first block of an empty disk.
read_disk()
{
	mount -t ext2 $DISK /tmp 2>/dev/null
}

# hit POINT ROUNDS: true if the point was hit, and ROUNDS hits remained until its crash.
hit()
{
	dmesg | grep -q "$1 of type WARNING hit, trigger in $2 rounds"
}

trigger()
{
	tries=0
	until hit $point 0 || [ $tries = 20 ]; do
		read_disk
		tries=$((tries + 1))
		sleep 0.5
	done
}

# A number of hits that is so large that no point is triggered while it is set.
yes "loads" modprobe lkdtm cpoint_count=1000000000
set_point FS_SUBMIT_BH submit_bh

# If no crash point is on the path to a disk, use the one in interrupts of devices.  There
# are a few of these in a second, from the serial line to which this script writes.
# Linux 7.3 has no submit_bh(), and compilers may inline that of Linux 6.12.
read_disk
if hit FS_SUBMIT_BH '[0-9]*'; then
	point=FS_SUBMIT_BH
	places="submit_bh __bread_gfp"
	count=1
else
	point=INT_HW_IRQ_EN
	places=handle_irq_event
	count=2
fi

set_point INT_HARDWARE_ENTRY do_IRQ
set_point INT_HW_IRQ_EN handle_irq_event
set_point INT_TASKLET_ENTRY tasklet_action
set_point MEM_SWAPOUT shrink_inactive_list
set_point TIMERADD hrtimer_start
set_point SCSI_QUEUE_RQ scsi_queue_rq
is "no point has been forgotten here" "$(find $POINTS -type f | wc -l)" 8
yes "unloads" rmmod lkdtm
is "no probe is left" "$(list)" ""

if [ -b $DISK ]; then
	yes "loads again" modprobe lkdtm cpoint_count=$count
	say "expect-warning begin"
	is "a warning at $point" "$(put "$POINTS/$point" WARNING)" ok
	trigger
	yes "the point is triggered" hit $point 0
	yes "and unloading is possible" rmmod lkdtm
	say "expect-warning end"
	report=$(dmesg | sed -n '/expect-warning begin/,/expect-warning end/p')
	for place in lkdtm_WARNING lkdtm_do_action $places; do
		between "the warning's back trace has $place" \
			"$(printf '%s\n' "$report" | grep -cE "[ :]$place\+")" 1 20
	done
else
	skip "a warning at $point" "there is no $DISK"
fi
finish
