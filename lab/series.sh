#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# series.sh: make series.  Write the overlay as patches against the pristine base, one
# concept each, to $BUILD/series, ready for git am and for git send-email.
#
#   series-repo  a git repository of the files that the series touches, with a commit for
#                each step of the manifest (manifest.sh)
#   series       the patches that git format-patch makes of it, and a cover letter
#   series-early files of the overlay without the parts that the last steps restore
#   series-am    the base with the patches applied, for the proof
#
# With an argument, packages and tree must be there already, and are not changed (make check).
#
# Each run proves that the patches lead from the base to the assembled tree, and runs
# checkpatch on them and get_maintainer on all files (serieslint.sh).
#
# The same base and overlay give the same patches, to the byte.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/manifest.sh"

REPO=$BUILD/series-repo
PROOF=$BUILD/series-am
EARLY=$BUILD/series-early
PATCHES=$BUILD/series
LOG=$LOGS/series.log

# The user's own settings must not change the patches.  The date is one of 7.3.y.
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_NAME='kprobes developers' GIT_AUTHOR_EMAIL=kprobes@localhost
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
export GIT_AUTHOR_DATE="@${SOURCE_DATE_EPOCH:-1793491200} +0000"
export GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

# make_early: for each step that restores parts, make a folder with the files that it and later
# ones change, as they are before it.
make_early()
{
	local i

	rm -rf "$EARLY"
	for ((i = ${#RESTORES[@]} - 1; i >= 0; i--)); do
		mkdir -p "$EARLY/$i"
		[[ ! -d $EARLY/$((i + 1)) ]] || cp -a "$EARLY/$((i + 1))/." "$EARLY/$i"
		sed -n 's,^+++ b/,,p' "$RESTORED/${RESTORES[i]}" |
			rsync -a --ignore-existing --files-from=- "$ROOT/" "$EARLY/$i/"
		patch -p1 -R --fuzz=0 --no-backup-if-mismatch -s -d "$EARLY/$i" \
			<"$RESTORED/${RESTORES[i]}" ||
			die "series: ${RESTORES[i]} does not lead to the overlay"
	done
}

# overlay_file NUMBER FILE: the path of that file of the overlay as it is in that step.
overlay_file()
{
	local i

	for i in "${!RESTORES[@]}"; do
		((RESTORE_AT[i] > $1)) || continue
		[[ ! -f $EARLY/$i/$2 ]] || { echo "$EARLY/$i/$2"; return; }
		break
	done
	echo "$ROOT/$2"
}

# touched: the files that the series adds, changes or removes.
touched()
{
	cat "$BUILD/src.touched"
}

# base_repo DIR: make a repository with one commit: the touched files of the base.
base_repo()
{
	local dir=$1 file base

	base=$(base_tree)
	rm -rf "$dir"
	git init -q "$dir"
	while read -r file; do
		[[ ! -e $base/$file ]] || echo "$file"
	done < <(touched) | rsync -a --no-times --files-from=- "$base/" "$dir/"
	git -C "$dir" add -A -f
	git -C "$dir" commit -q -m "Linux $(make -s -C "$base" kernelversion)"
}

# missing_in NUMBER FOLDER: patterns of grep for lines that a Makefile there must not have
# yet, because they name a source or a folder of a later step.  Makefiles have one object a
# line, at its end; those of kselftests one script, program or included file.
missing_in()
{
	local nr=$1 folder=$2 file name stem

	for file in "${!OWN[@]}"; do
		# A file of the base that is replaced later is there, too.
		((${STEP_OF["file $file"]:-0} > nr)) && [[ ! -e $REPO/$file ]] || continue
		name=${file#"$folder/"}
		case $name in
		*/*/*)	;;
		*/Makefile) echo "${name%Makefile}\$" ;;
		*/*)	;;
		*.[cS])	stem=${name%.[cS]}
			[[ $folder != tools/testing/* ]] || echo "$stem(_32)?\$"
			[[ ! $stem =~ _(32|64)$ ]] ||
				stem="${stem%_*}_(${BASH_REMATCH[1]}|\\\$\\(BITS\\))"
			echo "$stem\\.o\$"
			;;
		*.sh|*.mk) echo "${name//./\\.}\$" ;;
		esac
	done | sed 's/^/[[:space:]]/'
}

# interim_options NUMBER: copy entries of Kconfig.  While there are two implementations, options
# that depend on KPROBES are those of the new one.
interim_options()
{
	if (($1 < SETTLE)); then
		sed -E 's/^(\tdepends on )KPROBES( |$)/\1KPROBES_CORE\2/'
	else
		cat
	fi
}

# put_growing NUMBER: write Makefiles and Kconfig files as they are in that step.
put_growing()
{
	local nr=$1 file key wanted

	for file in "${GROWING[@]}"; do
		((${STEP_OF["file $file"]} <= nr)) || continue
		mkdir -p "$REPO/${file%/*}"
		grep -vEf <(missing_in "$nr" "${file%/*}") "$ROOT/$file" >"$REPO/$file"
	done
	for file in "${!OPTION_FILES[@]}"; do
		wanted=
		for key in "${!STEP_OF[@]}"; do
			[[ $key != "option $file "* ]] || ((${STEP_OF[$key]} > nr)) ||
				wanted+=" ${key##* }"
		done
		[[ -z $wanted ]] || awk -v wanted="$wanted" -f "$LAB/entries.awk" \
			"$ROOT/$file" | interim_options "$nr" >"$REPO/$file"
	done
}

# put_switches NUMBER: write the files that choose between the implementations.
put_switches()
{
	local nr=$1 file new=$REPO/.git/new

	for file in "${!SWITCH[@]}"; do
		((nr >= SWITCH_FROM[$file] && nr < SETTLE)) || continue
		: >"$new"
		((${STEP_OF["file $file"]} > nr)) || cp "$REPO/$file" "$new"
		[[ " ${GROWING[*]} " == *" $file "* ]] || ((${STEP_OF["file $file"]} > nr)) ||
			cp "$(overlay_file "$nr" "$file")" "$new"
		# The switch has that line.
		sed -i '1{/SPDX-License-Identifier/d}' "$new"
		mkdir -p "$REPO/${file%/*}"
		sed -e "/^@new@\$/{r $new" -e 'd}' "$TRANSITION/${SWITCH[$file]}" >"$REPO/$file"
	done
	((nr != SETTLE)) || for file in "${!SWITCH[@]}"; do
		[[ " ${GROWING[*]} " == *" $file "* ]] ||
			cp -p "$(overlay_file "$nr" "$file")" "$REPO/$file"
	done
}

# apply_patch NUMBER FILE ARGUMENT...: apply a patch in that step.
apply_patch()
{
	patch -p1 --fuzz=0 --no-backup-if-mismatch --forward -s -d "$REPO" "${@:3}" <"$2" ||
		die "series: $(step_name "$1"): ${2##*/} does not apply there"
}

# put_lines NUMBER KIND: carry out the lines of that kind in the step, about files of the
# transition, in their order.
put_lines()
{
	local nr=$1 kind name rest

	while read -r kind name rest; do
		[[ $kind == "$2" ]] || continue
		case $kind in
		move)	mkdir -p "$REPO/${rest%/*}"
			mv "$REPO/$name" "$REPO/$rest"
			;;
		interim) mkdir -p "$REPO/${name%/*}"
			cp "$TRANSITION/$rest" "$REPO/$name"
			;;
		drop)	rm "$REPO/$name" ;;
		edit)	apply_patch "$nr" "$TRANSITION/$name" ;;
		undo)	apply_patch "$nr" "$TRANSITION/$name" -R ;;
		restore) apply_patch "$nr" "$RESTORED/$name" ;;
		esac
	done < <(sed '1,/^---$/d' "${STEPS[$nr]}")
}

