#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# crossboot.sh: make cross-boot ARCH=.  Link a whole kernel with the files that cross.sh
# compiles, boot it under QEMU, and judge its KUnit suites, to test that the core works with
# that stock backend.  Then the only program of the guest, lab/guest/crossboot.c, probes
# itself, to test the base's user-space probes in our tree.  Not part of make check, because
# linking takes minutes.

. "$(dirname "$0")/lib.sh"

ARCH=${ARCH:-s390}
OUT=$(out_dir "$ARCH" cross)
CONSOLE=$LOGS/$ARCH-cross-console.log
LIMIT=${BOOT_TIMEOUT:-1200}

# machine: set the emulator with its machine and console, the image, and the console's name.
machine()
{
	case $ARCH in
	arm)	QEMU=(qemu-system-arm -M virt -cpu cortex-a15 -serial "file:$CONSOLE")
		IMAGE=arch/arm/boot/zImage TTY=ttyAMA0 ;;
	mips)	QEMU=(qemu-system-mips64 -M malta -cpu MIPS64R2-generic -serial "file:$CONSOLE")
		IMAGE=vmlinux TTY=ttyS0 ;;
	powerpc) QEMU=(qemu-system-ppc64 -M pseries -serial "file:$CONSOLE")
		IMAGE=vmlinux TTY=hvc0 ;;
	riscv)	QEMU=(qemu-system-riscv64 -M virt -serial "file:$CONSOLE")
		IMAGE=arch/riscv/boot/Image TTY=ttyS0 ;;
	s390)	QEMU=(qemu-system-s390x -nodefaults -chardev "file,id=console,path=$CONSOLE"
			-device "sclplmconsole,chardev=console")
		IMAGE=arch/s390/boot/bzImage TTY=ttyS0 ;;
	*)	die "ARCH=$ARCH cannot be booted; use arm, mips, powerpc, riscv or s390" ;;
	esac
}

# program: compile the guest's program, which needs no C library, and make an initramfs of it.
program()
{
	local headers=$OUT/headers cc
	local -a flags=(-Os -Wall -Wextra -Werror -static -fno-pie -no-pie -nostdlib -ffreestanding
		-fno-asynchronous-unwind-tables -fno-stack-protector)

	case $ARCH in
	arm)	flags+=(-marm) ;;
	powerpc) flags+=(-mno-vsx) ;;
	esac
	cc=$(compiler "$ARCH")
	kmake "$ARCH" cross INSTALL_HDR_PATH="$headers" headers_install || return
	"$cc" "${flags[@]}" -I "$headers/include" -I "$SRC/tools/testing/selftests/uprobes" \
		-include "$SRC/tools/include/nolibc/nolibc.h" -include linux/bpf.h \
		-o "$OUT/crossboot" "$LAB/guest/crossboot.c" -lgcc || return
	gcc -o "$OUT/gen_init_cpio" "$SRC/usr/gen_init_cpio.c" || return
	printf '%s\n' 'dir /dev 755 0 0' 'nod /dev/console 600 0 0 c 5 1' \
		"file /init $OUT/crossboot 755 0 0" >"$OUT/crossboot.list"
	"$OUT/gen_init_cpio" "$OUT/crossboot.list" >"$OUT/crossboot.cpio"
}

boot()
{
	timeout --kill-after=10 "$LIMIT" "${QEMU[@]}" -smp 2 -m 512 -display none \
		-monitor none -no-reboot -kernel "$OUT/$IMAGE" -initrd "$OUT/crossboot.cpio" \
		-append "console=$TTY panic=-1"
}

# judge: every case of every suite must pass, and the kernel must not complain.
judge()
{
	local results

	results=$(awk -v prefix="$ARCH" -f "$LAB/tap.awk" "$CONSOLE")
	"$LAB/judge.sh" "$CONSOLE" ||
		die "$ARCH: the kernel complains, or cases failed (log: $CONSOLE)"
	grep -q '^PASS .*kprobes_test' <<<"$results" ||
		die "$ARCH: the base's own suite has not run (log: $CONSOLE)"
	grep -q '^PASS .*kprobes_register' <<<"$results" ||
		die "$ARCH: our suites have not run (log: $CONSOLE)"
	grep -q '^PASS .*uprobe: perf counts returns' <<<"$results" ||
		die "$ARCH: the program has not run to its end (log: $CONSOLE)"
	! grep '^FAIL' <<<"$results" ||
		die "$ARCH: cases failed (log: $CONSOLE)"
	say "$ARCH: $(grep -c '^PASS' <<<"$results") cases passed, $(grep -c '^SKIP' <<<"$results" || true) skipped"
}

main()
{
	machine
	lock_build
	"$LAB/setup.sh" "$ARCH" boot
	"$LAB/tree.sh"
	"$LAB/config.sh" "$ARCH" cross
	logged "$LOGS/$ARCH-cross-link.log" "building a kernel for $ARCH" \
		kmake "$ARCH" cross --keep-going "$(basename "$IMAGE")" ||
		die "$ARCH does not build (log: $LOGS/$ARCH-cross-link.log)"
	logged "$LOGS/$ARCH-cross-program.log" "building the guest's program" program ||
		die "the guest's program does not build (log: $LOGS/$ARCH-cross-program.log)"
	rm -f "$CONSOLE"
	logged "$LOGS/$ARCH-cross-qemu.log" "booting it, at most $LIMIT s (console: $CONSOLE)" \
		boot || die "the guest of $ARCH did not end by itself (log: $CONSOLE)"
	judge
}

main
