#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# perftests.sh ARCH CONFIG FOLDER: build perf of the base, and install it, its own tests, and the
# kernel with its debug information into FOLDER, the guest's files of that kernel.
#
# The tests are those of the base, unchanged.  perf has no more features than they need: libdw,
# libelf, libtraceevent.  The same perf runs on both kernels.

. "$(dirname "$0")/lib.sh"

ARCH=$1
CONFIG=$2
TO=$3
OUT=$(out_dir "$ARCH" "$CONFIG")
PERF=$(out_dir "$ARCH" perf)
LOG=$LOGS/$ARCH-perf-build.log

# The machine may have libraries that the guest does not have, and the guest's kernel has no
# eventfd().
LEFT_OUT='NO_LIBBPF=1 BUILD_BPF_SKEL=0 NO_JEVENTS=1 NO_LIBPYTHON=1 NO_JVMTI=1 NO_RUST=1
	NO_SLANG=1 NO_LIBNUMA=1 NO_LZMA=1 NO_LIBZSTD=1 NO_LIBLLVM=1 NO_CAPSTONE=1 NO_LIBPFM4=1
	NO_LIBDEBUGINFOD=1 NO_BABELTRACE2=1 NO_SHELLCHECK=1 feature-eventfd=0'

make_perf()
{
	mkdir -p "$PERF"
	# perf's first Makefile would not pass on the last variable.
	# shellcheck disable=SC2086 # a list of words
	make -C "$(base_tree)/tools/perf" -f Makefile.perf O="$PERF" -j"$JOBS" CC='ccache gcc' \
		WERROR=0 $LEFT_OUT || return
	"$PERF/perf" check feature dwarf,libtraceevent
}

install_tests()
{
	rm -rf "$TO/perf"
	mkdir -p "$TO/perf" "$TO/bin" "$TO/boot"
	strip -o "$TO/perf/perf" "$PERF/perf"
	cp -r "$(base_tree)/tools/perf/tests/shell" "$TO/perf/tests"
	# The first line of the tests names this path.
	ln -sf /usr/bin/bash "$TO/bin/bash"
	# perf looks there for the kernel's debug information.
	cp "$OUT/vmlinux" "$TO/boot/vmlinux-$(cat "$OUT/include/config/kernel.release")"
}

logged "$LOG" "building perf for $ARCH" make_perf || die "perf does not build (log: $LOG)"
install_tests
