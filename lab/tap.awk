# SPDX-License-Identifier: GPL-2.0
#
# tap.awk: translate TAP and KTAP into one line for each case, "PASS|FAIL|SKIP prefix: name".
#
#   awk -v prefix=... -f tap.awk log
#
# Reads a kernel log (time stamps, KUnit's nesting by four blanks) and the output of the
# kselftest runner (nesting by "# ").  A line that sums up the lines nested
# before it is no case, unless it fails and none of them did, or is skipped and one of them was
# not: then the rest did not run.  An expected failure (XFAIL) is not a pass: it is printed as SKIP.
# If the number of cases differs from the plan, that is a failure: cases that did not
# run did not pass.

function out(verdict, text)
{
	print verdict " " prefix ": " text
}

# close_level LEVEL NAME: check the plan of a level that has ended.
function close_level(level, name,	l)
{
	for (l = level; l <= deepest; l++) {
		if ((l in plan) && seen[l] != plan[l]) {
			out("FAIL", name " (planned " plan[l] ", reported " seen[l] + 0 ")")
			failed[l]++
		}
		delete plan[l]
	}
}

function forget(level,	l)
{
	for (l = level; l <= deepest; l++) {
		seen[l] = failed[l] = skips[l] = 0
		delete suite[l]
	}
}

{
	sub(/\r$/, "")
	sub(/^(<[0-9]+>)?\[ *[0-9]+\.[0-9]+\](\[[^]]*\])? ?/, "")
	level = 0
	for (;;) {
		if (sub(/^    /, "") || sub(/^# /, ""))
			level++
		else
			break
	}
	if (level > deepest)
		deepest = level
}

# A log may have several streams, one after the other.
/^K?TAP version / {
	close_level(level, "the tests before")
	seen[level] = failed[level] = skips[level] = 0
}

# The name of the suite that follows: KUnit prints it one level deeper than the suite's
# cases, the kselftest runner prints the name of a script on the level of its cases.
/^Subtest: / {
	suite[level - 1] = substr($0, 10)
}

/^selftests: / {
	suite[level] = $NF
}

/^1\.\.[0-9]+/ {
	plan[level] = substr($1, 4) + 0
	next
}

/^(not )?ok [0-9]+/ {
	good = ($1 == "ok")
	name = $0
	sub(/^(not )?ok [0-9]+( -)? */, "", name)
	if (suite[level] != "" && index(name, suite[level]) == 0)
		name = suite[level] ": " name
	skipped = (name ~ /# (SKIP|XFAIL)/)
	close_level(level + 1, name)
	if (seen[level + 1]) {
		if (!good && !failed[level + 1])
			out("FAIL", name " (as a whole)")
		if (good && skipped && skips[level + 1] < seen[level + 1])
			out("SKIP", name)
		if (failed[level + 1])
			good = 0
	} else if (!good) {
		out("FAIL", name)
	} else if (name ~ /\.sh$/) {
		out("FAIL", name " (no results)")
	} else {
		out(skipped ? "SKIP" : "PASS", name)
	}
	forget(level + 1)
	seen[level]++
	if (!good)
		failed[level]++
	else if (skipped)
		skips[level]++
}

END {
	close_level(0, "the whole run")
}
