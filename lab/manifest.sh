# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The manifest of the series: lab/series/NNN-name, a file for each patch, in their order;
# the numbers leave room.  Sourced after lib.sh; the tree must have been assembled.
#
# A file is the commit's message, a line of three hyphens, and what the patch does:
#
#	file PATTERN		brings files of the overlay; * stands for slashes too
#	remove PATH		takes out a file of the old implementation.  One that a
#				"file" of the same path replaces need not be named
#	hunks NAME		applies that file of patches/
#	grow PATH		brings a Makefile of the overlay, which names objects from
#				the step on that brings their sources (grow.awk)
#	options PATH NAME...	brings these options of a Kconfig file of the overlay
#
# All that the overlay has is in exactly one of them.

SERIES_DIR=$LAB/series
MESSAGE_WIDTH=72

# Of each step: its file.  Steps are counted from 0.
STEPS=()

# "KIND WHAT": the number of the step that it is in.
declare -A STEP_OF=()

# Makefiles that grow, and Kconfig files that are brought by option.
GROWING=()
declare -A OPTION_FILES=()

# Own files, and those of the old implementation.
declare -A OWN=() OLD=()

# step_name NUMBER
step_name()
{
	basename "${STEPS[$1]}"
}

# step_subject NUMBER
step_subject()
{
	head -n 1 "${STEPS[$1]}"
}

# step_message NUMBER
step_message()
{
	sed '/^---$/,$d' "${STEPS[$1]}"
}

# claim NUMBER KEY: that is in this step, and in no other.
claim()
{
	local nr=$1 key=$2

	[[ -z ${STEP_OF[$key]:-} ]] ||
		die "series: $key is in $(step_name "${STEP_OF[$key]}") and in $(step_name "$nr")"
	STEP_OF[$key]=$nr
}

# claim_files NUMBER PATTERN
claim_files()
{
	local nr=$1 pattern=$2 file found=

	for file in "${!OWN[@]}"; do
		# shellcheck disable=SC2053 # it is a pattern
		[[ $file == $pattern ]] || continue
		claim "$nr" "file $file"
		found=1
	done
	[[ $found ]] || die "series: $(step_name "$nr"): the overlay has no $pattern"
}

# need_own NUMBER PATH
need_own()
{
	[[ ${OWN[$2]:-} ]] || die "series: $(step_name "$1"): the overlay has no $2"
}

# claim_options NUMBER PATH NAME...
claim_options()
{
	local nr=$1 file=$2 name

	shift 2
	need_own "$nr" "$file"
	OPTION_FILES[$file]=1
	for name in "$@"; do
		grep -qxE "(menu)?config $name" "$ROOT/$file" ||
			die "series: $(step_name "$nr"): $file has no option $name"
		claim "$nr" "option $file $name"
	done
}

# read_step NUMBER: what it brings.
read_step()
{
	local nr=$1 kind what rest

	while read -r kind what rest; do
		case $kind in
		file)	claim_files "$nr" "$what" ;;
		options)
			# shellcheck disable=SC2086 # a list of words
			claim_options "$nr" "$what" $rest
			;;
		grow)	need_own "$nr" "$what"
			claim "$nr" "file $what"
			GROWING+=("$what")
			;;
		remove) [[ ${OLD[$what]:-} ]] ||
				die "series: $(step_name "$nr"): $what is no file of lab/old-files"
			claim "$nr" "remove $what"
			;;
		hunks)	[[ -f $ROOT/patches/$what ]] ||
				die "series: $(step_name "$nr"): there is no patches/$what"
			claim "$nr" "hunks $what"
			;;
		''|'#'*) ;;
		*)	die "series: $(step_name "$nr"): what does '$kind' mean?" ;;
		esac
	done < <(sed '1,/^---$/d' "${STEPS[$nr]}")
}

# check_message NUMBER: a subject, a blank line, a body, no line too long.
check_message()
{
	local nr=$1 complaint

	grep -qx -- --- "${STEPS[$nr]}" ||
		die "series: $(step_name "$nr") has no line --- behind the message"
	complaint=$(step_message "$nr" | awk -v width="$MESSAGE_WIDTH" '
		NR == 1 && $0 !~ /^[^ ].*: [^ ].*[^.]$/ { print "no subject: " $0 }
		NR == 2 && $0 != "" { print "no blank line behind the subject" }
		NR == 3 && $0 != "" { body = 1 }
		length > width { print "too long: " $0 }
		END { if (!body) print "it says nothing" }')
	[[ -z $complaint ]] || die "series: message of $(step_name "$nr"): $complaint"
}

# check_complete: nothing has been left out.
check_complete()
{
	local file name

	for file in "${!OWN[@]}"; do
		[[ ${STEP_OF["file $file"]:-} || ${OPTION_FILES[$file]:-} ]] ||
			die "series: $file is in no step"
	done
	for file in "${!OPTION_FILES[@]}"; do
		[[ -z ${STEP_OF["file $file"]:-} ]] ||
			die "series: $file comes by option, and as a whole in $(step_name "${STEP_OF["file $file"]}")"
		while read -r name; do
			[[ ${STEP_OF["option $file $name"]:-} ]] ||
				die "series: option $name of $file is in no step"
		done < <(sed -nE 's/^(menu)?config //p' "$ROOT/$file")
	done
	for file in "${!OLD[@]}"; do
		[[ ${STEP_OF["remove $file"]:-} || ${OWN[$file]:-} ]] ||
			die "series: nothing removes $file"
		[[ -z ${STEP_OF["remove $file"]:-} || -z ${STEP_OF["file $file"]:-} ]] ||
			((${STEP_OF["remove $file"]} < ${STEP_OF["file $file"]})) ||
			die "series: $file is removed, but not before $(step_name "${STEP_OF["file $file"]}")"
	done
	for file in "$ROOT"/patches/*.patch; do
		[[ ${STEP_OF["hunks ${file##*/}"]:-} ]] ||
			die "series: patches/${file##*/} is in no step"
	done
}

# read_manifest: all of it, checked.
read_manifest()
{
	local nr file

	while read -r file; do OWN[$file]=1; done < <(own_files)
	while read -r file; do OLD[$file]=1; done <"$BUILD/old-list"
	STEPS=("$SERIES_DIR"/[0-9][0-9][0-9]-*)
	for nr in "${!STEPS[@]}"; do
		check_message "$nr"
		read_step "$nr"
	done
	check_complete
}
