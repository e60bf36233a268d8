#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# anywhere.sh: make anywhere [ARCH=] [CONFIG=dist] [BOOTS=] [LISTS=n] [FROM=].  Probe every
# instruction of a kernel's text: the guest registers the addresses of one list after
# the other, as breakpoints and then as jumps, while the kernel patches itself
# (whole_text.sh of the kselftests).  LISTS is a number of random lists to use instead of
# all; FROM is the first list to use, "PHASE-NUMBER".

. "$(dirname "$0")/lib.sh"

ARCH=${ARCH:-x86_64}
CONFIG=${CONFIG:-dist}
export ARCH CONFIG
OUT=$(out_dir "$ARCH" "$CONFIG")
TEXT=$OUT/guest/text
PER_LIST=8192

# addresses: the addresses of all instructions outside of init text, from the disassembler.
# The padding between functions is int3.
addresses()
{
	"$(binutil "$ARCH" objdump)" -d --no-show-raw-insn "$OUT/vmlinux" |
		awk '/^Disassembly of section/ { on = $4 ~ /^\.text/ }
		on && /^ *[0-9a-f]+:\t/ && $2 != "int3" { sub(/:.*/, "", $1); print $1 }'
}

# spread JUMP: print "PHASE ADDRESS" such that addresses of one phase are at least JUMP
# bytes apart.
spread()
{
	awk -v jump="$1" '
	function low(address,	i, value) {
		for (i = length(address) - 6; i <= length(address); i++)
			value = value * 16 + index("0123456789abcdef", substr(address, i, 1)) - 1
		return value
	}
	{
		at = low($1)
		# The low digits wrap every 256 MiB.  Start again.
		if (at < before)
			delete last
		before = at
		for (phase = 0; phase in last && at < last[phase] + jump; phase++)
			;
		last[phase] = at
		print phase, $1
	}'
}

write_lists()
{
	local jump=5

	[[ $ARCH != arm64 ]] || jump=4
	rm -rf "$TEXT"
	mkdir -p "$TEXT"
	addresses | spread "$jump" | LC_ALL=C sort -s -n -k1,1 |
		awk -v dir="$TEXT" -v most="$PER_LIST" '
		$1 != phase || nr == most {
			if (list)
				close(list)
			phase = $1
			nr = 0
			list = sprintf("%s/%d-%04d", dir, phase, n++)
		}
		!list { list = sprintf("%s/%d-%04d", dir, phase, n++) }
		{ print $2, 0, nr++ % 3 ? "k" : "p" >list }'
	(cd "$TEXT" && for list in *; do
		[[ ! $list < ${FROM:-} ]] || rm "$list"
	done)
	[[ -z ${LISTS:-} ]] ||
		find "$TEXT" -type f | shuf | tail -n +$((LISTS + 1)) | xargs -r rm
	echo "$(cat "$TEXT"/* | wc -l) addresses in $(find "$TEXT" -type f | wc -l) lists"
}

boots()
{
	local file=$LAB/config/$CONFIG-$ARCH.boots

	if [[ -f $file ]]; then
		sed -E '/^#/d; /^[[:space:]]*$/d; s/[[:space:]]*\|[[:space:]]*/|/g' "$file"
	else
		echo 'one|-|-|'
	fi
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
	say "$1: $(grep -E '^# [0-9]+ addresses' "$output" || echo 'not all lists') (logs: $console $output)"
	return "$status"
}

main()
{
	local name cpu words arguments status=0

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
		run_boot "$name" "$cpu" "$arguments" || status=1
	done 3< <(boots)
	return "$status"
}

main
