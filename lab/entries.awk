# SPDX-License-Identifier: GPL-2.0
#
# Print a Kconfig file with only some of its options:
#
#	awk -v wanted="KPROBES KRETPROBES" -f entries.awk Kconfig
#
# The comment at the beginning of the file stays, and so does the title of a section
# ("# --- ...") that has one of the options.  With all options the output is the input.

BEGIN {
	count = split(wanted, words, " ")
	for (i = 1; i <= count; i++)
		want[words[i]]
	keep = 1
}

# Print a blank line only before another line, so that none is at the end.
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
