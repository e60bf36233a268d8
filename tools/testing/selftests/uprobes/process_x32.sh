#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes of x32 processes, which have the registers of 64 bits and addresses of 32: the programs of
# the other scripts, and some for probes of files.

. "$(dirname "$0")/functions.sh"

begin
run_programs_for x32 process_probes process_changed process_children process_errors \
	process_exits processes syscalls returns ptrace
finish