# put_step NUMBER: add, change and remove the files of that step.
put_step()
{
	local nr=$1 key name

	for key in "${!STEP_OF[@]}"; do
		((${STEP_OF[$key]} == nr)) || continue
		echo "$key"
	done | LC_ALL=C sort >"$REPO/.git/step"
	put_lines "$nr" move
	put_lines "$nr" undo
	while read -r key name; do
		case $key in
		file)	mkdir -p "$REPO/$(dirname "$name")"
			cp -p "$(overlay_file "$nr" "$name")" "$REPO/$name"
			;;
		hunks)	apply_patch "$nr" "$ROOT/patches/$name" ;;
		remove)	rm "$REPO/$name" ;;
		esac
	done <"$REPO/.git/step"
	put_lines "$nr" drop
	put_lines "$nr" interim
	put_lines "$nr" edit
	put_lines "$nr" restore
	put_growing "$nr"
	put_switches "$nr"
}

# make_states: make a commit for each step.
make_states()
{
	local nr

	base_repo "$REPO"
	git -C "$REPO" tag base
	for nr in "${!STEPS[@]}"; do
		put_step "$nr"
		git -C "$REPO" add -A -f
		! git -C "$REPO" diff --cached --quiet ||
			die "series: $(step_name "$nr") changes nothing"
		step_message "$nr" | git -C "$REPO" commit -q -F -
		git -C "$REPO" tag "step-$(step_name "$nr")"
	done
}

