#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Let each allocation of a registration by pid and address fail once. The result is ENOMEM, or
# success without that memory. In both cases, no probe may stay registered after "del", and the
# process goes on.

. "$(dirname "$0")/functions.sh"

begin
[ -e "$LIST" ] || skip_all "no probes of processes in this kernel"
fail_allocations
load up_process

# each_fails NAME FEWEST COLUMN WORD...: add such a probe to a process, with each allocation
# failing; then COLUMN counts the calls of the process.
each_fails()
{
	local name="$1" fewest="$2" column="$3"

	shift 3
	start_twice plain 3
	is "$name: a probe" "$(process new p "pid=$waiting" "at=$(address plain)" "$@")" ok
	fail_each "$name" "$fewest" "$UP_PROCESS/control" "add p" "del p"
	no "$name: no probe stays registered" grep -q "^pid:$waiting:" "$LIST"
	is "$name: with memory it works" "$(process add p)" ok
	is "$name: the process goes on" "$(go)" 3
	is "$name: its calls are seen" "$(seen "$column")" 3
	wait "$waiting"
	process drop >/dev/null
}

# The text of the command, the registration and the point; the page of text is there already.
# The bounds are one less: a debugging kernel sometimes allocates for itself, so that the same
# number is another allocation the next time, and one of these never fails.
each_fails "a probe" 2 2
each_fails "a return probe" 4 3 return
each_fails "exits" 5 3 return "size=$(instruction size)"

finish
