#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# hitpath.sh ARCH CONFIG: fail if a hit executes, in a kernel that has been built, what may
# be probed itself.  The compiler has a say in it: an inline function that it makes a
# function of is in no section, and a hit there comes before the first is known.
#
# A hit begins where the exception does, and in what our files have as NOKPROBE: detours
# and trampolines come there by addresses.  What handlers execute is their own.  What a
# processor executes before it can take a breakpoint must not be probed either.
#
# A folder that has a folder hit/ keeps all NOKPROBE functions in there.  So a hit that
# reaches a function of the other files, which may lock and allocate, reaches one that may
# be probed.

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

# unready: what a processor executes before it can take a breakpoint; start_secondary(),
# which calls it, goes on afterwards.
unready()
{
	case $ARCH in
	x86_64)	echo verify_cpu early_setup_idt cr4_init cpu_init_exception_handling ;;
	i386)	echo verify_cpu cr4_init cpu_init_exception_handling ;;
	esac
}

roots()
{
	entries
	unready
	own_files | grep -E '^(kernel|arch)/.*\.[cS]$' | grep -v /tests/ | sed "s,^,$SRC/," |
		xargs sed -nE 's/^(_ASM_)?NOKPROBE(_SYMBOL)?\((.*)\);?$/\3/p'
}

# misplaced: NOKPROBE functions that are beside a folder hit/, and not in it, unless
# hitpath.known has them: they do not run at a hit.
misplaced()
{
	local file

	own_files | grep -E '^(kernel|arch)/.*\.[ch]$' | grep -vE '/(tests|hit)/' |
		while read -r file; do
			[[ ! -d $SRC/${file%/*}/hit && ! -d $SRC/${file%.c}/hit ]] ||
				(cd "$SRC" && grep -nHE '^NOKPROBE_SYMBOL|nokprobe_inline|__kprobes ' "$file")
		done | grep -vwFf <(awk '/^[^#]/ { print $1 }' "$LAB/hitpath.known") || true
}

# What assembly has as NOKPROBE: there is no symbol of that, as there is in C.  The macro
# THUNK of x86 makes functions that are.
in_assembly()
{
	grep -rhE --include='*.S' '^((_ASM_)?NOKPROBE\(|THUNK [a-z])' \
		"$SRC/arch/$(source_arch "$ARCH")" |
		sed -E 's/.*\((.*)\).*/\1/; s/^THUNK ([a-z_]+).*/\1/'
}

# What the blacklist has by its name.
copies()
{
	sed -nE '/executed_by_hits\[\] = \{/,/^\};/s/^\t"(.*)",$/\1/p' "$SRC/kernel/kprobes/symbol.c"
}

walk()
{
	awk -v roots="$(roots | xargs)" -v named="$({ in_assembly; copies; } | xargs)" -f "$LAB/hitpath.awk" \
		"$LAB/hitpath.known" "$OUT/System.map" \
		<("$(binutil "$ARCH" objdump)" -d --no-show-raw-insn "$OUT/vmlinux")
}

found=$(misplaced)
[[ -z $found ]] || {
	sed 's/^/    /' <<<"$found"
	die "these run at a hit, and are not in hit/"
}
logged "$LOG" "following hits through $ARCH-$CONFIG" walk || {
	sed 's/^/    /' "$LOG"
	die "a hit executes what may be probed (log: $LOG)"
}
