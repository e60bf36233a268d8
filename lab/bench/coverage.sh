#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# coverage.sh ARCH VMLINUX: addresses of instructions of that kernel, drawn by lot, in no
# order.
#
# Every instruction of .text has the same chance, also where nobody would put a
# probe and where none is allowed; int3 and udf are none, but fill the gaps between
# functions, and so do numbers.  The lots are always the same, but another kernel has
# other instructions.
#
# Left out is get_kprobe_ctlblk(), which the compiler of arm64 does not inline: the base
# calls it at every hit, lets it be probed, and does not come back from that.

. "$(dirname "$0")/../lib.sh"

ARCH=$1
VMLINUX=$2
DRAWN=3000

instructions()
{
	"$(binutil "$ARCH" objdump)" -d --no-show-raw-insn -j .text "$VMLINUX" |
		sed -nE '/<get_kprobe_ctlblk>:$/,/^$/d
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
