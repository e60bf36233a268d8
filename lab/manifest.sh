# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The manifest of the series: lab/series/NNN-name, one file for each patch, in the order of
# the numbers, which leave room.  Sourced after lib.sh; the tree must have been assembled.
#
# A file has the commit's message, a line of three hyphens, and the contents of the patch:
#
#	file PATTERN		adds files of the overlay; * matches slashes, too
#	remove PATH		removes a file of the old implementation.  A file that a
#				"file" of the same path replaces need not be named
#	hunks NAME		applies that file of patches/, which has no message itself
#	grow PATH		adds a Makefile of the overlay, which names an object only
#				from the step on that adds its source
#	options PATH NAME...	adds these options of a Kconfig file of the overlay
#	restore NAME.patch	applies a file of lab/series/restored.  It leads to files of the
#				overlay: until that step, these are as they are without it
#
# Every file, option and hunk of the overlay is in exactly one step.
#
# From "move" to "settle", the old and the new implementation are in one tree, and an option
# chooses between them.  These lines are for that time; NAME is a file of lab/series/transition,
# none of which is in the last step:
#
#	move FROM TO		renames a file of the old implementation; TO is removed later
#	switch PATH NAME	writes NAME to PATH.  A line "@new@" of it stands for the
#				overlay's file of that path, from the step on that adds it
#	interim PATH NAME	writes NAME to PATH, which is no file of the overlay
#	drop PATH		removes it
#	edit NAME.patch		applies it
#	undo NAME.patch		applies it in reverse
#	settle			ends all switches.  Until then, options of the overlay's
#				Kconfig files that depend on KPROBES depend on KPROBES_CORE
#
# lab/series/folders puts the steps into series, each of which has a cover letter.

SERIES_DIR=$LAB/series
MESSAGE_WIDTH=72

# The file of each step.  Steps are counted from 0.
STEPS=()

# "KIND NAME": the number of the step that has it.
declare -A STEP_OF=()

# Makefiles that grow, and Kconfig files that are added option by option.
GROWING=()
declare -A OPTION_FILES=()

# Files of the overlay, and files of the old implementation.
declare -A OWN=() OLD=()

# The present name of each old file that is renamed, and the old name by the present one.
declare -A MOVED=() MOVED_FROM=()

# PATH: the text of its switch, and the first step that has it.  The step that ends them.
declare -A SWITCH=() SWITCH_FROM=()
SETTLE=0

# The files of lab/series/transition that are in use.
TRANSITION=$SERIES_DIR/transition
declare -A TRANSITION_USED=()

# The patches of "restore" lines, and their steps, in the order of the steps.
RESTORED=$SERIES_DIR/restored
RESTORES=()
RESTORE_AT=()

# The series: their names, and the first step of each.
FOLDERS=()
FOLDER_FROM=()

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

# claim NUMBER KEY: record that this step has KEY; fail if another step has it too.
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
		# shellcheck disable=SC2053 # the right side is a pattern
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

# need_transition NUMBER NAME: fail unless lab/series/transition has that file.
need_transition()
{
	[[ -f $TRANSITION/$2 ]] ||
		die "series: $(step_name "$1"): there is no lab/series/transition/$2"
	TRANSITION_USED[$2]=1
}

# read_transition NUMBER KIND NAME REST: read a line that is for the time of both
# implementations.
read_transition()
{
	local nr=$1 kind=$2 name=$3 rest=$4

	case $kind in
	move)	[[ ${OLD[$name]:-} ]] ||
			die "series: $(step_name "$nr"): lab/old-files does not list $name"
		claim "$nr" "move $name"
		MOVED[$name]=$rest
		MOVED_FROM[$rest]=$name
		;;
	switch)	need_transition "$nr" "$rest"
		need_own "$nr" "$name"
		SWITCH[$name]=$rest
		SWITCH_FROM[$name]=$nr
		;;
	interim) need_transition "$nr" "$rest"
		[[ ! ${OWN[$name]:-} ]] ||
			die "series: $(step_name "$nr"): the overlay has $name; use switch"
		;;
	edit)	need_transition "$nr" "$name" ;;
	settle)	SETTLE=$nr ;;
	esac
}

# read_restore NUMBER NAME: read a line that brings something back.
read_restore()
{
	[[ -f $RESTORED/$2 ]] ||
		die "series: $(step_name "$1"): there is no lab/series/restored/$2"
	RESTORES+=("$2")
	RESTORE_AT+=("$1")
}

