#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# cycles.sh: make cycles.  Run the assembly of a detour and of the return trampoline, the
# base's and ours, in user space on this machine's processor, and print the cycles.
# lab/cycles has the program.
#
# The program is linked from objects of both kernels in the configuration of the benchmark,
# for which no whole kernel is built.  ARCH is that of this machine, and no other.
#
# A missed bound is shown, and is no failure.

. "$(dirname "$0")/lib.sh"

# host_arch: the architecture of this machine; empty if it is not one of ours.
host_arch()
{
	case $(uname -m) in
	x86_64)	echo x86_64 ;;
	aarch64) echo arm64 ;;
	esac
}

HOST=$(host_arch)
ARCH=${ARCH:-$HOST}
OUT=$BUILD/cycles
LOG=$LOGS/$ARCH-cycles.log

# objects CONFIG: the objects that are linked, without those of lab/cycles/kernel.
objects()
{
	case $ARCH-$1 in
	x86_64-bench)
		echo arch/x86/kernel/kprobes/hit/{detour_64,trampoline_64}.o
		echo kernel/kprobes/{point,hit/detour,hit/frame}.o
		;;
	x86_64-bench-base)
		echo arch/x86/kernel/kprobes/{core,opt}.o arch/x86/kernel/rethook.o
		echo kernel/kprobes.o
		;;
	arm64-bench)
		echo arch/arm64/kernel/probes/hit/{detour_entry,trampoline}.o
		;;
	esac
}

# own_objects CONFIG: the objects of lab/cycles/kernel that are linked.
own_objects()
{
	case $ARCH-$1 in
	x86_64-bench)	echo ours.o steps.o ;;
	x86_64-bench-base) echo base.o ;;
	esac
}

# make_objects CONFIG: make both.
make_objects()
{
	local copy
	copy=$(out_dir "$ARCH" "$1")/cycles

	# shellcheck disable=SC2046 # a list of words
	kmake "$ARCH" "$1" modules_prepare $(objects "$1") || return
	[[ -n $(own_objects "$1") ]] || return 0
	mkdir -p "$copy"
	rsync -a "$LAB/cycles/kernel/" "$copy/"
	# shellcheck disable=SC2046 # a list of words
	kmake "$ARCH" "$1" M="$copy" W=1 $(own_objects "$1")
}

# join PREFIX OBJECT...: link objects to one of $OUT/parts, and put the prefix before the names
# of all their symbols.
join()
{
	local prefix=$1 joined=$OUT/$1.joined

	shift
	"$(binutil "$ARCH" ld)" -r -z noexecstack -o "$joined" "$@" &&
		"$(binutil "$ARCH" objcopy)" --prefix-symbols="${prefix}_" \
			--rename-section .kprobes.text=kprobes_text \
			"$joined" "$OUT/parts/$prefix.o"
}

# join_x86_64 OURS BASE: the objects of the folders OURS and BASE: our code; our assembly
# without C functions (steps.o has kprobe_detour_enter(), too); the base's code.
join_x86_64()
{
	join ours "$1"/arch/x86/kernel/kprobes/hit/detour_64.o \
		"$1"/kernel/kprobes/{point,hit/detour,hit/frame}.o "$1"/cycles/ours.o &&
	join bare "$1"/arch/x86/kernel/kprobes/hit/trampoline_64.o "$1"/cycles/steps.o &&
	objcopy --globalize-symbol=optimized_callback "$2"/arch/x86/kernel/kprobes/opt.o \
		"$OUT/opt.joined" &&
	join base "$OUT/opt.joined" "$2"/arch/x86/kernel/{kprobes/core,rethook}.o \
		"$2"/kernel/kprobes.o "$2"/cycles/base.o
}

# join_arm64 OURS: our assembly without C functions.
join_arm64()
{
	join bare "$1"/arch/arm64/kernel/probes/hit/{detour_entry,trampoline}.o
}

# link_program: link these objects with the program.  Functions that a hit does not call stay
# undefined.
link_program()
{
	local cc ours probes

	cc=$(compiler "$ARCH" bench)
	ours=$(out_dir "$ARCH" bench)
	rm -rf "$OUT"
	mkdir -p "$OUT/parts"
	"join_$ARCH" "$ours" "$(out_dir "$ARCH" bench-base)" || return
	case $ARCH in
	x86_64)	probes=$SRC/arch/x86/kernel/kprobes ;;
	arm64)	probes=$SRC/arch/arm64/kernel/probes ;;
	esac
	"$cc" -c -D__ASSEMBLY__ -I "$probes" -I "$ours/include/generated" \
		-o "$OUT/parts/functions.o" "$LAB/cycles/$ARCH.S" &&
		"$cc" -O2 -Wall -Wextra -Wno-unused-parameter -Werror -static -no-pie \
			-Wl,--unresolved-symbols=ignore-all -o "$OUT/cycles" \
			"$LAB"/cycles/{main,"$ARCH"}.c "$OUT"/parts/*.o
}

# processor: its name.
processor()
{
	lscpu | sed -nE 's/^Model name: *//p' | head -n 1
}

main()
{
	local config

	[[ -n $HOST ]] || die "make cycles needs an x86-64 or arm64 machine; this one is $(uname -m)"
	[[ $ARCH == "$HOST" ]] ||
		die "ARCH=$ARCH cannot be measured here: the code runs on this machine's own processor, which is $HOST"
	[[ $BASE == 7.3 ]] || die "make cycles is for Linux 7.3; BASE=$BASE is a backport"
	lock_build
	"$LAB/setup.sh"
	"$LAB/tree.sh"
	for config in bench bench-base; do
		[[ -n $(objects "$config") ]] || continue
		"$LAB/config.sh" "$ARCH" "$config"
		logged "$LOGS/$ARCH-$config-cycles.log" "building objects of $ARCH-$config" \
			make_objects "$config" ||
			die "the objects do not build (log: $LOGS/$ARCH-$config-cycles.log)"
	done
	logged "$LOG.link" "linking the program" link_program ||
		die "the program cannot be linked (log: $LOG.link)"
	logged "$LOG" "measuring" "$OUT/cycles" || die "the program has failed (log: $LOG)"
	echo
	echo "Linux $(make -s -C "$SRC" kernelversion), $ARCH, $(processor)"
	echo
	cat "$LOG"
	echo
	say "make cycles, $ARCH: $(grep -c 'MISSED$' "$LOG" || true) bounds are missed, in $SECONDS s (log: $LOG)"
}

main
