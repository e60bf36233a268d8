#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# configs.sh [ARCH]: make configs.  Compile our files, the suites, and the users of kprobes,
# with W=1, in configurations that the lab does not boot:
#
#   - those of lab/config/configs.list, or of lab/config/BASE/configs.list in their place,
#   - the fewest options that Kconfig allows, and the most ("least" and "most"),
#   - each option that our sources name, inverted if Kconfig allows that,
#   - N random ones; the same SEED, which is printed, makes the same configurations.
#
# Nothing is linked.  Instead, the objects are searched for symbols that none defines.
# Each configuration is one result; a failure has its name and its log.  ONLY="name ..."
# selects configurations.
#
# A configuration may break the base kernel itself.  If there are complaints, compile the
# same files of the base's tree in the same configuration.  If the same complaints about the
# same files appear, they are the base's; if every object could be made nevertheless, the
# configuration has passed.  If each object that could not be made cannot be made in the
# base's tree either, the configuration counts as skipped, not as passed.
#
# With an argument, the tree must be there already, the results are added to RESULTS, and
# only those of the list with a "+" are compiled, or with LONG set the whole list (make check).
#
# All configurations of an architecture and a compiler, except the random ones, share an
# output folder, so that kbuild only rebuilds the objects that an option changes.

. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/results.sh"

N=${N:-0}
SEED=${SEED:-$((RANDOM * 32768 + RANDOM))}
LIST=$LAB/config/configs.list
OBJECTS=$LAB/config/configs.objects

# Symbols to check, and symbols that the linker script defines.
JUDGED='[kw]probe|kretprobe|jprobe|rethook|insn_slot|insn_page'
# Linux 6.12 keeps its own user-space probes.
[[ $BASE == 6.12 ]] || JUDGED+='|uprobe|uretprobe'
LINKED='^__(start|stop)_kprobe_blacklist$|^__kprobes_text_(start|end)$'

# Options of ours.
OWN_OPTIONS='KPROBE.*|[KU]?RETPROBES?.*|JPROBES|OPTPROBES|RETHOOK|UPROBE.*|WPROBE.*'

# Options without a prompt: the architecture, its features, those of the compiler.
SETTLED='HAVE_.*|NEED_.*|AS_HAS_.*|GENERIC_BUG.*|X86|X86_32|X86_64|ARM64|MIPS|GLOB'

# Options of all configurations that Kconfig makes: kprobes on; options that need other
# tools off; debug information, checksums of symbols and the installation of headers off,
# which double the time to compile.
RANDOM_FORCED='
CONFIG_KPROBES=y
CONFIG_KUNIT=y
CONFIG_RUNTIME_TESTING_MENU=y
# CONFIG_WERROR is not set
# CONFIG_COMPILE_TEST is not set
# CONFIG_GCC_PLUGINS is not set
CONFIG_DEBUG_INFO_NONE=y
# CONFIG_MODULE_SIG is not set
# CONFIG_MODVERSIONS is not set
# CONFIG_IKHEADERS is not set
# CONFIG_HEADERS_INSTALL is not set
'

# config_of COMPILER: the name of the configuration that selects folder and toolchain.
config_of()
{
	case $1 in
	gcc)	echo configs ;;
	clang)	echo configs-clang ;;
	*)	die "$LIST: no compiler is called '$1'" ;;
	esac
}

# table: the list's lines, without comments and without blanks around the bars.  A line of
# lab/config/BASE replaces that of the same name.
table()
{
	local file

	for file in "$LAB/config/$BASE/configs.list" "$LIST"; do
		[[ ! -f $file ]] || cat "$file"
	done | sed -E '/^#/d; /^[[:space:]]*$/d; s/[[:space:]]*\|[[:space:]]*/|/g' |
		awk -F '|' '{ name = $1; sub(/^\+/, "", name) } !seen[name]++'
}

