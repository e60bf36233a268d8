#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# lint.sh ARCH CONFIG [FOLDER]: run kernel-doc over our own files, compile them again with
# W=1, and run sparse over them; fail if a warning names one of our files.  With FOLDER/,
# compile only the files in it.
#
# Only the objects of our files are compiled, in the build folder of a kernel that
# has been built.  The previous objects are restored afterwards: their flags differ,
# and the next build would compile and link them again without need.

. "$(dirname "$0")/lib.sh"

ARCH=$1
CONFIG=$2
FOLDER=${3:-}
OUT=$(out_dir "$ARCH" "$CONFIG")
LOG=$LOGS/$ARCH-$CONFIG-lint.log

# built OBJECT: it is part of this build, and does not remain from another one.
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

	own_files | grep "^$FOLDER" | sed -n 's/\.[cS]$/.o/p' | while read -r object; do
		! built "$object" || echo "$object"
	done
}

lint_inputs()
{
	{
		own_files | sed "s,^,$SRC/," | xargs cat
		cat "$OUT/.config" "$LAB/lint.sh" "$BUILD/stage-list"
		echo "$FOLDER"
	} | sha256sum
}

compile()
{
	local -a list

	mapfile -t list < <(objects)
	(cd "$OUT" && for o in "${list[@]}"; do
		printf '%s\n%s\n' "$o" "$(dirname "$o")/.$(basename "$o").cmd"
	done | tar -cf "$OUT/lint-keep.tar" --ignore-failed-read -T -)
	# W=1 compiles and C=2 runs sparse; --keep-going shows all warnings in one run.  Without
	# the definition the kernel's make does not run sparse of Debian 12, but only warns.
	kmake "$ARCH" "$CONFIG" W=1 C=2 CHECK="sparse -Wno-unknown-attribute -D__typeof_unqual__=__typeof__" \
		--keep-going "${list[@]}" || FAILED=1
	tar -xpf "$OUT/lint-keep.tar" -C "$OUT"
	rm -f "$OUT/lint-keep.tar"
	[[ -z ${FAILED:-} ]]
}

# check_comments: kernel-doc must have no warning about our comments.  They are the same
# on every base.
check_comments()
{
	local found

	[[ $BASE == 7.3 ]] || return 0
	found=$(cd "$SRC" && own_files | grep '\.[ch]$' |
		PYTHONDONTWRITEBYTECODE=1 xargs scripts/kernel-doc -none 2>&1 || true)
	[[ -z $found ]] || {
		sed 's/^/    /' <<<"$found"
		die "kernel-doc warns about our own files"
	}
}

main()
{
	local now count found

	now=$(lint_inputs)
	[[ $(cat "$OUT/lint.ok" 2>/dev/null) != "$now" ]] || {
		say "kernel-doc, W=1 and sparse: no change since they were silent ($ARCH-$CONFIG)"
		return
	}
	check_comments
	count=$(objects | wc -l)
	((count)) || die "no object of ours in $OUT: nothing to check"
	logged "$LOG" "W=1 and sparse over $count files of ours, $ARCH-$CONFIG" compile ||
		die "our files do not compile with W=1 (log: $LOG)"
	! grep -F 'is not available or not up to date' "$LOG" || die "sparse has not run"
	# For this sparse, __builtin_strlen() is no constant, which module_param() needs.
	found=$(complaints "$LOG" | grep -v ': error: bad constant expression$' || true)
	[[ -z $found ]] || {
		sed 's/^/    /' <<<"$found"
		die "warnings about our own files (log: $LOG)"
	}
	echo "$now" >"$OUT/lint.ok"
}

main
