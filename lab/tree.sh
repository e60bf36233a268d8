#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tree.sh: assemble the kernel tree that is built, $BUILD/src.
#
#   base     a pristine 7.3.y: KSRC=directory|tarball, else Debian's package; with
#            BASE=6.12 a pristine 6.12.y
#   stage    the differences from the base: the overlay, and patched copies of the
#            files that patches/ and backports/ change
#   src      the base, without the old implementation's files, with the stage
#            laid over it
#
# src is updated by content: a file whose content did not change keeps its time, so
# the next build only compiles files that changed.  No script writes into a file of
# src in place, so src can share its unchanged files with base by hard links.

. "$(dirname "$0")/lib.sh"

STAGE=$BUILD/stage
LOG=$LOGS/tree.log

# Top-level folders of the repository that are not part of the kernel.
NOT_KERNEL='lab patches backports build'

# find_base: set PRISTINE to an unpacked tree, and BASE_ID to a text that changes
# with the base.
find_base()
{
	local ksrc=${KSRC:-$(base_tarball)}

	[[ -e $ksrc ]] || die "KSRC=$ksrc does not exist; give a pristine $BASE.y tree or tarball"
	ksrc=$(realpath "$ksrc")
	if [[ -d $ksrc ]]; then
		PRISTINE=$ksrc
		BASE_ID="$BASE directory $ksrc $(stat -c '%i %Y' "$ksrc/Makefile" 2>/dev/null || true)"
		return
	fi
	PRISTINE=$BUILD/base
	BASE_ID="$BASE tarball $ksrc $(stat -c '%s %Y' "$ksrc")"
	[[ $(cat "$BUILD/base.id" 2>/dev/null) == "$BASE_ID" ]] && return
	rm -rf "$PRISTINE" "$BUILD/base.id"
	mkdir -p "$PRISTINE"
	logged "$LOGS/unpack.log" "unpacking $ksrc" \
		tar -xf "$ksrc" -C "$PRISTINE" --strip-components=1 ||
		die "KSRC=$ksrc is neither a directory nor a tarball that can be unpacked"
	check_version
	echo "$BASE_ID" >"$BUILD/base.id"
}

makefile_value()
{
	sed -n "s/^$1 *= *//p" "$PRISTINE/Makefile" | head -n 1
}

release()
{
	echo "$(makefile_value VERSION).$(makefile_value PATCHLEVEL).$(makefile_value SUBLEVEL)"
}

check_version()
{
	local version

	[[ -f $PRISTINE/Makefile && -f $PRISTINE/Kbuild && -d $PRISTINE/kernel ]] ||
		die "${KSRC:-$PRISTINE} is not a Linux kernel tree"
	version=$(makefile_value VERSION).$(makefile_value PATCHLEVEL)
	[[ $version == "$BASE" && -z $(makefile_value EXTRAVERSION) ]] ||
		die "${KSRC:-$PRISTINE} is Linux $version$(makefile_value EXTRAVERSION), not $BASE.y; the overlay fits 7.3.y and, with BASE=6.12, 6.12.y"
}

