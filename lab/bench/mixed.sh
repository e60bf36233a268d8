#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mixed.sh ARCH PROGRAM: offsets in that file of 1,000 instructions of a real program, one after
# the other, a line each: a mix of instructions as compilers emit it.

. "$(dirname "$0")/../lib.sh"

objdump=$(binutil "$1" objdump)

# file_offset_of_text: the address of .text, and its offset in the file.
file_offset_of_text()
{
	"$objdump" -h -j .text "$1" | awk '$2 == ".text" { print $4, $6 }'
}

read -r address offset < <(file_offset_of_text "$2")
"$objdump" -d --no-show-raw-insn -j .text "$2" |
	sed -nE 's/^ *([0-9a-f]+):\t([a-z].*)/\1/p' |
	awk -v skip=20000 -v number=1000 'NR > skip && NR <= skip + number' |
	while read -r at; do
		echo $((0x$at - 0x$address + 0x$offset))
	done
