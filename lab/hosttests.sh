#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# hosttests.sh ARCH CONFIG TAP: run the overlay's host tests (the classifiers and
# the relocators of all architectures, compiled for this machine) with that
# kernel's vmlinux, and the C library of its user space, as input.  Write their TAP
# to the file TAP.

. "$(dirname "$0")/lib.sh"

ARCH=$1
CONFIG=$2
TAP=$3
OUT=$(out_dir "$ARCH" "$CONFIG")
TESTS=$SRC/tools/testing/kprobes

# The tests read the words of GNU's disassembler.
objdump()
{
	case $ARCH in
	arm64)	binutil "$ARCH" objdump ;;
	*)	echo objdump ;;
	esac
}

# The C library that the compiler links programs with; nothing if it has none.
libc()
{
	local -a cc=("$(compiler "$ARCH")")
	local file

	[[ $ARCH != i386 ]] || cc+=(-m32)
	file=$("${cc[@]}" -print-file-name=libc.so.6)
	[[ $file != /* ]] || echo "$file"
}

[[ -f $TESTS/Makefile ]] || die "the overlay has no host tests (tools/testing/kprobes)"
PROGRAMS=$(libc)
[[ -f $PROGRAMS ]] || die "the compiler has no C library for $ARCH"
mkdir -p "$BUILD/host-$ARCH"
logged "$TAP" "host tests with the vmlinux of $ARCH-$CONFIG" \
	make -s -C "$TESTS" O="$BUILD/host-$ARCH" ARCH="$ARCH" VMLINUX="$OUT/vmlinux" \
	PROGRAMS="$PROGRAMS" OBJDUMP="$(objdump)" run ||
	die "the host tests failed (log: $TAP)"