# list_own: the overlay's files, relative to the tree.
list_own()
{
	local dir name

	for dir in "$ROOT"/*/; do
		name=$(basename "$dir")
		[[ " $NOT_KERNEL " == *" $name "* || $ROOT/$name == "$BUILD" ]] && continue
		[[ -d $PRISTINE/$name ]] ||
			die "$name/ is neither a folder of the lab nor one of the kernel"
		(cd "$ROOT" && find "$name" \( -type f -o -type l \) \
			! -name '*.orig' ! -name '*.rej' ! -name '*~' ! -name '.*.swp')
	done | kept | LC_ALL=C sort
}

# list_old: the old implementation's files that the base has.
list_old()
{
	local pattern

	while read -r pattern; do
		[[ -z $pattern || $pattern == '#'* ]] && continue
		(cd "$PRISTINE" && compgen -G "$pattern") ||
			die "${KSRC:-the base} has no $pattern: it is not a pristine $BASE.y tree (has an overlay been laid over it?)"
	done <"$LAB/old-files" | kept | LC_ALL=C sort -u
}

# list_patched: the files that the patches change.
list_patched()
{
	patch_files | xargs -r cat |
		sed -nE 's,^(---|\+\+\+) [ab]/([^	 ]+).*,\2,p' | LC_ALL=C sort -u
}

# check_pristine: fail if the base already has files of ours, if it has been configured
# or built in, or if files that we replace or patch differ from its last commit.
check_pristine()
{
	local clash

	if [[ -f $PRISTINE/.config || -d $PRISTINE/include/config ]]; then
		die "$PRISTINE has been configured or built in; clean it with 'make mrproper' or give a pristine tree"
	fi
	clash=$(comm -23 "$BUILD/own-files" "$BUILD/old-list" |
		while read -r file; do
			[[ ! -e $PRISTINE/$file ]] || echo "$file"
		done)
	[[ -z $clash ]] ||
		die "${KSRC:-the base} already has $(wc -l <<<"$clash") of the overlay's files (first: $(head -n 1 <<<"$clash")): it is not a pristine $BASE.y tree"
	if [[ -e $PRISTINE/.git ]]; then
		list_patched | cat - "$BUILD/old-list" |
			(cd "$PRISTINE" && xargs git diff --quiet HEAD --) 2>/dev/null ||
			die "$PRISTINE has uncommitted changes in files that are replaced or patched; give a pristine tree"
	fi
}

# rejected LOG: the files and hunks of the last patch in LOG that did not apply.
rejected()
{
	awk '
	/^== /			{ file = ""; found = "" }
	/^patching file /	{ file = $3 }
	/^Hunk #[0-9]+ FAILED/	{ found = found ", hunk " substr($2, 2) " of " file }
	/^\|\+\+\+ b\//	{ found = found ", " substr($2, 3) " is missing" }
	END { print substr(found, 3) }' "$1"
}

# fill_stage: make the stage anew, with the overlay and the patched files.
fill_stage()
{
	local file patch

	rm -rf "$STAGE"
	mkdir -p "$STAGE"
	rsync -a --files-from="$BUILD/own-files" "$ROOT/" "$STAGE/"
	while read -r file; do
		[[ -e $STAGE/$file || ! -e $PRISTINE/$file ]] ||
			(cd "$PRISTINE" && cp -p --parents "$file" "$STAGE")
	done < <(list_patched)
	while read -r patch; do
		echo "== ${patch#"$ROOT"/}" >>"$LOG"
		check_foreign "$patch"
		patch -p1 --fuzz=0 --no-backup-if-mismatch --forward \
			-d "$STAGE" <"$patch" >>"$LOG" 2>&1 ||
			die "${patch#"$ROOT"/} does not apply to Linux $(release): $(rejected "$LOG") (log: $LOG)"
	done < <(patch_files)
}

# check_foreign PATCH: fail if a patch of patches/ changes a file of the overlay.
check_foreign()
{
	local file

	[[ -e $ROOT/patches/$(basename "$1") ]] || return 0
	while read -r file; do
		die "${1#"$ROOT"/} changes $file, which belongs to the overlay; change the file itself"
	done < <(sed -nE 's,^\+\+\+ b/([^	 ]+).*,\1,p' "$1" | LC_ALL=C sort -u |
		LC_ALL=C comm -12 - "$BUILD/own-files")
}

# fresh_src: make src as a copy of the base.  A base that the lab unpacked itself is
# shared by hard links; a tree of the user is copied.
fresh_src()
{
	local -a how=(-a --reflink=auto)

	[[ $PRISTINE == "$BUILD/base" ]] && how=(-al)
	# Objects of the old base may be newer than files of the new one: remove them all.
	rm -rf "$SRC" "$BUILD/src.id" "$BUILD/src.touched" "$BUILD"/{x86_64,i386,arm64}-* "$BUILD"/*-cross
	logged "$LOGS/copy.log" "preparing $SRC" cp "${how[@]}" "$PRISTINE" "$SRC" ||
		die "cannot copy $PRISTINE to $SRC"
	rm -rf "$SRC/.git"
	echo "$BASE_ID" >"$BUILD/src.id"
	: >"$BUILD/src.touched"
}

# update_src: copy the stage to src, and restore files that an earlier overlay, patch or
# list of old files changed and this one does not.
update_src()
{
	local file

	(cd "$STAGE" && find . \( -type f -o -type l \) -printf '%P\n') |
		LC_ALL=C sort >"$BUILD/stage-list"
	LC_ALL=C sort -u "$BUILD/stage-list" "$BUILD/old-list" >"$BUILD/touched.new"
	while read -r file; do
		rm -f "${SRC:?}/$file"
		# Without -p, so that the file is newer than any object of the other content.
		[[ ! -e $PRISTINE/$file ]] || cp "$PRISTINE/$file" "$SRC/$file"
	done < <(comm -23 "$BUILD/src.touched" "$BUILD/touched.new")
	while read -r file; do
		rm -f "${SRC:?}/$file"
	done < <(comm -23 "$BUILD/old-list" "$BUILD/stage-list")
	# If a later command fails, the list must still have all touched files.
	LC_ALL=C sort -u "$BUILD/src.touched" "$BUILD/touched.new" \
		-o "$BUILD/src.touched"
	rsync -rlpc --no-times --out-format='  %n' \
		--files-from="$BUILD/stage-list" "$STAGE/" "$SRC/" >"$BUILD/changed"
	mv "$BUILD/touched.new" "$BUILD/src.touched"
	cat "$BUILD/changed" >>"$LOG"
}

main()
{
	lock_build
	: >"$LOG"
	find_base
	check_version
	echo "$PRISTINE" >"$BUILD/base.path"
	list_own >"$BUILD/own-files"
	list_old >"$BUILD/old-list"
	check_pristine
	fill_stage
	[[ -d $SRC && $(cat "$BUILD/src.id" 2>/dev/null) == "$BASE_ID" ]] || fresh_src
	update_src
	say "tree: Linux $(release), $(wc -l <"$BUILD/own-files") overlay files," \
		"$(patch_files | wc -l) patches," \
		"$(grep -c '[^/]$' "$BUILD/changed" || true) files changed since last time" \
		"(log: $LOG)"
}

main "$@"
