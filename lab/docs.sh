#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# docs.sh: make docs.  Make the kernel's pages about tracing, ours among them, with
# Sphinx.  Fails on a warning about one of our pages, or about a comment that they quote.
# The last lines are the paths of our pages.

. "$(dirname "$0")/lib.sh"

OUT=$BUILD/docs
LOG=$LOGS/docs.log
PAGES="kprobes kprobes-internals uprobes uprobes-internals wprobes"

# pages: the paths of our pages.
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
	# Generated pages of others go to the output folder, too, and not to the tree.
	PYTHONDONTWRITEBYTECODE=1 make -C "$SRC" O="$OUT" SPHINXDIRS=trace \
		YNL_RST_DIR="$OUT/netlink_spec" YNL_INDEX="$OUT/netlink_spec/index.rst" htmldocs
}

main()
{
	local found page

	lock_build
	"$LAB/setup.sh" docs
	"$LAB/tree.sh"
	# Sphinx would not read unchanged pages again, and not repeat its warnings.
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
