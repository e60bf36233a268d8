#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# cross.sh [ARCH]: make cross.  Compile our core and header together with the
# backend that the base kernel has for an architecture without a backend of ours.
# With an argument, compiler and tree must be there already (make check).
# Without one, as "make cross", prepare them first, for ARCH or for all
# architectures.
#
# Nothing is linked, because that would take minutes for each architecture.  Instead,
# search the objects for errors that a linker would find: probe symbols that one of them
# uses and none defines, or that two define.
#
# Ends with UNCHECKED if Debian has no compiler for the architecture.

. "$(dirname "$0")/lib.sh"

UNCHECKED=4

# Our own files, and files of all architectures that include our headers, or that our patches
# change.  User-space probes are those of the base on these architectures.
SHARED="
	kernel/kprobes.o
	kernel/kprobes/
	samples/kprobes/
	kernel/events/uprobes.o
	kernel/exit.o
	kernel/extable.o
	kernel/fork.o
	kernel/trace/trace_kprobe.o
	kernel/trace/trace_uprobe.o
	mm/mmap.o
	mm/vma.o
	$(sanity_test)
	init/main.o
"

# backend ARCH: the architecture's own files; a folder stands for all files in it.
backend()
{
	case $1 in
	arm) echo arch/arm/probes/ arch/arm/kernel/{insn,patch,stacktrace,traps}.o \
		arch/arm/mm/{fault,flush}.o ;;
	csky) echo arch/csky/kernel/probes/ arch/csky/kernel/{ftrace,traps}.o \
		arch/csky/mm/fault.o ;;
	loongarch) echo arch/loongarch/kernel/{kprobes,rethook,rethook_trampoline,uprobes}.o \
		arch/loongarch/kernel/{ftrace_dyn,traps}.o \
		arch/loongarch/mm/fault.o kernel/trace/rethook.o ;;
	mips) echo arch/mips/kernel/{kprobes,traps,uprobes}.o arch/mips/mm/fault.o ;;
	powerpc) echo arch/powerpc/kernel/{kprobes,kprobes-ftrace,optprobes,optprobes_head,rethook}.o \
		arch/powerpc/kernel/{traps,process,uprobes}.o \
		arch/powerpc/lib/{code-patching,sstep}.o arch/powerpc/mm/fault.o \
		kernel/trace/rethook.o ;;
	riscv) echo arch/riscv/kernel/probes/ arch/riscv/kernel/traps.o \
		arch/riscv/mm/fault.o kernel/trace/rethook.o ;;
	s390) echo arch/s390/kernel/{kprobes,rethook,ftrace,mcount,traps,dumpstack,uprobes}.o \
		arch/s390/lib/{probes,test_kprobes,test_kprobes_asm}.o arch/s390/mm/fault.o \
		kernel/trace/rethook.o ;;
	sparc) echo arch/sparc/kernel/{kprobes,nmi,perf_event,uprobes}.o arch/sparc/mm/fault_64.o ;;
	esac
}

# Symbols to check: those of probes, and helpers of the compiler that the kernel does
# not have (64 bit divisions on 32 bit).
JUDGED='[ku]probe|kretprobe|rethook|insn_slot|insn_page|__aeabi_u?ldivmod|__u?(div|mod)di3'

# Symbols that the linker script defines.
LINKED='^__(start|stop)_kprobe_blacklist$|^__kprobes_text_(start|end)$'

# objects ARCH OUT: the compiled objects, relative to OUT.
objects()
{
	local target

	for target in $SHARED $(backend "$1"); do
		if [[ $target != */ ]]; then
			echo "$target"
		else
			(cd "$2" && find "${target%/}" -name '*.o' ! -name '*.mod.o')
		fi
	done | sort -u
}

# Remove our objects: make would not repeat the warnings of an object that is up to date.
forget_ours()
{
	local out=$1

	rm -rf "$out/kernel/kprobes" "$out/kernel/kprobes.o" "$out/samples/kprobes"
}

check_built()
{
	local arch=$1 out=$2 object

	objects "$arch" "$out" >"$out/cross-objects"
	while read -r object; do
		[[ -f $out/$object ]] || die "$object has not been built in $out"
	done <"$out/cross-objects"
	# x86 does not compile this file.
	grep -q '^kernel/kprobes/hit/frame_percpu.o' "$out/cross-objects" ||
		die "$arch has not been built with one current probe per CPU"
}

# check_symbols ARCH OUT: weak functions may be defined twice, and used without a definition.
check_symbols()
{
	local arch=$1 out=$2 bad

	(cd "$out" && xargs "$(binutil "$arch" nm)" -A <cross-objects) >"$out/cross-symbols"
	bad=$(awk -v judged="$JUDGED" -v linked="$LINKED" '
	{ kind = $(NF - 1); symbol = $NF; sub(/^\./, "", symbol) }
	symbol !~ judged || symbol ~ linked { next }
	kind == "U" { user[symbol] = $1 }
	kind ~ /^[TDBRSG]$/ { strong[symbol]++ }
	kind ~ /^[TDBRSGWV]$/ { defined[symbol] }
	END {
		for (s in user)
			if (!(s in defined))
				print s ": no object defines it, used by " user[s]
		for (s in strong)
			if (strong[s] > 1)
				print s ": defined " strong[s] " times"
	}' "$out/cross-symbols")
	[[ -z $bad ]] || {
		sed 's/^/    /' <<<"$bad"
		die "$arch: the symbols of core and backend do not match (symbols: $out/cross-symbols)"
	}
}

compile()
{
	local arch=$1
	# shellcheck disable=SC2046,SC2086 # lists of words
	kmake "$arch" cross --keep-going $SHARED $(backend "$arch")
}

cross()
{
	local arch=$1 out found log=$LOGS/$1-cross-build.log

	out=$(out_dir "$arch" cross)
	if ! command -v "$(compiler "$arch")" >/dev/null; then
		say "$arch: NOT CHECKED, this Debian has no $(compiler "$arch")"
		return "$UNCHECKED"
	fi
	"$LAB/config.sh" "$arch" cross
	forget_ours "$out"
	logged "$log" "compiling our core and the stock backend of $arch" \
		compile "$arch" ||
		die "our core and the stock backend of $arch do not compile (log: $log)"
	found=$(complaints "$log")
	[[ -z $found ]] || {
		sed 's/^/    /' <<<"$found"
		die "$arch: warnings about our own files (log: $log)"
	}
	check_built "$arch" "$out"
	check_symbols "$arch" "$out"
	say "$arch: $(wc -l <"$out/cross-objects") objects compile, and their symbols match"
}

main()
{
	local arch status failed=0 arches=${ARCH:-$(cross_arches)}

	for arch in $arches; do
		[[ " $(cross_arches) " == *" $arch "* ]] ||
			die "ARCH=$arch is not one of $(cross_arches)"
	done
	lock_build
	# shellcheck disable=SC2086 # a list of words
	"$LAB/setup.sh" $arches
	"$LAB/tree.sh"
	for arch in $arches; do
		status=0
		"$LAB/cross.sh" "$arch" || status=$?
		((status == 0 || status == UNCHECKED)) || failed=1
	done
	return "$failed"
}

if (($#)); then
	cross "$1"
else
	main
fi
