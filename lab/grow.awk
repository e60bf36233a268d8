# SPDX-License-Identifier: GPL-2.0
#
# A Makefile of the kernel, as it is while some of the sources are still missing:
#
#	awk -v missing="table point tests/" -f grow.awk Makefile
#
# missing: names of objects without .o, or of folders with a slash, that are not to be
# named.  They go from lists of objects (words with .o or with a slash), from lists of
# plain names (every word of the line is a name of a source; all= has those that there
# will be), and so do the flags of an object.  A list that is left empty goes, and a
# paragraph that has lost all its lists; the comment that the file begins with stays.
# With nothing missing the output is the input.

BEGIN {
	count = split(missing, words, " ")
	for (i = 1; i <= count; i++)
		absent[words[i]]
	count = split(all, words, " ")
	for (i = 1; i <= count; i++)
		source[words[i]]
	RS = ""
}

# A word that stands for an object or a folder: its name; else nothing.
function object(word) {
	if (word ~ /\/$/)
		return word
	return word ~ /\.o$/ ? substr(word, 1, length(word) - 2) : ""
}

# Files of two word sizes come together.
function gone(name,	sized) {
	sized = name
	if (sub(/\$\(BITS\)/, "64", sized))
		return sized in absent
	return name in absent
}

# A list of plain names is one of sources.
function plain(nr,	i) {
	for (i = 3; i <= nr; i++)
		if (!(field[i] in source))
			return 0
	return nr > 2
}

# What is left of a line; is_list and lost tell what it was.
function rest(line,	nr, i, name, head, left, names) {
	is_list = lost = 0
	nr = split(line, field, /[ \t]+/)
	if (line ~ /^[#\t ]/ || nr < 3 || field[2] !~ /^[:+]=$/)
		return line
	if (field[1] ~ /^(CFLAGS|AFLAGS)_.*\.o$/) {
		name = field[1]
		sub(/^[^_]*_/, "", name)
		is_list = 1
		lost = gone(object(name))
		return lost ? "" : line
	}
	names = plain(nr)
	for (i = 3; i <= nr; i++) {
		name = names ? field[i] : object(field[i])
		if (name == "")
			return line
		is_list = 1
		if (gone(name))
			lost = 1
		else
			left = left (left == "" ? "" : " ") field[i]
	}
	if (!lost)
		return line
	match(line, /[:+]=[ \t]+/)
	head = substr(line, 1, RSTART + RLENGTH - 1)
	return left == "" ? "" : head left
}

# The comment of the first paragraph is the file's.
{
	count = split($0, lines, "\n")
	lists = kept = 0
	text = comment = ""
	for (i = 1; i <= count; i++) {
		line = rest(lines[i])
		lists += is_list
		kept += is_list && line != ""
		if (is_list && line == "")
			continue
		text = text line "\n"
		if (NR == 1 && text == comment line "\n" && line ~ /^#/)
			comment = text
	}
	if (lists && !kept)
		text = comment
	if (text != "")
		printf "%s%s", (NR > 1 ? "\n" : ""), text
}
