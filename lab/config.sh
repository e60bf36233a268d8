#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# config.sh ARCH CONFIG: write the .config of that build: tinyconfig, and over it
# those of the following fragments of lab/config that exist:
#
#   common, SOURCE, ARCH, then CONFIG, CONFIG-SOURCE and CONFIG-ARCH
#
# Each is followed by the file of the same name in lab/config/$BASE.  SOURCE is the
# folder in arch/, x86 for two architectures.  For configs.sh, the fragments of "users"
# come before CONFIG, and for bench-dist those of "bench".  For an architecture
# of cross.sh there are only cross and cross-ARCH, because common is about the guests.  "series"
# has only its own, too, which make a small kernel.  NAME-base is the
# configuration NAME for the base kernel, with the same files; so is NAME-equal, for the
# kernel whose hit paths have no flags of their own.
#
# Then verify that every line took effect: Kconfig silently drops an option with an
# unmet dependency, and a kernel without the option that a test needs must not pass.

. "$(dirname "$0")/lib.sh"

ARCH=$1
CONFIG=$2
[[ $CONFIG == cross ]] || check_arch "$ARCH"
check_config "$CONFIG"
OUT=$(out_dir "$ARCH" "$CONFIG")
LOG=$LOGS/$ARCH-$CONFIG-config.log

fragments()
{
	local name file config=${CONFIG%-base} source
	local -a names before=()
	config=${config%-clang}
	source=$(source_arch "$ARCH")
	config=${config%-equal}
	case $config in
	configs)	before=(users "users-$source" "users-$ARCH") ;;
	bench-dist) before=(bench "bench-$source" "bench-$ARCH") ;;
	esac
	names=(common "$source" "$ARCH" "${before[@]}" "$config" "$config-$source" "$config-$ARCH")

	[[ $CONFIG != cross && $CONFIG != series ]] || names=("${names[@]:3}")
	# The folder may have the name of the architecture.  Use each fragment once.
	printf '%s\n' "${names[@]}" | uniq | while read -r name; do
		for file in "$LAB/config/$name.config" "$LAB/config/$BASE/$name.config"; do
			[[ ! -f $file ]] || echo "$file"
		done
	done
}

# wanted: "SYMBOL VALUE" of every line; the last one of a symbol counts, as in a merge.
wanted()
{
	local -a files

	mapfile -t files < <(fragments)
	sed -nE 's/^(CONFIG_[A-Za-z0-9_]+)=(.*)/\1 \2/p
		s/^# (CONFIG_[A-Za-z0-9_]+) is not set/\1 n/p' "${files[@]}" |
		awk '{ value[$1] = $0 } END { for (s in value) print value[s] }' |
		LC_ALL=C sort
}

# Options that the base does not have.
OWN='CONFIG_(WPROBES|SAMPLE_WPROBES|SAMPLE_UPROBES|UPROBES_KUNIT_TEST)'

verify()
{
	local symbol value got bad=0

	while read -r symbol value; do
		[[ $CONFIG != *-base || ! $symbol =~ ^$OWN$ ]] || continue
		got=$(sed -nE "s/^$symbol=//p" "$OUT/.config")
		[[ ${got:-n} == "$value" ]] && continue
		say "  $symbol: wanted $value, got ${got:-n}"
		bad=$((bad + 1))
	done < <(wanted)
	((bad == 0)) ||
		die "$bad options of $ARCH-$CONFIG did not take effect (log: $LOG); a dependency is missing in lab/config"
}

# is_for_arch: does a fragment of that configuration exist, other than those of all?
is_for_arch()
{
	local config=${CONFIG%-base}

	config=${config%-clang}
	config=${config%-equal}
	[[ $config == default || $(fragments | grep -E "/$config(-[^/]*)?\.config\$") ]]
}

# inputs: a checksum of all that a .config depends on: fragments and Kconfig files.
inputs()
{
	local -a files

	mapfile -t files < <(fragments)
	{
		cat "${files[@]}"
		"$(compiler "$ARCH")" --version | head -n 1
		cat "$BUILD/src.id"
		# The base has only some of these files.
		sed -nE "s,^(.*/)?(Kconfig[^/]*)\$,$SRC/\1\2,p" "$BUILD/stage-list" |
			while read -r file; do [[ ! -f $file ]] || cat "$file"; done
	} | sha256sum
}

make_config()
{
	local -a files

	mapfile -t files < <(fragments)
	kmake "$ARCH" "$CONFIG" tinyconfig
	(cd "$OUT" && "$(tree_of "$CONFIG")/scripts/kconfig/merge_config.sh" -m -O "$OUT" \
		"$OUT/.config" "${files[@]}")
	kmake "$ARCH" "$CONFIG" olddefconfig
}

main()
{
	local now before=$OUT/.config.before

	is_for_arch || die "CONFIG=$CONFIG is not for $ARCH: lab/config has no file of it"
	now=$(inputs)
	[[ -f $OUT/.config && $(cat "$OUT/lab-config.id" 2>/dev/null) == "$now" ]] && return
	mkdir -p "$OUT"
	[[ ! -f $OUT/.config ]] || cp -p "$OUT/.config" "$before"
	logged "$LOG" "configuring $ARCH-$CONFIG: $(fragments | xargs -n1 basename | tr '\n' ' ')" \
		make_config || die "$ARCH-$CONFIG cannot be configured (log: $LOG)"
	verify
	# If the result is unchanged, keep its time, so that no object is built again.
	if [[ -f $before ]]; then
		! cmp -s "$OUT/.config" "$before" || touch -r "$before" "$OUT/.config"
		rm -f "$before"
	fi
	echo "$now" >"$OUT/lab-config.id"
}

main
