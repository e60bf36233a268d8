# SPDX-License-Identifier: GPL-2.0
#
# Print a Makefile of the kernel as it is while some of the sources are still missing:
#
#	awk -v missing="table point tests/" -f grow.awk Makefile
#
# missing: names of objects without .o, and of folders with a slash, to be left out.  They
# are removed from lists of objects (words with .o or with a slash) and from lists of
# plain names (every word of the line is the name of a source; all= has all of these), and
# so are the flags of these objects.  A list that becomes empty is removed, and so is a
# paragraph that loses all its lists; the comment at the beginning of the file stays.
# If no name is missing, the output is the input.

BEGIN {
	count = split(missing, words, " ")
	for (i = 1; i <= count; i++)
		absent[words[i]]
	count = split(all, words, " ")
	for (i = 1; i <= count; i++)
		source[words[i]]
	RS = ""
}

# The name in a word that stands for an object or a folder; empty for other words.
function object(word) {
	if (word ~ /\/$/)
		return word
	return word ~ /\.o$/ ? substr(word, 1, length(word) - 2) : ""
}

# The sources for both word sizes are added in the same step.
function gone(name,	sized) {
	sized = name
	if (sub(/\$\(BITS\)/, "64", sized))
		return sized in absent
	return name in absent
}

# True if all words of the list are plain names of sources.
function plain(nr,	i) {
	for (i = 3; i <= nr; i++)
		if (!(field[i] in source))
			return 0
	return nr > 2
}

# The rest of a line without missing names.  Sets is_list, and lost if a name was removed.
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

# The comment in the first paragraph belongs to the file.
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
