#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes of one process at the limits: process_limits.c has the checks.

. "$(dirname "$0")/functions.sh"

run_process_program process_limits