# read_step NUMBER: read and check the contents of a step.
read_step()
{
	local nr=$1 kind name rest

	while read -r kind name rest; do
		case $kind in
		file)	claim_files "$nr" "$name" ;;
		options)
			# shellcheck disable=SC2086 # a list of words
			claim_options "$nr" "$name" $rest
			;;
		grow)	need_own "$nr" "$name"
			claim "$nr" "file $name"
			GROWING+=("$name")
			;;
		move|switch|interim|drop|edit|undo|settle)
			read_transition "$nr" "$kind" "$name" "$rest"
			;;
		remove) [[ ${OLD[$name]:-} || ${MOVED_FROM[$name]:-} ]] ||
				die "series: $(step_name "$nr"): lab/old-files does not list $name"
			claim "$nr" "remove $name"
			;;
		hunks)	[[ -f $ROOT/patches/$name ]] ||
				die "series: $(step_name "$nr"): there is no patches/$name"
			claim "$nr" "hunks $name"
			;;
		restore) read_restore "$nr" "$name" ;;
		''|'#'*) ;;
		*)	die "series: $(step_name "$nr"): unknown line '$kind'" ;;
		esac
	done < <(sed '1,/^---$/d' "${STEPS[$nr]}")
}

# check_message NUMBER: it needs a capitalised subject, a blank line and a body; no line
# may be too long.
check_message()
{
	local nr=$1 complaint

	grep -qx -- --- "${STEPS[$nr]}" ||
		die "series: $(step_name "$nr") has no line --- after the message"
	complaint=$(step_message "$nr" | awk -v width="$MESSAGE_WIDTH" '
		NR == 1 && $0 !~ /^[^ ].*: [A-Z].*[^.]$/ { print "no subject \"prefix: Verb ...\": " $0 }
		NR == 2 && $0 != "" { print "no blank line after the subject" }
		NR == 3 && $0 != "" { body = 1 }
		length > width { print "too long: " $0 }
		END { if (!body) print "it has no body" }')
	[[ -z $complaint ]] || die "series: message of $(step_name "$nr"): $complaint"
}

# check_complete: every file, option and hunk is in a step.
check_complete()
{
	local file name

	for file in "${!OWN[@]}"; do
		[[ ${STEP_OF["file $file"]:-} || ${OPTION_FILES[$file]:-} ]] ||
			die "series: $file is in no step"
	done
	for file in "${!OPTION_FILES[@]}"; do
		[[ -z ${STEP_OF["file $file"]:-} ]] ||
			die "series: $file is added by option, and as a whole in $(step_name "${STEP_OF["file $file"]}")"
		while read -r name; do
			[[ ${STEP_OF["option $file $name"]:-} ]] ||
				die "series: option $name of $file is in no step"
		done < <(sed -nE 's/^(menu)?config //p' "$ROOT/$file")
	done
	for file in "${!OLD[@]}"; do
		[[ ${STEP_OF["remove ${MOVED[$file]:-$file}"]:-} ||
			! ${MOVED[$file]:-} && ${OWN[$file]:-} ]] ||
			die "series: no step removes $file"
		[[ -z ${STEP_OF["remove $file"]:-} || -z ${STEP_OF["file $file"]:-} ]] ||
			((${STEP_OF["remove $file"]} < ${STEP_OF["file $file"]})) ||
			die "series: $file is removed, but not before $(step_name "${STEP_OF["file $file"]}")"
	done
	for file in "$ROOT"/patches/*.patch; do
		[[ ${STEP_OF["hunks ${file##*/}"]:-} ]] ||
			die "series: patches/${file##*/} is in no step"
		[[ $(head -c 4 "$file") == '--- ' ]] ||
			die "series: patches/${file##*/} must begin with its hunks; the message is in lab/series"
	done
}

# check_restored: every file of lab/series/restored is used.
check_restored()
{
	local file

	for file in "$RESTORED"/*; do
		[[ " ${RESTORES[*]} " == *" ${file##*/} "* ]] ||
			die "series: no step uses $file"
	done
}

# check_transition: every file of lab/series/transition is used.
check_transition()
{
	local file

	for file in "$TRANSITION"/*; do
		[[ ${TRANSITION_USED[${file##*/}]:-} ]] || die "series: no step uses $file"
	done
}

# read_folders: read lab/series/folders: the name of each series, and of its first step.
read_folders()
{
	local folder first nr

	while read -r folder first; do
		[[ -n $folder && $folder != '#'* ]] || continue
		for nr in "${!STEPS[@]}"; do
			[[ $(step_name "$nr") != "$first" ]] || break
		done
		[[ $(step_name "$nr") == "$first" ]] ||
			die "series: lab/series/folders: there is no step $first"
		[[ -f $SERIES_DIR/covers/$folder ]] ||
			die "series: there is no cover letter lab/series/covers/$folder"
		FOLDERS+=("$folder")
		FOLDER_FROM+=("$nr")
	done <"$SERIES_DIR/folders"
	((${FOLDER_FROM[0]:-1} == 0)) ||
		die "series: lab/series/folders does not begin with $(step_name 0)"
	[[ $(printf '%s\n' "${FOLDER_FROM[@]}" | sort -nuc 2>&1) == '' ]] ||
		die "series: lab/series/folders: the steps are not in order"
}

# read_manifest: read and check all steps.
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
	check_transition
	check_restored
	read_folders
}
