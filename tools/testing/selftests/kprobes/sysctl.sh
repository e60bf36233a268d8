#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# debug.kprobes-optimization and debug.kprobes_optimization: one setting with the
# two names that documents use.

. "$(dirname "$0")/functions.sh"

HYPHEN=/proc/sys/debug/kprobes-optimization
UNDERSCORE=/proc/sys/debug/kprobes_optimization

begin
[ -e "$KNOB" ] || [ "$JUMPS" = always ] || skip_all "no probe becomes a jump in this kernel"

both()
{
	echo "$(cat $HYPHEN) $(cat $UNDERSCORE)"
}

yes "debug.kprobes-optimization exists" [ -f $HYPHEN ]
yes "debug.kprobes_optimization exists" [ -f $UNDERSCORE ]
is "both are readable by all and writable by root" \
	"$(stat -c %a $HYPHEN) $(stat -c %a $UNDERSCORE)" "644 644"
is "on by default" "$(both)" "1 1"

# restore_knobs writes this value at the end.
set_knob $HYPHEN 1

# steps: write values with either name; "-" or "_" shows which.
steps()
{
	local step file

	for step in -0 -1 _0 _1 -0 _1 _0 -1; do
		case $step in
		-*)	file=$HYPHEN ;;
		_*)	file=$UNDERSCORE ;;
		esac
		echo "$step $(put $file "${step#?}") $(both)"
	done
}
same "0 and 1 are accepted, either name changes both" "$(steps)" <<'END'
-0 ok 0 0
-1 ok 1 1
_0 ok 0 0
_1 ok 1 1
-0 ok 0 0
_1 ok 1 1
_0 ok 0 0
-1 ok 1 1
END

# refusals VALUE: set VALUE, and write invalid values.
refusals()
{
	local file text

	echo "$1" >$HYPHEN
	for file in $HYPHEN $UNDERSCORE; do
		for text in 2 -1 yes 1000000000000000000000; do
			echo "$text $(put $file "$text") $(both)"
		done
	done
}
same "anything else is refused and changes nothing, when on" "$(refusals 1)" <<'END'
2 EINVAL 1 1
-1 EINVAL 1 1
yes EINVAL 1 1
1000000000000000000000 EINVAL 1 1
2 EINVAL 1 1
-1 EINVAL 1 1
yes EINVAL 1 1
1000000000000000000000 EINVAL 1 1
END
same "anything else is refused and changes nothing, when off" "$(refusals 0)" <<'END'
2 EINVAL 0 0
-1 EINVAL 0 0
yes EINVAL 0 0
1000000000000000000000 EINVAL 0 0
2 EINVAL 0 0
-1 EINVAL 0 0
yes EINVAL 0 0
1000000000000000000000 EINVAL 0 0
END

# Probes fire with either value.
load kp_test
kp add plain symbol=kp_test_plain >/dev/null
is "probes fire when it is off" "$(gains plain kp call plain)" 1
echo 1 >$HYPHEN
is "probes fire when it is on" "$(gains plain kp call plain)" 1

finish