# known_base: lab/series/known-base as text, with the checks of each reason together.
known_base()
{
	sed '/^#/d' "$SERIES_DIR/known-base" | awk -F '\t' '
	function put(text, first, others,	line, n, i, words) {
		n = split(text, words, " ")
		line = first
		for (i = 1; i <= n; i++) {
			if (length(line) + length(words[i]) + 1 > 72) {
				print line
				line = others
			}
			line = line (line ~ /[^ ]$/ ? " " : "") words[i]
		}
		print line
	}
	{ put(($1 == "any" ? "" : "(" $1 ") ") $2, "  ", "    "); put($3, "      ", "      ") }'
}

# cover_text FOLDER: the text of its cover letter, with the figures and the base filled in.
cover_text()
{
	local line name

	while IFS= read -r line; do
		case $line in
		'@figures '*)
			name=${line#@figures }
			[[ -f $SERIES_DIR/figures-$name ]] ||
				die "series: the cover letter needs lab/series/figures-$name"
			# Without the column of bounds, which is for the lab only.
			awk '$1 == "row" { width = index($0, "bound") - 1 }
			width { $0 = substr($0, 1, width); sub(/ +$/, "") }
			{ print }' "$SERIES_DIR/figures-$name"
			;;
		@known-base)
			known_base
			;;
		*)	echo "${line//@base@/$(git -C "$REPO" log -1 --format=%s base)}" ;;
		esac
	done <"$SERIES_DIR/covers/$1"
}

# put_cover FOLDER: fill the cover letter in.  The first line of the text is the subject.
put_cover()
{
	local cover=$PATCHES/$1/0000-cover-letter.patch

	cover_text "$1" >"$REPO/.git/cover"
	awk -v text="$REPO/.git/cover" '
	BEGIN { getline subject <text; getline line <text }
	{ sub(/\*\*\* SUBJECT HERE \*\*\*/, subject) }
	/^\*\*\* BLURB HERE \*\*\*$/ {
		while ((getline line <text) > 0)
			print line
		next
	}
	{ print }' "$cover" >"$cover.new"
	mv "$cover.new" "$cover"
	! grep -n -F '*** ' "$cover" || die "series: the cover letter is not filled in ($cover)"
}

