#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# headers.sh ARCH CONFIG: fail if our <linux/kprobes.h> lacks a name that the base's
# declares.  Both headers are compiled with the options of a configured kernel, and
# with some of the options off.  A name that is missing, or that has another number of
# parameters, must be in lab/headers.known, with the reason.  A name in that file that is
# not missing is a failure, too.

. "$(dirname "$0")/lib.sh"

ARCH=$1
CONFIG=$2
OUT=$(out_dir "$ARCH" "$CONFIG")
LOG=$LOGS/$ARCH-$CONFIG-headers.log

# Options to switch off, one variant a line, as Kconfig allows on x86 and arm64.
VARIANTS='
none
KPROBES_ON_FTRACE
KPROBES OPTPROBES KRETPROBES KPROBES_ON_FTRACE JPROBES
'

# declared TREE OPTIONS...: the names that its header declares with those options off.
declared()
{
	local tree=$1 source option

	source=$(source_arch "$ARCH")
	shift
	# shellcheck disable=SC2046 # a word, or none
	{
		for option in "$@"; do
			echo "#undef CONFIG_$option"
		done
		echo '#include <linux/kprobes.h>'
	} | (cd "$OUT" && "$(compiler "$ARCH")" -E -dD -x c -nostdinc -D__KERNEL__ -DKBUILD_MODNAME='"x"' \
		-DCC_USING_FENTRY -DCC_USING_PATCHABLE_FUNCTION_ENTRY -DKASAN_SHADOW_SCALE_SHIFT=3 \
		$([[ $ARCH != i386 ]] || echo -m32) \
		-I"$tree/arch/$source/include" -I"arch/$source/include/generated" \
		-I"$tree/include" -Iinclude \
		-I"$tree/arch/$source/include/uapi" -I"arch/$source/include/generated/uapi" \
		-I"$tree/include/uapi" -Iinclude/generated/uapi \
		-include "$tree/include/linux/compiler-version.h" \
		-include "$tree/include/linux/kconfig.h" \
		-include "$tree/include/linux/compiler_types.h" -) | python3 "$LAB/headers.py"
}

# missing OPTIONS...: the names that only the base declares with those options off.
missing()
{
	comm -23 <(declared "$(base_tree)" "$@") <(declared "$SRC" "$@") |
		while read -r kind name; do
			[[ $kind == field ]] || name=${name%/*}
			echo "$name"
		done
}

compare()
{
	local variant

	while read -r variant; do
		# shellcheck disable=SC2086 # a list of words
		[[ -z $variant ]] || missing $variant
	done <<<"$VARIANTS" | sort -u
}

main()
{
	local source

	source=$(source_arch "$ARCH")
	compare >"$LOG" || die "$ARCH: the headers do not compile (log: $LOG)"
	[[ $(declared "$(base_tree)" none | wc -l) -gt 100 ]] ||
		die "$ARCH: no names were found in the base's header"
	awk -F '\t+' -v arch="$source" '
	FNR == NR {
		if ($0 !~ /^#/ && NF >= 3 && ($2 == arch || $2 == "all"))
			known[$1] = $3
		next
	}
	$1 in known { used[$1]; next }
	{ print $1 ": the base declares it, ours does not"; bad = 1 }
	END {
		for (name in known)
			if (!(name in used)) {
				print name ": in lab/headers.known, but not missing"
				bad = 1
			}
		exit bad
	}' "$LAB/headers.known" "$LOG" ||
		die "$ARCH-$CONFIG: <linux/kprobes.h> lacks names of the base's (names: $LOG)"
	say "$ARCH-$CONFIG: <linux/kprobes.h> declares every name of the base's, except $(wc -l <"$LOG") known ones"
}

main
