#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# The cost of probes of one process: process_cost.c has the checks.

. "$(dirname "$0")/functions.sh"

run_process_program process_cost
