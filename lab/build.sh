#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# build.sh ARCH CONFIG: configure and build that kernel and its modules in
# $BUILD/ARCH-CONFIG, and install the modules into its folder "modules".
#
# Fails on errors, on warnings about files that the overlay has or patches, and on complaints of
# objtool: unwinding and live patching rely on the data that objtool makes.

. "$(dirname "$0")/lib.sh"

ARCH=$1
CONFIG=$2
OUT=$(out_dir "$ARCH" "$CONFIG")
LOG=$LOGS/$ARCH-$CONFIG-build.log

# objtool runs once per object.  Delete an object that it has complained about, so that
# the next build complains again.
check_objtool()
{
	local object

	grep -E 'warning: objtool:|error: objtool:' "$LOG" >"$LOG.objtool" || {
		rm -f "$LOG.objtool"
		return 0
	}
	say "objtool complains:"
	sed 's/^/    /' "$LOG.objtool"
	while read -r object; do
		rm -f "$OUT/$object"
	done < <(sed -nE 's,^([^ :]+\.o): (warning|error): objtool.*,\1,p' "$LOG.objtool" | sort -u)
	die "the objtool check of $ARCH-$CONFIG failed (log: $LOG.objtool)"
}

# Likewise for warnings of the compiler.
check_warnings()
{
	local file
	local -a staged

	mapfile -t staged <"$BUILD/stage-list"
	complaints "$LOG" "${staged[@]}" >"$LOG.warnings"
	[[ -s $LOG.warnings ]] || {
		rm -f "$LOG.warnings"
		return 0
	}
	say "the compiler complains:"
	sed 's/^/    /' "$LOG.warnings"
	for file in "${staged[@]}"; do
		[[ $file != *.c ]] || ! grep -qF "$file:" "$LOG.warnings" || rm -f "$OUT/${file%.c}.o"
	done
	die "there are warnings about files of ours or of patches/ (log: $LOG.warnings)"
}

# Continue after errors, to show all of them.
build()
{
	kmake "$ARCH" "$CONFIG" --keep-going all
}

main()
{
	local status=0

	"$LAB/config.sh" "$ARCH" "$CONFIG"
	logged "$LOG" "building Linux $ARCH-$CONFIG with $JOBS jobs" build || status=$?
	check_objtool
	((status == 0)) || die "$ARCH-$CONFIG does not build (log: $LOG)"
	check_warnings
	logged "$LOGS/$ARCH-$CONFIG-modules.log" "installing modules of $ARCH-$CONFIG" \
		install_modules "$ARCH" "$CONFIG" || die "modules of $ARCH-$CONFIG cannot be installed"
}

main
