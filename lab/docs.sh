#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# docs.sh: make docs.  The kernel's pages about tracing with Sphinx, ours among them; a
# warning about one of our pages, or about a comment that they quote, fails.
# The last lines are their paths.

. "$(dirname "$0")/lib.sh"

OUT=$BUILD/docs
LOG=$LOGS/docs.log
PAGES="kprobes kprobes-internals"

# pages: what has to be there afterwards.
pages()
{
	local page

	for page in $PAGES; do
		echo "$OUT/Documentation/output/trace/$page.html"
	done
}

make_pages()
{
	mkdir -p "$OUT/netlink_spec"
	# Pages that others generate go to the output folder, too: the tree stays as it is.
	PYTHONDONTWRITEBYTECODE=1 make -C "$SRC" O="$OUT" SPHINXDIRS=trace \
		YNL_RST_DIR="$OUT/netlink_spec" YNL_INDEX="$OUT/netlink_spec/index.rst" htmldocs
}

main()
{
	local found page

	lock_build
	"$LAB/setup.sh" docs
	"$LAB/tree.sh"
	# What has not changed is not read again, and would not be complained about.
	rm -rf "$OUT"
	logged "$LOG" "making the pages" make_pages || die "Sphinx failed (log: $LOG)"
	found=$(grep -E 'WARNING|ERROR|warning:|error:' "$LOG" | grep -F -f "$BUILD/own-files" || true)
	[[ -z $found ]] || {
		printf '    %s\n' "$found"
		die "warnings about our pages (log: $LOG)"
	}
	for page in $(pages); do
		[[ -s $page ]] || die "$page has not been made (log: $LOG)"
	done
	say "no warning about the pages, or about the comments that they quote"
	pages
}

main
