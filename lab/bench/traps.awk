# SPDX-License-Identifier: GPL-2.0
#
# traps.awk: count breakpoints, watchpoints and single steps between the marks of marks.h.
#
#   awk -f traps.awk log
#
# "log" is that of QEMU with "-d int".  Output: a number for each key, in their order, in tens:
# an interrupt between the marks may add an exception to those of the 1,000 hits.

/ v=0e / && /CR2=0*6d616000( |$)/ || /with FAR 0x0*6d616000$/ {
	if (inside)
		print int(traps / 10 + 0.5) * 10
	inside = !inside
	traps = 0
}

# x86: exceptions 1 and 3.
/ v=0[13] / { traps++ }

# arm64: breakpoints, single steps and watchpoints, from user mode and from the kernel.
/with ESR 0x(3[0-5]|3c)\// { traps++ }
