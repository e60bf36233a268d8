#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# serieslint.sh: run checkpatch --strict on the patches in $BUILD/series, and
# get_maintainer on the overlay's files.  A patch must not change more lines than a reviewer
# reads at once, unless lab/series/long-patches has the reason; tests, samples and documents
# do not count.
#
# Complaints of checkpatch that are allowed are in lab/series/checkpatch-exceptions, with
# their reasons.  Any other complaint fails, and so does an exception without a complaint.
# A patch that has not changed since the last run is not checked again.

. "$(dirname "$0")/lib.sh"

PATCHES=$BUILD/series
WORK=$BUILD/series-lint
EXCEPTIONS=$LAB/series/checkpatch-exceptions
LONG_PATCHES=$LAB/series/long-patches
MAX_LINE=100
MAX_CHANGES=600

# read_patch FILE: complaints of checkpatch, one a line: TYPE, file or "-", the line there,
# the message.
read_patch()
{
	local patch=$1 known status=0

	# The number of the patch in the subject does not matter.
	known=$WORK/$( (sed 's/^Subject: \[PATCH [^]]*\]//' "$patch"
		cat "$SRC/scripts/checkpatch.pl"; echo "$MAX_LINE") | sha256sum | cut -d' ' -f1)
	if [[ ! -e $known ]]; then
		# checkpatch writes a cache to its folder; its status is 1 if it complains.
		(cd "$WORK" && perl "$SRC/scripts/checkpatch.pl" --root="$SRC" --strict --terse \
			--showfile --show-types --no-summary --max-line-length="$MAX_LINE" \
			"$patch") >"$known.new" || status=$?
		((status <= 1)) || die "checkpatch failed with status $status on $patch"
		mv "$known.new" "$known"
	fi
	touch "$known"
	sed -nE 's,^(dev/null)?:-?([0-9]+): [A-Z]+:([A-Z_]+): (.*),\3 - \2 \4,p
		t
		s,^([^:]+):([0-9]+): [A-Z]+:([A-Z_]+): (.*),\3 \1 \2 \4,p' "$known"
	grep -vE '^[^:]*:-?[0-9]+: [A-Z]+:[A-Z_]+: ' "$known" | sed 's/^/UNKNOWN - 0 /' || true
}

# read_patches: the same for all patches, with the name of the patch before each line.
read_patches()
{
	local patch

	mkdir -p "$WORK"
	find "$PATCHES" -name '*.patch' ! -name '0000-*' | LC_ALL=C sort | while read -r patch; do
		read_patch "$patch" | sed "s,^,$(basename "$patch") ,"
	done >"$WORK/complaints"
	# Remove results of patches that do not exist any more.
	find "$WORK" -type f -mtime +30 -delete
}

# judge: print complaints that no exception covers, and exceptions without a complaint.
judge()
{
	local patch type file line message i
	local -a types=() files=() used=()

	while IFS='|' read -r type file message; do
		[[ $type != '#'* && -n $type ]] || continue
		types+=("${type// /}")
		files+=("${file// /}")
		[[ -n ${message// /} ]] || echo "no reason given for ${type// /} in ${file// /}"
	done <"$EXCEPTIONS"
	while read -r patch type file line message; do
		for i in "${!types[@]}"; do
			# shellcheck disable=SC2053 # the right side is a pattern
			[[ $type == "${types[i]}" && $file == ${files[i]} ]] || continue
			used[i]=1
			continue 2
		done
		echo "$patch: $file:$line: $type: $message"
	done <"$WORK/complaints"
	for i in "${!types[@]}"; do
		[[ ${used[i]:-} ]] ||
			echo "no complaint needs the exception ${types[i]} for ${files[i]} any more"
	done
}

# changes FILE: the number of changed lines of a patch, without those of tests, samples and
# documents.
changes()
{
	awk '/^diff --git / { counts = !/\/(tests|testing|samples|Documentation)\// }
	/^(---|\+\+\+) / { next }
	counts && /^[-+]/ { n++ }
	END { print n + 0 }' "$1"
}

# check_lengths: print patches that are too long, and reasons that no patch needs.
check_lengths()
{
	local patch name nr reason
	local -A reasons=()

	while IFS='|' read -r name reason; do
		[[ $name != '#'* && -n $name ]] || continue
		reasons[${name// /}]=$reason
	done <"$LONG_PATCHES"
	while read -r patch; do
		name=$(basename "$patch" .patch)
		name=${name#*-}
		nr=$(changes "$patch")
		((nr > MAX_CHANGES)) || continue
		[[ -n ${reasons[$name]:-} ]] || echo "$name: $nr changed lines"
		unset "reasons[$name]"
	done < <(find "$PATCHES" -name '*.patch' ! -name '0000-*' | LC_ALL=C sort)
	for name in "${!reasons[@]}"; do
		echo "$name is not long, or does not exist"
	done
}

# maintained FILE...: the number of these files that the entry of check_maintainers() covers.
maintained()
{
	(cd "$SRC" && perl scripts/get_maintainer.pl --mpath="$WORK/MAINTAINERS" --no-git \
		--no-git-fallback --sections -f "$@") | grep -c '^KPROBES$' || true
}

# check_maintainers: fail unless the entry KPROBES or UPROBES covers every file.  Use a
# MAINTAINERS with one entry that has the files of both, because get_maintainer reads the
# whole file for each argument.
check_maintainers()
{
	local file
	local -a files

	awk '/^(KPROBES|UPROBES)$/ { entry = $0 } /^$/ { entry = "" }
	entry == "KPROBES" || entry && /^F:/' "$SRC/MAINTAINERS" >"$WORK/MAINTAINERS"
	grep -q '^M:' "$WORK/MAINTAINERS" || die "series: MAINTAINERS has no entry KPROBES"
	mapfile -t files < <(own_files)
	(($(maintained "${files[@]}") != ${#files[@]})) || return 0
	for file in "${files[@]}"; do
		[[ $(maintained "$file") == 1 ]] || say "  $file: not in the entries KPROBES and UPROBES"
	done
	die "series: MAINTAINERS does not cover all files"
}

main()
{
	local bad

	[[ -d $PATCHES ]] || die "there is no $PATCHES: make series"
	logged "$LOGS/series-checkpatch.log" "checkpatch --strict over the patches" read_patches ||
		die "checkpatch cannot be run (log: $LOGS/series-checkpatch.log)"
	bad=$(judge)
	[[ -z $bad ]] || {
		sed 's/^/    /' <<<"$bad"
		die "series: checkpatch (exceptions: $EXCEPTIONS)"
	}
	bad=$(check_lengths)
	[[ -z $bad ]] || {
		sed 's/^/    /' <<<"$bad"
		die "series: patches of more than $MAX_CHANGES changed lines (exceptions: $LONG_PATCHES)"
	}
	say "series: checkpatch: $(wc -l <"$WORK/complaints") complaints, all of them known exceptions"
	check_maintainers
	say "series: get_maintainer finds the entry KPROBES or UPROBES for $(own_files | wc -l) files"
}

main
