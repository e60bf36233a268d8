#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# coverage.sh ARCH VMLINUX: random addresses of instructions of that kernel, in random
# order.
#
# Every instruction of .text has the same chance, including useless places for a
# probe and places where none is allowed.  int3, udf and data, and the padding in front of
# functions, do not count, because they are never executed.  The random numbers are always the
# same, but another kernel has other instructions.
#
# Some inline functions are left out, of which the compiler of arm64 makes functions: the base
# calls them at every hit and allows a probe on them, whose hit never ends.

. "$(dirname "$0")/../lib.sh"

ARCH=$1
VMLINUX=$2
DRAWN=3000

instructions()
{
	local called="get_kprobe_ctlblk|kprobe_running|reset_current_kprobe|__kern_my_cpu_offset"

	"$(binutil "$ARCH" objdump)" -d --no-show-raw-insn -j .text "$VMLINUX" |
		sed -nE '/<('"$called"'|__pfx_.*)>:$/,/^$/d
			/\t(int3|udf|\.)/d; s/^ *([0-9a-f]+):\t.*/\1/p'
}

# The generator of points.sh, with another seed.
draw()
{
	awk 'BEGIN { seed = 30000 }
	{
		seed = (seed * 16807) % 2147483647
		printf "%010d %s\n", seed, $1
	}'
}

instructions | draw | sort | sed -n "1,${DRAWN}s/.* //p"
