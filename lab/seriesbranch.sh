#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# seriesbranch.sh: make series-branch.  Make the series, and leave it as branches of the base in
# the git repository $BUILD/series-branch: kprobes/FOLDER ends with the last patch of that
# series, and begins with the last one of the series before.  The description of each branch is
# its cover letter, which git format-patch and b4 use.
#
# The base is the commit that KSRC has checked out if it is a git repository, and else one commit
# with all files of the base.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/manifest.sh"

DIR=$BUILD/series-branch
PATCHES=$BUILD/series
LOG=$LOGS/series-branch.log

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

# git_here ARGUMENT...: git in the repository.
git_here()
{
	git -C "$DIR" "$@"
}

# commit_as COMMIT TREE PARENT: make a commit with that tree and the author, date and message
# of COMMIT, and print it.
commit_as()
{
	local -a who

	mapfile -t who < <(git_here log -1 --format='%an%n%ae%n%ad%n%cn%n%ce%n%cd' --date=raw "$1")
	git_here log -1 --format=%B "$1" | env \
		GIT_AUTHOR_NAME="${who[0]}" GIT_AUTHOR_EMAIL="${who[1]}" GIT_AUTHOR_DATE="${who[2]}" \
		GIT_COMMITTER_NAME="${who[3]}" GIT_COMMITTER_EMAIL="${who[4]}" \
		GIT_COMMITTER_DATE="${who[5]}" \
		git -C "$DIR" commit-tree "$2" ${3:+-p "$3"}
}

# make_base: make the repository, with the base in its index and as the branch "base".
make_base()
{
	local base root

	base=$(base_tree)
	rm -rf "$DIR"
	if [[ -e $base/.git ]]; then
		git clone -q --shared --no-checkout "$base" "$DIR"
		git_here branch -f base HEAD
		git_here read-tree HEAD
	else
		git init -q "$DIR"
		git_here config gc.auto 0
		git --git-dir="$DIR/.git" --work-tree="$base" add -A -f
	fi
	# The series' commits have only the files that they touch.
	git_here fetch -q "$BUILD/series-am" +HEAD:refs/series/am
	[[ -e $base/.git ]] || {
		root=$(git_here rev-list --max-parents=0 refs/series/am)
		git_here branch -f base "$(commit_as "$root" "$(git_here write-tree)" '')"
	}
}

# add_commit COMMIT PARENT: make the same change to the whole tree, and print the commit.
add_commit()
{
	git_here diff-tree -r --no-renames --raw "$1^" "$1" |
		sed -E 's/^:[0-7]+ ([0-7]+) [0-9a-f]+ ([0-9a-f]+) [A-Z]\t/\1 \2\t/' |
		git_here update-index --index-info
	commit_as "$1" "$(git_here write-tree)" "$2"
}

# tracking FOLDER BEFORE: what b4 notes of a branch that "b4 prep" has made.
tracking()
{
	printf '{"series": {"revision": 1, "change-id": "kprobes-%s", "base-branch": "%s", "prefixes": []}}' \
		"$1" "$2"
}

# make_branches: make a commit of each patch, and a branch of each series.
make_branches()
{
	local commit at i=0 nr=0 name before=base

	at=$(git_here rev-parse base)
	for commit in $(git_here rev-list --reverse refs/series/am | tail -n +2); do
		at=$(add_commit "$commit" "$at")
		nr=$((nr + 1))
		((nr == ${FOLDER_FROM[i + 1]:-${#STEPS[@]}})) || continue
		name=kprobes/${FOLDERS[i]}
		git_here branch -f "$name" "$at"
		git_here config "branch.$name.description" \
			"$(cover_of "$PATCHES/${FOLDERS[i]}/0000-cover-letter.patch")"
		git_here config "branch.$name.b4-tracking" "$(tracking "${FOLDERS[i]}" "$before")"
		before=$name
		i=$((i + 1))
	done
	git_here update-ref -d refs/series/am
	git_here config b4.prep-cover-strategy branch-description
	git_here checkout -q -f "$name"
}

# cover_of FILE: subject and text of a cover letter, without headers and statistics.
cover_of()
{
	awk '
	/^Subject: / && !subject { subject = 1; sub(/^Subject: (\[[^]]*\] )?/, ""); print; more = 1; next }
	more && /^ / { print substr($0, 2); next }
	/^$/ && !body { body = 1; more = 0; print ""; next }
	body && /^kprobes developers \([0-9]+\):$/ { exit }
	body { print }
	{ more = 0 }' "$1"
}

main()
{
	lock_build
	"$LAB/series.sh"
	read_manifest
	logged "$LOG" "making a repository of the base" make_base || die "that failed (log: $LOG)"
	logged "$LOG" "making ${#STEPS[@]} commits" make_branches || die "that failed (log: $LOG)"
	git_here diff --quiet || die "series-branch: the checked-out tree is not that of its branch"
	say "series-branch: $(git_here branch --list 'kprobes/*' | wc -l) branches on $(git_here log -1 --format=%s base) in $DIR"
}

main
