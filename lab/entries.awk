# SPDX-License-Identifier: GPL-2.0
#
# A Kconfig file with some of its options only:
#
#	awk -v wanted="KPROBES KRETPROBES" -f entries.awk Kconfig
#
# The comment that the file begins with stays, and the title of a section ("# --- ...")
# that has an option left.  With all of them wanted the output is the input.

BEGIN {
	count = split(wanted, words, " ")
	for (i = 1; i <= count; i++)
		want[words[i]]
	keep = 1
}

# Blank lines wait for what comes behind them, so that none is at the end.
function put(line) {
	if (line == "") {
		blank = 1
		return
	}
	if (blank)
		print ""
	blank = 0
	print line
}

/^# ---/ {
	title = $0
	keep = 0
	next
}

/^(config|menuconfig) / {
	keep = $2 in want
	if (keep && title != "") {
		put("")
		put(title)
		put("")
		title = ""
	}
}

keep { put($0) }
!keep && /^$/ { blank = 1 }
