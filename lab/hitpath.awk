# SPDX-License-Identifier: GPL-2.0
#
# hitpath.awk: find functions on the path of a hit that can be probed.
#
#	awk -v needed="E F ..." -v roots="A B ..." -v marked="C D ..." -f hitpath.awk KNOWN \
#		SYSTEM.MAP DISASSEMBLY
#
# Follows the direct calls and branches from one function to another, beginning at the
# needed functions, which every kernel has, and at the roots that this one has, and prints each function that it reaches and that the blacklist does not have,
# with the way to it.  It does not follow the calls of that function, nor those of the
# functions in KNOWN.  A line there has the name of a function, or the beginning of several
# names and a *, and the reason why it may be probed.  "marked" are functions that are
# in the blacklist, but not in its symbols.

function whole(name)
{
	sub(/\..*/, "", name)
	return name
}

# Addresses are of one length, so they compare as strings.
function within(address, section)
{
	return ("__" section "_start" in at) && address >= at["__" section "_start"] &&
	       address < at["__" section "_end"]
}

function is_black(name, address)
{
	return whole(name) in black || name ~ /^__(SCT|pfx|cfi)_/ || within(address, "kprobes_text") ||
	       within(address, "noinstr_text") || within(address, "entry_text") ||
	       within(address, "irqentry_text") || within(address, "idmap_text") ||
	       within(address, "hyp_text") || within(address, "x86_thunk_text") ||
	       within(address, "x86_rethunk_text")
}

BEGIN {
	n = split(marked, list)
	for (i = 1; i <= n; i++)
		black[list[i]]
}

function is_known(name,	beginning)
{
	for (beginning in known_beginning)
		if (index(name, beginning) == 1)
			return 1
	return whole(name) in known
}

FILENAME == ARGV[1] {
	if (sub(/\*$/, "", $1))
		known_beginning[$1]
	else if (NF && !/^#/)
		known[$1]
	next
}

FILENAME == ARGV[2] {
	at[$3] = $1
	if (sub(/^_kbl_addr_/, "", $3))
		black[$3]
	next
}

/^[0-9a-f]+ <.*>:$/ {
	from = $1
	name[from] = substr($2, 2, length($2) - 3)
	next
}

# The operand of a call or branch is "address <function+offset>".
$2 ~ /^(call|j|bl?$|b\.|cbn?z$|tbn?z$)/ && match($0, /[0-9a-f]+ <[^>+]+(\+0x[0-9a-f]+)?>/) {
	target = substr($0, RSTART, RLENGTH)
	split(target, word, /[ <>+]+/)
	# If several functions have the name, take the one with the branch; other targets are
	# the beginning of a function.
	to = word[2] == name[from] ? from : word[3] ? "" : word[1]
	if (to == "")
		to = word[2]
	if (to != from)
		calls[from] = calls[from] " " to
}

END {
	for (address in name)
		start[name[address]] = address
	nr_needed = split(needed, list)
	if (!nr_needed) {
		print "no entry of hits is given"
		exit 1
	}
	n = split(needed " " roots, list)
	for (i = 1; i <= n; i++)
		if (list[i] in start) {
			queue[last++] = start[list[i]]
			way[start[list[i]]] = list[i]
		} else if (i <= nr_needed) {
			print list[i] " is not in this kernel"
			found++
		} else {
			absent = absent " " list[i]
			nr_absent++
		}
	begun = last
	for (i = 0; i < last; i++) {
		from = queue[i]
		reached++
		if (is_known(name[from]))
			continue
		if (!is_black(name[from], from)) {
			print way[from]
			found++
			continue
		}
		m = split(calls[from], list)
		for (j = 1; j <= m; j++) {
			to = list[j] in name ? list[j] : start[list[j]]
			if (to == "" || to in way)
				continue
			way[to] = way[from] " > " name[to]
			queue[last++] = to
		}
	}
	printf "%d roots are not in this kernel:%s\n", nr_absent, absent > "/dev/stderr"
	printf "%d functions, from %d roots\n", reached, begun > "/dev/stderr"
	exit found > 0
}
