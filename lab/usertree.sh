#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# usertree.sh: make tree.  Leave the assembled tree, with a ready .config, in
# $BUILD/tree for users who want to build it themselves.
#
# It is a copy: the lab builds out of tree, and kbuild refuses that for a tree
# that has been configured.  A second call updates an existing copy and keeps the
# objects that have been built in it.

. "$(dirname "$0")/lib.sh"

ARCH=${ARCH:-x86_64}
CONFIG=${CONFIG:-default}
TREE=$BUILD/tree

copy()
{
	local file

	mkdir -p "$TREE"
	rsync -a "$SRC/" "$TREE/"
	# Remove files of earlier overlays and of the old implementation.
	LC_ALL=C sort -u "$BUILD/src.touched" "$BUILD/tree.touched" 2>/dev/null |
		while read -r file; do
			[[ -e $SRC/$file ]] || rm -f "${TREE:?}/$file"
		done
	cp "$BUILD/src.touched" "$BUILD/tree.touched"
	cp "$(out_dir "$ARCH" "$CONFIG")/.config" "$TREE/.config"
}

main()
{
	check_arch "$ARCH"
	check_config "$CONFIG"
	lock_build
	"$LAB/setup.sh" "$ARCH"
	"$LAB/tree.sh"
	"$LAB/config.sh" "$ARCH" "$CONFIG"
	if [[ $(cat "$BUILD/tree.id" 2>/dev/null) != "$(cat "$BUILD/src.id")" ]]; then
		rm -rf "$TREE"
	fi
	touch "$BUILD/tree.touched"
	logged "$LOGS/usertree.log" "copying the tree to $TREE" copy ||
		die "the tree cannot be copied (log: $LOGS/usertree.log)"
	cp "$BUILD/src.id" "$BUILD/tree.id"
	say "ready to build: cd $TREE && make ARCH=$ARCH -j$JOBS"
	echo "$TREE"
}

main