# lines CHANGES...: lines of a .config for words of configs.list.
lines()
{
	local word

	for word in "$@"; do
		case $word in
		-*)	echo "# CONFIG_${word#-} is not set" ;;
		*=*)	echo "CONFIG_$word" ;;
		*)	echo "CONFIG_$word=y" ;;
		esac
	done
}

# value OUT OPTION: the option's value in .config; "n" if it is absent.
value()
{
	local got

	got=$(sed -nE "s/^CONFIG_$2=//p" "$1/.config")
	echo "${got:-n}"
}

# taken OUT CHANGES...: true if .config has all of them.
taken()
{
	local out=$1 word want got bad=0

	shift
	for word in "$@"; do
		case $word in
		-*)	want=n word=${word#-} ;;
		*=*)	want=${word#*=} word=${word%%=*} ;;
		*)	want=y ;;
		esac
		got=$(value "$out" "$word")
		[[ $got == "$want" ]] && continue
		echo "CONFIG_$word: wanted $want, got $got"
		bad=1
	done
	return "$bad"
}

# change ARCH CONFIG CHANGES...: write .config: that of begin(), with these changes.
change()
{
	local arch=$1 config=$2 out word

	shift 2
	out=$(out_dir "$arch" "$config")
	for word in "$@"; do
		word=${word#-}
		printf 's/^(# )?CONFIG_%s(=.*| is not set)$//\n' "${word%%=*}"
	done | sed -E -f - "$out/configs.base" >"$out/.config"
	lines "$@" >>"$out/.config"
	kmake "$arch" "$config" olddefconfig
}

# on OUT OPTIONS: true if all of these options, separated by commas, are on; those after a "!"
# are off.
on()
{
	local option

	for option in ${2//,/ }; do
		case $option in
		!*)	[[ $(value "$1" "${option#!}") == n ]] || return 1 ;;
		*)	[[ $(value "$1" "$option") != n ]] || return 1 ;;
		esac
	done
}

