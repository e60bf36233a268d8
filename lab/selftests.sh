#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# selftests.sh ARCH CONFIG [COLLECTION...]: build our kselftests against that kernel
# and install them, with the kernel's own runner, into its folder "kselftest".  The
# collections are uprobes, kprobes, and wprobes if the kernel has them; or those that are
# given.  On Linux 6.12 only those of kprobes are built: the others need the nolibc of 7.3.
# A kernel with landing pads gets kprobes/clients, too: pads move the entry that BPF knows.
# The last test of kprobes taints the kernel.
#
# The modules of a kselftest are built in the folder of their sources.  With a copy of
# the sources for every kernel, objects are separate and the tree stays clean.

. "$(dirname "$0")/lib.sh"

ARCH=$1
CONFIG=$2
shift 2
OUT=$(out_dir "$ARCH" "$CONFIG")
OTHERS="uprobes $(! grep -q '^CONFIG_WPROBES=y' "$OUT/.config" || echo wprobes)"
! grep -q '^CONFIG_ARM64_BTI_KERNEL=y' "$OUT/.config" || OTHERS+=" kprobes/clients"
COLLECTIONS=${*:-$OTHERS kprobes}
[[ $BASE != 6.12 ]] || COLLECTIONS=$(tr ' ' '\n' <<<"$COLLECTIONS" | grep ^kprobes)
COPY=$OUT/kselftest-src
LOG=$LOGS/$ARCH-$CONFIG-selftests.log
SELFTESTS=tools/testing/selftests

copy_sources()
{
	local folder

	mkdir -p "$COPY/$SELFTESTS"
	rsync -aR "$SRC"/./{scripts/subarch.include,tools/include/nolibc,tools/include/uapi,tools/arch/x86/include} \
		"$COPY/"
	# The base, against which the tests are built, too, does not have the forms; nor do the
	# tests of the series 0-tests.
	[[ ! -d $SRC/kernel/kprobes/tests ]] || rsync -aR "$SRC"/./kernel/kprobes/tests "$COPY/"
	rsync -a "$SRC/$SELFTESTS"/{Makefile,lib.mk,run_kselftest.sh,kselftest,kselftest.h,kselftest_harness.h} \
		"$COPY/$SELFTESTS/"
	for folder in kprobes uprobes wprobes; do
		[[ ! -d $SRC/$SELFTESTS/$folder ]] ||
			rsync -a --delete --exclude='*.o' --exclude='*.ko' --exclude='*.mod*' \
				--exclude='.*.cmd' --exclude=Module.symvers --exclude=modules.order \
				"$SRC/$SELFTESTS/$folder" "$COPY/$SELFTESTS/"
	done
}

# compile_with_clang: configurations of x86_64 and arm64 that only clang compiles are not checked
# each time.
compile_with_clang()
{
	mkdir -p "$OUT/programs-clang"
	make -C "$COPY/$SELFTESTS/uprobes" ARCH="$ARCH" "$(toolchain clang)" KDIR="$OUT" \
		OUTPUT="$OUT/programs-clang" programs
}

install_tests()
{
	copy_sources
	rm -rf "$OUT/kselftest"
	make -C "$COPY/$SELFTESTS" ARCH="$ARCH" "$(toolchain "$ARCH")" \
		TARGETS="$COLLECTIONS" FORCE_TARGETS=1 KDIR="$OUT" KSFT_INSTALL_PATH="$OUT/kselftest" W=1 install
}

main()
{
	local collection

	for collection in $COLLECTIONS; do
		[[ -d $SRC/$SELFTESTS/$collection ]] ||
			die "the overlay has no kselftests ($SELFTESTS/$collection)"
	done
	logged "$LOG" "building the kselftests for $ARCH-$CONFIG" install_tests ||
		die "the kselftests do not build (log: $LOG)"
	if grep -E '(warning|error):' "$LOG" | grep -v 'the compiler differs'; then
		die "warnings from the kselftests' modules (log: $LOG)"
	fi
	[[ -s $OUT/kselftest/kselftest-list.txt ]] ||
		die "the kselftests' list is empty (log: $LOG)"
	if [[ $ARCH-$CONFIG-$BASE =~ ^(x86_64|arm64)-default-7.3$ ]] && command -v "$(compiler clang)" >/dev/null; then
		logged "$LOG.clang" "compiling the programs of the kselftests with clang" \
			compile_with_clang || die "clang rejects a program (log: $LOG.clang)"
	fi
}

main
