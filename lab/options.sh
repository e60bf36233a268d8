#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# options.sh: fail if our sources name an option that no Kconfig of the assembled tree has.  A
# kernel that renames an option would switch off our code for it, and the tests of that code,
# without a message.  Other options must be in lab/options.known, with the reason; an option in
# that file that the tree has, or that our sources do not name, is a failure, too.

. "$(dirname "$0")/lib.sh"

# named: the options that our files and the added lines of the patches name.
named()
{
	{
		own_files | grep -E '(\.[chS]|\.mk|/Makefile[^/]*|/Kconfig[^/]*)$' |
			sed "s,^,$SRC/," | xargs cat
		patch_files | xargs sed -n 's/^+//p'
	} | option_names
}

# defined: the options that the tree has.
defined()
{
	grep -rhoE --include='Kconfig*' '^[[:space:]]*(menu)?config[[:space:]]+[A-Z0-9_]+' "$SRC" |
		awk '{ print $2 }' | sort -u
}

# known: the options that this tree need not have.
known()
{
	awk -F '\t' -v base="$BASE" '/^[^#]/ && $2 == base { print $1 }' "$LAB/options.known" |
		sort
}

names=$(named)
unknown=$(comm -23 - <(defined) <<<"$names")
[[ $unknown == "$(known)" ]] || {
	diff <(known) - <<<"$unknown" | sed -nE '
		s/^> (.+)/    no Kconfig has \1/p
		s/^< (.+)/    needless in options.known: \1/p'
	die "our sources name other options than those of Kconfig and lab/options.known"
}