# targets ARCH OUT: the lines of lab/config/configs.objects whose options are on; with
# MARK "+" only the lines with a "+".
targets()
{
	local source target where options

	source=$(source_arch "$1")
	while read -r target where options; do
		[[ $where == all || $where == "$source" ]] || continue
		[[ $target == "${MARK:-}"* ]] || continue
		target=${target#+}
		[[ $target != */test_kprobes.o ]] || target=$(sanity_test)
		! on "$2" "$options" || echo "$target"
	done < <(sed '/^#/d; /^$/d' "$OBJECTS")
}

# compile ARCH CONFIG: compile all targets.
compile()
{
	local out
	local -a list

	out=$(out_dir "$1" "$2")
	mapfile -t list < <(targets "$1" "$out")
	((${#list[@]})) || return 0
	# A folder that this configuration leaves out would keep the archive of an earlier one.
	find "${list[@]/#/$out/}" -name built-in.a -delete 2>/dev/null || true
	kmake "$1" "$2" W=1 --keep-going "${list[@]}"
}

# symbols ARCH CONFIG: find symbols of ours that an object uses and none defines.  A
# folder's built-in.a lists the objects of this configuration; objects of earlier ones may
# still be there.
symbols()
{
	local arch=$1 out target

	out=$(out_dir "$arch" "$2")
	(cd "$out" && targets "$arch" "$out" | while read -r target; do
		case $target in
		*/)	find "$target" -name built-in.a | while read -r archive; do
				"$(binutil "$arch" ar)" t "$archive" | sed 's,^[^/]*$,'"${archive%/*}"'/&,'
			done ;;
		*)	echo "$target" ;;
		esac
	done | sort -u | while read -r target; do
		[[ ! -f $target ]] || echo "$target"
	done | xargs "$(binutil "$arch" nm)" -A 2>/dev/null) | awk -v judged="$JUDGED" -v linked="$LINKED" '
	{ kind = $(NF - 1); symbol = $NF }
	symbol !~ judged || symbol ~ linked { next }
	kind == "U" { user[symbol] = $1 }
	kind ~ /^[TtDdBbRrSsGWwVv]$/ { defined[symbol] }
	END {
		for (s in user)
			if (!(s in defined)) {
				print s ": no object defines it, used by " user[s]
				bad = 1
			}
		exit bad
	}'
}

# forget ARCH CONFIG LOG: remove objects that the log complains about, so that the next
# configuration compiles them and repeats the complaint.
forget()
{
	local out source

	out=$(out_dir "$1" "$2")
	while read -r source; do
		rm -f "$out/${source%.[cS]}.o"
	done < <(sed -nE 's,^([^ :]*/)?((kernel|arch|lib|samples|drivers|init)/[^ :]+\.[cS]):.*(warning|error).*,\2,p' "$3" | sort -u)
}

# patched: the files of the base that have hunks of ours.
patched()
{
	sed -n 's,^+++ b/,,p' "$ROOT"/patches/*.patch | sort -u
}

# complaints_of LOG: all complaints that count as a failure, without line numbers and
# without the path of the tree, so that two trees can be compared.
complaints_of()
{
	local -a files

	mapfile -t files < <(patched)
	{
		complaints "$1" "${files[@]}"
		grep -E ': (fatal )?error: |: Error: |(warning|error): objtool:' "$1" || true
		grep -E "unmet direct dependencies detected for ($OWN_OPTIONS)\$" "$1" || true
	} | sed -E "s,^($SRC|$(base_tree))/,,; s,:[0-9]+(:[0-9]+)?:,:,; s,\+0x[0-9a-f]+,,g" | sort -u
}

# failing LOG: the targets that make could not make.
failing()
{
	sed -nE 's,.*\*\*\* \[[^ ]*: ([^] ]+)\].*,\1,p' "$1" | grep -E '\.(o|s|S|lds)$' | sort -u
}

# suspects ARCH CONFIG LOG: the objects that the log complains about, and those that could
# not be made; all targets if it complains about a header, which any object may include.
suspects()
{
	if grep -q '^[^ :]*\.h:' "$3.said"; then
		targets "$1" "$(out_dir "$1" "$2")"
	else
		sed -nE 's,^([^ :]+)\.[cS]:.*,\1.o,p' "$3.said"
		failing "$3"
	fi
}

# excused ARCH CONFIG LOG: true if the base's tree fails in the same way.
excused()
{
	local arch=$1 base=$2-base log=$3 out target
	local -a list

	# A complaint about a file of ours counts, whatever the base's file of that name does.
	[[ -z $(complaints "$log") ]] || return 1
	out=$(out_dir "$arch" "$base")
	mkdir -p "$out"
	cp "$(out_dir "$arch" "$2")/.config" "$out/.config"
	# Remove all objects, because only a compiled object repeats its complaints.
	find "$out" -name '*.o' -delete
	complaints_of "$log" >"$log.said"
	[[ -s $log.said ]] || return 1
	mapfile -t list < <(suspects "$arch" "$2" "$log" | sort -u | while read -r target; do
		[[ ! -e $(base_tree)/${target/%.o/.c} && ! -e $(base_tree)/${target/%.o/.S} &&
			! -d $(base_tree)/$target ]] || echo "$target"
	done)
	((${#list[@]})) || return 1
	kmake "$arch" "$base" olddefconfig >"$log.base" 2>&1 </dev/null || return 1
	kmake "$arch" "$base" W=1 --keep-going "${list[@]}" >>"$log.base" 2>&1 </dev/null || true
	! complaints_of "$log.base" | comm -23 "$log.said" - | grep -q . || return 1
	# Each target that fails here must fail in the base, too, if the base has it.
	! comm -23 <(failing "$log") <(failing "$log.base") | while read -r target; do
		[[ ! -e $(base_tree)/${target/%.o/.c} && ! -e $(base_tree)/${target/%.o/.S} ]] ||
			echo "$target"
	done | grep -q .
}

# judge ARCH CONFIG NAME: compile the configuration; record one result, print complaints.
judge()
{
	local arch=$1 config=$2 name=$3 log found status=0 start=$SECONDS excuse=

	log=$LOGS/$arch-configs-$name.log
	compile "$arch" "$config" >"$log" 2>&1 </dev/null || status=$?
	cp "$(out_dir "$arch" "$config")/.config" "$log.config"
	found=$(complaints_of "$log")
	if [[ -n $found ]] && excused "$arch" "$config" "$log"; then
		excuse="the base has the same complaints (log: $log.base)"
	fi
	if ((status == 0)) && [[ -z $found || -n $excuse ]]; then
		if found=$(symbols "$arch" "$config"); then
			say "$arch, $name: $(targets "$arch" "$(out_dir "$arch" "$config")" | wc -l) objects and folders, $((SECONDS - start)) s${excuse:+, $excuse}"
			echo "PASS $arch configs $name" >>"$RESULTS"
			return
		fi
		excuse=
	fi
	{ echo "$found"; grep -E 'error[: ]|Error ' "$log" || true; } | grep -v '^$' |
		sort -u | head -n 12 | sed 's/^/    /' || true
	if [[ -n $excuse ]]; then
		say "$arch, $name: the base fails in the same way (log: $log.base, configuration: $log.config)"
		echo "SKIP $arch configs $name: the base fails in the same way (log: $log.base)" >>"$RESULTS"
	else
		say "$arch, $name: FAILED after $((SECONDS - start)) s (log: $log, configuration: $log.config)"
		echo "FAIL $arch configs $name (log: $log)" >>"$RESULTS"
	fi
	forget "$arch" "$config" "$log"
}

# wanted NAME: true if this run includes that configuration.
wanted()
{
	[[ -z ${ONLY:-} || " $ONLY " == *" $1 "* ]]
}

# begin ARCH CONFIG: make the configuration from which all others are derived.
begin()
{
	local out

	out=$(out_dir "$1" "$2")
	[[ -z ${BEGUN[$1-$2]:-} ]] || return 0
	rm -f "$out/lab-config.id"
	"$LAB/config.sh" "$1" "$2"
	cp "$out/.config" "$out/configs.base"
	BEGUN[$1-$2]=1
}

# seen OUT: true if the same .config has been compiled in this run.
seen()
{
	local id

	id=$1-$(grep -v '^# Linux' "$1/.config" | sha256sum)
	[[ -z ${SEEN[$id]:-} ]] || return 0
	SEEN[$id]=1
	return 1
}

# one ARCH COMPILER NAME CHANGES...: test one configuration of the list.
one()
{
	local arch=$1 config name=$3 out log bad

	config=$(config_of "$2")
	out=$(out_dir "$arch" "$config")
	log=$LOGS/$arch-configs-$name.log
	shift 3
	begin "$arch" "$config"
	change "$arch" "$config" "$@" >"$log" 2>&1 </dev/null || {
		say "$arch, $name: cannot be configured (log: $log)"
		echo "FAIL $arch configs $name (log: $log)" >>"$RESULTS"
		return
	}
	bad=$(taken "$out" "$@") || {
		sed 's/^/    /' <<<"$bad"
		say "$arch, $name: Kconfig does not allow it; a dependency is missing in $LIST"
		echo "FAIL $arch configs $name: Kconfig does not allow it" >>"$RESULTS"
		return
	}
	seen "$out" || true
	judge "$arch" "$config" "$name"
}

# list ARCH MARK: test the list's configurations for ARCH; with MARK "+" those of make check.
list()
{
	local arch=$1 name where cc changes

	while IFS='|' read -r -u 4 name where cc changes; do
		[[ " $where " == *" $arch "* && $name == "$2"* ]] || continue
		name=${name#+}
		wanted "$name" || continue
		# shellcheck disable=SC2086 # a list of words
		late "$arch configs $name" || one "$arch" "$cc" "$name" $changes
	done 4< <(table)
}

# named ARCH: the options that our sources and hunks for ARCH name.
named()
{
	local other

	case $1 in
	arm64)	other=x86 ;;
	*)	other=arm64 ;;
	esac
	{
		own_files | grep -E '^(include|kernel|samples|lib|arch)/.*(\.[chS]|/Makefile|Kconfig[^/]*)$' |
			grep -vE "^arch/$other/|/${other}_" | sed "s,^,$SRC/," | xargs cat
		patch_files | xargs sed -n '/^[+]/p'
	} | option_names | grep -vxE "$SETTLED" | grep -v "^${other^^}_"
}

# each_option ARCH: test each of these options inverted, if Kconfig allows that.
each_option()
{
	local arch=$1 config out option word skipped=

	config=$(config_of gcc)
	out=$(out_dir "$arch" "$config")
	for option in $(named "$arch"); do
		[[ -z ${ONLY:-} || " $ONLY " == *" $option "* || " $ONLY " == *" -$option "* ]] || continue
		begin "$arch" "$config"
		word=$option
		! grep -qE "^CONFIG_$option=" "$out/configs.base" || word=-$option
		change "$arch" "$config" "$word" >"$LOGS/$arch-configs-$word.log" 2>&1 </dev/null
		if taken "$out" "$word" >/dev/null; then
			seen "$out" || judge "$arch" "$config" "$word"
		else
			skipped+=" $word"
		fi
	done
	[[ -z $skipped ]] || say "$arch: Kconfig does not allow:$skipped"
}

# made ARCH NAME TARGET [LINE...]: test a configuration that Kconfig's TARGET makes, with
# RANDOM_FORCED and these lines of a .config.
made()
{
	local arch=$1 name=$2 target=$3 out log
	# In a folder of its own: the other configurations share most of their objects.
	local config=configs-random

	shift 3
	out=$(out_dir "$arch" "$config")
	log=$LOGS/$arch-configs-$name.log
	mkdir -p "$out"
	printf '%s\n' "$RANDOM_FORCED" "$@" >"$out/configs.forced"
	KCONFIG_ALLCONFIG=$out/configs.forced kmake "$arch" "$config" "$target" >"$log" 2>&1 </dev/null ||
		die "$target makes no configuration (log: $log)"
	judge "$arch" "$config" "$name"
}

# extremes ARCH: test the fewest options, and all options.  Only the first configuration
# is without options that those of the list select.
extremes()
{
	! wanted least || made "$1" least allnoconfig "$(lines EXPERT KPROBES_KUNIT_TEST)"
	! wanted most || made "$1" most allyesconfig
}

# lots ARCH: test N random configurations.
lots()
{
	local i
	local MARK=+
	local -x KCONFIG_SEED

	((N)) || return 0
	say "$1: $N random configurations, SEED=$SEED"
	for ((i = 0; i < N; i++)); do
		KCONFIG_SEED=$((SEED + i))
		made "$1" "random-$KCONFIG_SEED" randconfig
	done
}

main()
{
	local arch
	local -A BEGUN=() SEEN=()

	if (($#)); then
		list "$1" "$([[ -n ${LONG:-} ]] || echo +)"
		return
	fi
	for arch in ${ARCH:-x86_64 arm64}; do
		check_arch "$arch"
	done
	lock_build
	: >"$RESULTS"
	# shellcheck disable=SC2086 # a list of words
	"$LAB/setup.sh" ${ARCH:-x86_64 arm64} clang
	"$LAB/tree.sh"
	for arch in ${ARCH:-x86_64 arm64}; do
		list "$arch" ''
		extremes "$arch"
		each_option "$arch"
		lots "$arch"
	done
	finish
}

main "$@"
