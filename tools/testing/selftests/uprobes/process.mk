# SPDX-License-Identifier: GPL-2.0
#
# Scripts about probes of one process, and their programs.  process_oops.sh taints the kernel and
# is the last test.

TEST_PROGS += \
	process_32.sh \
	process_x32.sh \
	process_changed.sh \
	process_children.sh \
	process_cost.sh \
	process_errors.sh \
	process_events.sh \
	process_debug.sh \
	process_exits.sh \
	process_gdb.sh \
	process_limits.sh \
	process_memory.sh \
	process_modules.sh \
	process_probes.sh \
	process_starved.sh \
	process_storm.sh \
	process_threads.sh \
	process_oops.sh

PROCESS_PROGRAMS := process_probes process_changed process_children process_cost process_errors \
	process_exits process_limits process_modules process_debug process_starved process_storm \
	process_threads
HELPERS += $(PROCESS_PROGRAMS)
NARROW_PROCESS := $(PROCESS_PROGRAMS:%=%_32)
X32 := target_x32
