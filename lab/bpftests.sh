#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# bpftests.sh ARCH CONFIG FOLDER: build the cases of selftests/bpf that are about user-space
# probes against that kernel, and install them into FOLDER.  Not the benchmark: one program
# has all of selftests/bpf, and some of them need options that this kernel does not have.
#
# The sources are those of the kernel's tree, unchanged.  Their Makefile compiles all cases
# and programs that it finds; so it gets a copy that has only these, and no list of the
# programs that need special care.  bpftool and libbpf are built from the same tree.
# lab/guest/bpf_preload.c gives test_progs the features that this kernel does not have.

. "$(dirname "$0")/lib.sh"

ARCH=$1
CONFIG=$2
TO=$3
OUT=$(out_dir "$ARCH" "$CONFIG")
COPY=$OUT/bpf
DIR=$COPY/tools/testing/selftests/bpf
LOG=$LOGS/$ARCH-$CONFIG-bpftests.log
VERSION=$(compiler clang)
VERSION=${VERSION#clang-}
CC="ccache $(compiler "$ARCH")"
CLANG=clang-$VERSION

# The programs of another architecture are compiled with Debian's headers and libraries for it.
CROSS=
if [[ $ARCH != x86_64 ]]; then
	CROSS=$(binutil "$ARCH" '')
	CC+=" --sysroot=$BUILD/tools-$ARCH"
	CLANG+=" --sysroot=$BUILD/tools-$ARCH"
fi

CASES='uprobe_multi_test uprobe_syscall usdt uprobe_autoattach attach_probe uprobe'

# copy_sources: the cases, the programs that they load, and the files that their Makefile uses.
copy_sources()
{
	local tree file keep

	tree=$(tree_of "$CONFIG")
	mkdir -p "$COPY" "$DIR"/prog_tests "$DIR"/progs
	rsync -aR --exclude='/tools/testing/selftests/bpf/'{prog_tests,progs} \
		"$tree"/./tools/{build,lib,include,arch,scripts,bpf} \
		"$tree"/./tools/testing/selftests/{bpf,lib.mk,Makefile,kselftest,kselftest.h,kselftest_harness.h} \
		"$tree"/./scripts/{bpf_doc.py,sign-file.c,subarch.include} \
		"$tree"/./arch/*/include/uapi/asm/bpf_perf_event.h \
		"$tree"/./kernel/bpf/disasm.{c,h} "$COPY/" || return
	for file in $CASES; do
		echo "prog_tests/$file.c"
	done >"$COPY/files"
	keep=$(cd "$tree/tools/testing/selftests/bpf" &&
		xargs cat <"$COPY/files" |
		sed -nE 's/.*"([a-z_0-9]+)\.skel\.h.*/\1/p' | sort -u)
	for file in $keep test_usdt_multispec; do
		echo "progs/$file.c"
	done >>"$COPY/files"
	(cd "$tree/tools/testing/selftests/bpf" && printf '%s\n' prog*/*.h) >>"$COPY/files"
	rsync -a --files-from="$COPY/files" "$tree/tools/testing/selftests/bpf/" "$DIR/"
}

# make_tests TARGET...: the variables without a value are the lists.  The Makefile only knows where
# it is if it believes to be the first one.
make_tests()
{
	env -u MAKELEVEL make -C "$DIR" -j"$JOBS" CLANG="$CLANG" LLVM_STRIP="llvm-strip-$VERSION" \
		${CROSS:+ARCH=$ARCH CROSS_COMPILE=$CROSS} CC="$CC" \
		SKIP_LLVM=1 SKIP_LIBBFD=1 SKIP_CRYPTO=1 SKIP_DOCS=1 \
		VMLINUX_BTF="$OUT/vmlinux" LSKELS= LSKELS_SIGNED= LSKELS_EXTRA= \
		LINKED_SKELS=test_usdt.skel.h LIBARENA_SKEL= TEST_KMODS= TEST_KMOD_TARGETS= \
		TRUNNER_EXTRA_FILES="$DIR/urandom_read $DIR/liburandom_read.so $DIR/uprobe_multi" \
		"$@"
}

# testmod: the module of the cases.
testmod()
{
	rm -rf "$OUT/bpf-testmod"
	cp -r "$DIR/test_kmods" "$OUT/bpf-testmod" || return
	echo 'obj-m := bpf_testmod.o' >"$OUT/bpf-testmod/Makefile"
	# shellcheck disable=SC2016 # for make
	echo 'CFLAGS_bpf_testmod.o := -I$(src)' >>"$OUT/bpf-testmod/Makefile"
	kmake "$ARCH" "$CONFIG" M="$OUT/bpf-testmod" modules
}

install_tests()
{
	rm -rf "$TO"
	mkdir -p "$TO"
	cp "$DIR"/{test_progs,urandom_read,liburandom_read.so,uprobe_multi} \
		"$OUT/bpf-testmod/bpf_testmod.ko" "$TO/" || return
	"${CROSS}strip" --strip-debug "$TO/uprobe_multi" || return
	$CC -shared -fPIC -O2 -Wall -Werror -o "$TO/preload.so" "$LAB/guest/bpf_preload.c"
}

build()
{
	copy_sources && make_tests test_progs && testmod && install_tests
}

logged "$LOG" "building the cases of selftests/bpf for $ARCH-$CONFIG" build ||
	die "the cases of selftests/bpf do not build (log: $LOG)"
