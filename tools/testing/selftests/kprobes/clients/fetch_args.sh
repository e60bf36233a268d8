#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The arguments that an event can fetch, and their types.  Each case is an event on the
# function that opens files, hit by a program that opens a missing file relative
# to the working directory: its first argument is AT_FDCWD, -100.

. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/client_functions.sh"

begin
begin_events

# fetch ARGUMENT: the recorded value of ARGUMENT; "refused ERROR" if the event is refused.
fetch()
{
	local status

	status=$(put "$EVENTS" "p:fetch $OPEN tag=+0($ARG2):ustring it=$1")
	if [ "$status" != ok ]; then
		echo "refused $status"
		return
	fi
	turn kprobes/fetch 1
	trace_of open_tagged missing | grep -F "tag=\"/tmp/$TAG-missing\"" |
		sed 's/.* it=//'
	turn kprobes/fetch 0
}

# shows ARGUMENT WANTED [WHY]
shows()
{
	is "$1${3:+: }${3:-}" "$(fetch "$1")" "$2"
}

# looks ARGUMENT EXPRESSION
looks()
{
	matches "$1" "$(fetch "$1")" "^$2\$"
}

case $(uname -m) in
*64)	all_f=ffffffffffffffff half_f='(00000000|ffffffff)' ;;
*)	all_f=ffffffff half_f= ;;
esac

# --- sources ---

looks "$ARG1" "0x${half_f:-}?ffffff9c"
looks "\$arg1" "0x${half_f:-}?ffffff9c"
looks "\$stack" '0x[0-9a-f]+'
looks "\$stack0" '0x[0-9a-f]+'
looks "\$stack1" '0x[0-9a-f]+'
shows "\$comm" '"cat"'
looks "@linux_banner+6:string" '"version [^"]*"?.*'
is "@ADDRESS:u8" "$(fetch "@0x$(symbol_address linux_banner):u8")" 76
shows "\\5:u8" 5
shows "\\-1" "0x$all_f"
shows "+0($ARG2):ustring" "\"/tmp/$TAG-missing\""
shows "+u0($ARG2):string" "\"/tmp/$TAG-missing\""
shows "+u5($ARG2):string" "\"$TAG-missing\""
shows "+0(@argv_init):string" '"/init"'
is "\$retval, not at a return" "$(fetch "\$retval")" "refused EINVAL"
is "a register that is not there" "$(fetch "%kp")" "refused EINVAL"
is "a symbol that is not there" "$(fetch "@kp_client_is_not_there")" "refused ENOENT"

# --- types ---

shows "\$arg1:s8" -100
shows "\$arg1:u8" 156
shows "\$arg1:x8" 0x9c
shows "\$arg1:s16" -100
shows "\$arg1:u16" 65436
shows "\$arg1:x16" 0xff9c
shows "\$arg1:s32" -100
shows "\$arg1:u32" 4294967196
shows "\$arg1:x32" 0xffffff9c
shows "@linux_banner:u64" 7311066746820913484
shows "@linux_banner:x64" 0x65762078756e694c
shows "@linux_banner:s64" 7311066746820913484
shows "@linux_banner:char" "'L'"
shows "@linux_banner:b4@0/8" 12
shows "@linux_banner:b4@4/8" 4
shows "@linux_banner:b8@8/32" 105
looks "$RETURN:symbol" '[a-z_0-9]*open[a-z_0-9]*\+0x[0-9a-f]+/0x[0-9a-f]+'
shows "@linux_banner:x8[4]" "{0x4c,0x69,0x6e,0x75}"
shows "@linux_banner:x16[2]" "{0x694c,0x756e}"
shows "@linux_banner:char[5]" "{'L','i','n','u','x'}"
shows "@argv_init:string[1]" '{"/init"}' "an array of char *"
looks "+8(\$stack):x8[8]" '\{(0x[0-9a-f]+,){7}0x[0-9a-f]+\}'
is "\$stack1:x8[8] is refused: an array must be in memory" \
	"$(fetch "\$stack1:x8[8]")" "refused EINVAL"
is "\$comm:u8 is refused" "$(fetch "\$comm:u8")" "refused EINVAL"
is "a type that is not there is refused" "$(fetch "\$arg1:kp")" "refused EINVAL"

# --- bounds ---

# many N: an event with N arguments.
many()
{
	put "$EVENTS" "p:fetch $OPEN $(seq "$1" | sed 's/.*/a&=\\&/' | tr '\n' ' ')"
}
is "128 arguments" "$(many 128)" ok
is "129 are refused" "$(many 129)" E2BIG

drop_events
finish
