#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probed processes while allocations fail: process_starved.c has the checks.

. "$(dirname "$0")/functions.sh"

run_process_program process_starved starve
