#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# hitpath.sh ARCH CONFIG: fail if a hit, in a kernel that has been built, reaches a function
# that can be probed.  A probe there would be hit again before the first hit is recorded.
# The source does not show all of these functions: the compiler may emit an inline function
# out of line, in an ordinary section.
#
# The walk begins at the entry of the exception, and at the functions that our files mark
# with NOKPROBE, which detours and trampolines reach by address.  It does not follow
# handlers of users.  Code that a processor executes before it can take a breakpoint must
# not be probed either.
#
# A folder with a folder hit/ has all of its NOKPROBE functions in hit/.  So a hit that
# reaches a function of the other files, which may lock and allocate, reaches a function
# that can be probed.

. "$(dirname "$0")/lib.sh"

ARCH=$1
CONFIG=$2
OUT=$(out_dir "$ARCH" "$CONFIG")
LOG=$LOGS/$ARCH-$CONFIG-hitpath.log

entries()
{
	case $ARCH in
	arm64)	echo el1_brk64 ;;
	*)	echo exc_int3 ;;
	esac
}

# unready: functions that a processor executes before it can take a breakpoint.  Their
# caller, start_secondary(), continues afterwards, so it is no root.
unready()
{
	case $ARCH in
	x86_64)	echo verify_cpu early_setup_idt cr4_init cpu_init_exception_handling ;;
	i386)	echo verify_cpu cr4_init cpu_init_exception_handling ;;
	esac
}

# roots: without entries().  Of these, a kernel has those of its configuration and architecture.
roots()
{
	own_files | grep -E '^(kernel|arch)/.*\.[cS]$' | grep -v /tests/ | sed "s,^,$SRC/," |
		xargs sed -nE 's/^(_ASM_)?NOKPROBE(_SYMBOL)?\((.*)\);?$/\3/p'
}

# misplaced: NOKPROBE functions next to a folder hit/ instead of in it, except those that
# hitpath.known lists: they do not run at a hit.
misplaced()
{
	local file

	own_files | grep -E '^(kernel|arch)/.*\.[ch]$' | grep -vE '/(tests|hit)/' |
		while read -r file; do
			[[ ! -d $SRC/${file%/*}/hit && ! -d $SRC/${file%.c}/hit ]] ||
				(cd "$SRC" && grep -nHE '^NOKPROBE_SYMBOL|nokprobe_inline|__kprobes ' "$file")
		done | grep -vwFf <(awk '/^[^#]/ { print $1 }' "$LAB/hitpath.known") || true
}

# instrumented: objects of folders hit/ that are traced, or that call a sanitizer, or change the
# preemption count by a call, which is traced, with what shows that.  The calls of ftrace are
# not in the disassembly of a kernel whose entries have nops.
instrumented()
{
	local object checked=0

	while read -r object; do
		[[ -f $OUT/$object ]] || continue
		checked=$((checked + 1))
		{
			"$(binutil "$ARCH" objdump)" -h "$OUT/$object"
			"$(binutil "$ARCH" nm)" -u "$OUT/$object"
		} | awk -v object="$object" '
			$2 ~ /^__(mcount_loc|patchable_function_entries|fentry__|sanitizer_cov_.*)$/ ||
			$2 ~ /^_*mcount$|^preempt_count_(add|sub)$|^__(hw)?asan_|^__(tsan|msan|ubsan)_/ {
				print object ": " $2
			}'
	done < <(own_files | sed -nE '/\/hit\//s/\.[cS]$/.o/p')
	((checked)) || echo "no object of these folders is in $OUT"
}

# untried: functions that are in only one of the lists NEAR_HITS, in hitpath.known and in
# anywhere.sh of the kselftests.
untried()
{
	sort <(awk '/^#.*NEAR_HITS/ { on = 1 } /^$/ { on = 0 } on && /^[^#]/ { print $1 }' \
		"$LAB/hitpath.known") \
		<(sed -nE "s/^NEAR_HITS='(.*)'$/\1/p" \
			"$SRC/tools/testing/selftests/kprobes/anywhere.sh" | xargs -n 1) |
		uniq -u
}

# Functions that assembly marks with NOKPROBE, which makes no symbol, unlike in C.  The
# functions that x86's macro THUNK makes are marked, too.
in_assembly()
{
	grep -rhE --include='*.S' '^((_ASM_)?NOKPROBE\(|THUNK [a-z])' \
		"$SRC/arch/$(source_arch "$ARCH")" |
		sed -E 's/.*\((.*)\).*/\1/; s/^THUNK ([a-z_]+).*/\1/'
}

walk()
{
	awk -v needed="$(entries) $(unready)" -v roots="$(roots | xargs)" \
		-v marked="$(in_assembly | xargs)" -f "$LAB/hitpath.awk" \
		"$LAB/hitpath.known" "$OUT/System.map" \
		<("$(binutil "$ARCH" objdump)" -d --no-show-raw-insn "$OUT/vmlinux")
}

found=$(misplaced)
[[ -z $found ]] || {
	sed 's/^/    /' <<<"$found"
	die "these run at a hit, and are not in hit/"
}
found=$(instrumented)
[[ -z $found ]] || {
	sed 's/^/    /' <<<"$found"
	die "these are in hit/, and must not be traced or checked by the compiler's calls"
}
found=$(untried)
[[ -z $found ]] || die "hitpath.known and anywhere.sh have different NEAR_HITS: ${found//$'\n'/ }"
logged "$LOG" "following hits through $ARCH-$CONFIG" walk || {
	sed 's/^/    /' "$LOG"
	die "a hit reaches functions that can be probed (log: $LOG)"
}