# last_of N: the number of the last step of the Nth series.
last_of()
{
	echo $((${FOLDER_FROM[$1 + 1]:-${#STEPS[@]}} - 1))
}

# format: write the patches and the cover letters.
format()
{
	local i from=base to

	rm -rf "$PATCHES"
	for i in "${!FOLDERS[@]}"; do
		to=step-$(step_name "$(last_of "$i")")
		# Show a replaced file as removed and added, not as an edit, and a file that
		# only gets another name as renamed.
		git -C "$REPO" format-patch -q --cover-letter --cover-from-description=none \
			--break-rewrites --find-renames=100% --no-signature --zero-commit \
			--abbrev=12 --diff-algorithm=histogram --stat=72 \
			-o "$PATCHES/${FOLDERS[i]}" "$from..$to"
		put_cover "${FOLDERS[i]}"
		from=$to
	done
}

# tree_of_src: make a git tree, in PROOF, of the touched files in the assembled tree.
tree_of_src()
{
	local file index=$PROOF/.git/src-index

	rm -f "$index"
	touched | while read -r file; do
		[[ ! -e $SRC/$file ]] || echo "$file"
	done | (cd "$SRC" && GIT_DIR=$PROOF/.git GIT_WORK_TREE=$SRC GIT_INDEX_FILE=$index \
		git update-index --add --stdin)
	GIT_DIR=$PROOF/.git GIT_INDEX_FILE=$index git write-tree
}

# blame FILE: the steps that change it.
blame()
{
	git -C "$REPO" log --format=%s base..HEAD -- "$1" | tr '\n' ';'
}

# prove_patches: fail unless the patches on the base give the assembled tree, file by file.
prove_patches()
{
	local want have file
	local -a patches

	mapfile -t patches < <(find "$PATCHES" -name '*.patch' ! -name '0000-*' | LC_ALL=C sort)
	base_repo "$PROOF"
	git -C "$PROOF" am -q "${patches[@]}" >>"$LOG" 2>&1 ||
		die "series: git am stops at: $(git -C "$PROOF" am --show-current-patch=raw | sed -n 's/^Subject: //p') (log: $LOG)"
	want=$(tree_of_src)
	have=$(git -C "$PROOF" rev-parse 'HEAD^{tree}')
	[[ $want != "$have" ]] || return 0
	git -C "$PROOF" diff-tree -r --name-status "$want" "$have" | while read -r _ file; do
		say "  $file differs; changed by: $(blame "$file")"
	done
	die "series: git am does not give the assembled tree $SRC"
}

# names DIR: all names in the folder, without those of touched files.
names()
{
	(cd "$1" && find . -path ./.git -prune -o \( -type f -o -type l \) -printf '%P\n') |
		LC_ALL=C sort | LC_ALL=C comm -23 - <(touched | LC_ALL=C sort)
}

# prove_rest: fail if the base and the assembled tree differ in another file.  diff does not
# read files that they share by hard links.
prove_rest()
{
	local base bad

	base=$(base_tree)
	bad=$(diff <(names "$base") <(names "$SRC") || (($? == 1)))
	[[ -z $bad ]] || die "series: base and assembled tree do not have the same files: $bad"
	bad=$( (diff -rq --no-dereference --exclude=.git "$base" "$SRC" || (($? == 1))) |
		sed -E "/^Only in /d; s,^(Files|Symbolic links) $base/(.*) and .* differ\$,\2," |
		LC_ALL=C sort | LC_ALL=C comm -23 - <(touched | LC_ALL=C sort))
	[[ -z $bad ]] || die "series: the assembled tree differs from the base in: $bad"
}

main()
{
	[[ $BASE == 7.3 ]] || die "the series is for Linux 7.3; BASE=$BASE is a backport"
	lock_build
	(($#)) || { "$LAB/setup.sh" series; "$LAB/tree.sh"; }
	: >"$LOG"
	read_manifest
	make_early
	make_states
	format
	prove_patches
	say "series: ${#STEPS[@]} patches; git am gives the assembled tree, $(touched | wc -l) files touched"
	prove_rest
	say "series: no other file differs between base and assembled tree"
	"$LAB/serieslint.sh"
	say "series: ready in $PATCHES, base $(git -C "$REPO" log -1 --format=%s base)"
}

main "$@"
