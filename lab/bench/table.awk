# SPDX-License-Identifier: GPL-2.0
#
# table.awk: print the rows of the benchmark as CSV.
#
#   awk -f table.awk rows results
#
# "results" has lines "base|ours RUN key value"; of several values
# of one key the table has the median.  Output, one line for each row:
#
#   title,unit,base,ours,ratio,bound,verdict
#
# "verdict" is "ok" or "MISSED" if there is a bound.  A row without a result
# of either kernel is printed to standard error, and the script fails.

# value KERNEL RUN KEY: a result; "" if there is none.
function value(kernel, run, key,	part, over)
{
	if (split(key, part, "/") == 2) {
		over = value(kernel, run, part[2])
		if (over == "" || value(kernel, run, part[1]) == "")
			return ""
		return over > 0 ? value(kernel, run, part[1]) / over : ""
	}
	key = kernel " " run " " key
	return nr[key] ? result[key, int((nr[key] + 1) / 2)] : ""
}

# add ID X: add X to the values of ID, which are in ascending order.
function add(id, x,	i)
{
	for (i = nr[id]++; i && result[id, i] > x + 0; i--)
		result[id, i + 1] = result[id, i]
	result[id, i + 1] = x + 0
}

# number X: format X, with more decimals for small numbers.
function number(x)
{
	if (x == int(x))
		return sprintf("%d", x)
	if (x < 0.1)
		return sprintf("%.4f", x)
	return sprintf(x < 10 ? "%.2f" : x < 1000 ? "%.1f" : "%.0f", x)
}

function missing(kernel)
{
	printf "no result of %s: %s (%s, %s)\n", kernel, title, key, run >"/dev/stderr"
	bad++
}

function judge(bound,	part)
{
	if (split(bound, part, " ") != 2 || bound == "no base")
		return ""
	if (part[1] == "ours" || part[1] == "only")
		return ours <= part[2] ? "ok" : "MISSED"
	if (part[1] == "ours_min")
		return ours >= part[2] ? "ok" : "MISSED"
	if (part[1] == "ratio_min")
		return base > 0 && ours / base >= part[2] ? "ok" : "MISSED"
	return base > 0 && ours / base <= part[2] ? "ok" : "MISSED"
}

BEGIN { FS = "|" }
/^#/ || /^$/ { next }
FNR == NR { row[++rows] = $0; next }
{
	id = $0
	sub(/ [^ ]*$/, "", id)
	sub(/.* /, "")
	add(id, $0)
}
END {
	for (i = 1; i <= rows; i++) {
		split(row[i], field, "|")
		key = field[1]
		run = field[2]
		title = field[5]
		base = value("base", run, key)
		ours = value("ours", run, key)
		alone = field[6] ~ /^(no base|only)/
		if (base == "" && !alone)
			missing("base")
		if (ours == "")
			missing("ours")
		if ((base == "" && !alone) || ours == "")
			continue
		base /= field[3]
		ours /= field[3]
		printf "\"%s\",%s,%s,%s,%s,%s,%s\n", title, field[4],
			(alone ? "-" : number(base)), number(ours), (base > 0 ? number(ours / base) : ""),
			field[6], judge(field[6])
	}
	if (!rows)
		print "no rows" >"/dev/stderr"
	exit (bad > 0 || !rows)
}
