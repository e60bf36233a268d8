#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# lint.sh ARCH CONFIG: compile our own files again with W=1 and run sparse over
# them; fail when a warning names one of our files.
#
# Only those objects are made, in the build folder of a kernel that has been
# built.  They are put back afterwards as they were: the flags differ, and the
# next build would compile and link for nothing.

. "$(dirname "$0")/lib.sh"

ARCH=$1
CONFIG=$2
OUT=$(out_dir "$ARCH" "$CONFIG")
LOG=$LOGS/$ARCH-$CONFIG-lint.log

# built OBJECT: it is part of this build, and not left over from another one.
built()
{
	local folder=$OUT/${1%/*}

	[[ -f $OUT/$1 ]] || return
	[[ -f $OUT/${1%.o}.mod ]] ||
		"$(binutil "$ARCH" ar)" t "$folder/built-in.a" 2>/dev/null | sed 's,.*/,,' | grep -qxF "${1##*/}"
}

# objects: our objects in this build, relative to the build folder.
objects()
{
	local object

	own_files | sed -n 's/\.[cS]$/.o/p' | while read -r object; do
		! built "$object" || echo "$object"
	done
}

lint_inputs()
{
	{
		own_files | sed "s,^,$SRC/," | xargs cat
		cat "$OUT/.config" "$LAB/lint.sh" "$BUILD/stage-list"
	} | sha256sum
}

compile()
{
	local -a list

	mapfile -t list < <(objects)
	(cd "$OUT" && for o in "${list[@]}"; do
		printf '%s\n%s\n' "$o" "$(dirname "$o")/.$(basename "$o").cmd"
	done | tar -cf "$OUT/lint-keep.tar" --ignore-failed-read -T -)
	# C=2 checks, W=1 compiles; --keep-going shows everything at once.
	kmake "$ARCH" "$CONFIG" W=1 C=2 CHECK="sparse -Wno-unknown-attribute" \
		--keep-going "${list[@]}" || FAILED=1
	tar -xpf "$OUT/lint-keep.tar" -C "$OUT"
	rm -f "$OUT/lint-keep.tar"
	[[ -z ${FAILED:-} ]]
}

main()
{
	local now count found

	now=$(lint_inputs)
	[[ $(cat "$OUT/lint.ok" 2>/dev/null) != "$now" ]] || {
		say "W=1 and sparse: nothing changed since they were silent ($ARCH-$CONFIG)"
		return
	}
	count=$(objects | wc -l)
	((count)) || die "no object of ours in $OUT: nothing to check"
	logged "$LOG" "W=1 and sparse over $count files of ours, $ARCH-$CONFIG" compile ||
		die "our files do not compile with W=1 (log: $LOG)"
	found=$(complaints "$LOG")
	[[ -z $found ]] || {
		sed 's/^/    /' <<<"$found"
		die "warnings about our own files (log: $LOG)"
	}
	echo "$now" >"$OUT/lint.ok"
}

main
