#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# anywhere.sh: make anywhere [ARCH=] [CONFIG=dist] [BOOTS=] [LISTS=n] [FROM=].  Probe every
# instruction of a kernel's text: the guest registers the addresses of one list after
# the other, as breakpoints and then as jumps, while the kernel patches itself
# (whole_text.sh of the kselftests).  LISTS is a number of random lists to use instead of
# all; FROM is the number of the first list to use, four digits.

. "$(dirname "$0")/lib.sh"

ARCH=${ARCH:-x86_64}
CONFIG=${CONFIG:-dist}
export ARCH CONFIG
OUT=$(out_dir "$ARCH" "$CONFIG")
TEXT=$OUT/guest/text
PER_LIST=16384

# addresses: the addresses of all instructions outside of init text, from the disassembler.
# The padding between functions is int3.
addresses()
{
	"$(binutil "$ARCH" objdump)" -d --no-show-raw-insn "$OUT/vmlinux" |
		awk '/^Disassembly of section/ { on = $4 ~ /^\.text/ }
		on && /^ *[0-9a-f]+:/ && $2 != "int3" { sub(/:.*/, "", $1); print $1 }'
}

# write_lists: deal the addresses out to lists of at most PER_LIST, one after the other like
# cards.  So each list has a few instructions of every function, no list has all of one on
# which the whole kernel waits, and the jumps of a list do not overlap.
write_lists()
{
	rm -rf "$TEXT"
	mkdir -p "$TEXT"
	addresses >"$TEXT.all"
	[[ -s $TEXT.all ]] || die "the disassembler shows no instruction"
	awk -v dir="$TEXT" -v lists=$(($(wc -l <"$TEXT.all") / PER_LIST + 1)) '{
		list = sprintf("%s/%04d", dir, NR % lists)
		print $1, 0, int(NR / lists) % 3 ? "k" : "p" >list
	}' "$TEXT.all"
	rm "$TEXT.all"
	(cd "$TEXT" && for list in *; do
		[[ ! $list < ${FROM:-} ]] || rm "$list"
	done)
	[[ -z ${LISTS:-} ]] ||
		find "$TEXT" -type f | shuf | tail -n +$((LISTS + 1)) | xargs -r rm
	echo "$(cat "$TEXT"/* | wc -l) addresses in $(find "$TEXT" -type f | wc -l) lists"
}

# run_boot NAME CPU ARGUMENTS
run_boot()
{
	local console=$LOGS/$ARCH-$CONFIG-$1-anywhere-console.log
	local output=$LOGS/$ARCH-$CONFIG-$1-anywhere.log cpu=$2 status=0

	[[ $cpu != - ]] || cpu=${BOOT_CPU:-}
	# shellcheck disable=SC2086 # a list of words
	BOOT_CPU=$cpu BOOT_TIMEOUT=${BOOT_TIMEOUT:-28800} "$LAB/boot.sh" "$ARCH" "$CONFIG" \
		anywhere "$console" "$output" nokaslr kunit.enable=0 $3 || status=1
	"$LAB/judge.sh" "$console" "$output" || status=1
	grep -E '^not ok' "$output" && status=1
	# A script that ends early, or is skipped, has no results that are not ok.
	grep -qE '^# [0-9]+ addresses' "$output" || status=1
	say "$1: $(grep -E '^# [0-9]+ addresses' "$output" || echo 'not all lists') (logs: $console $output)"
	return "$status"
}

main()
{
	local name cpu words arguments boots=0 status=0

	check_arch "$ARCH"
	check_config "$CONFIG"
	lock_build
	"$LAB/setup.sh" "$ARCH"
	"$LAB/tree.sh"
	"$LAB/build.sh" "$ARCH" "$CONFIG"
	"$LAB/selftests.sh" "$ARCH" "$CONFIG"
	logged "$LOGS/$ARCH-$CONFIG-lists.log" "listing the instructions of $ARCH-$CONFIG" \
		write_lists || die "the instructions cannot be listed"
	"$LAB/initramfs.sh" "$ARCH" "$CONFIG"
	rm -rf "$TEXT"
	while IFS='|' read -r -u 3 name cpu words arguments; do
		[[ -z ${BOOTS:-} || " $BOOTS " == *" $name "* ]] || continue
		boots=$((boots + 1))
		run_boot "$name" "$cpu" "$arguments" || status=1
	done 3< <(boots "$ARCH" "$CONFIG" one)
	((boots)) || die "no boot of $ARCH-$CONFIG has a name of BOOTS=${BOOTS:-}"
	return "$status"
}

main
