#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes of several modules in several processes: process_modules.c has the checks.

. "$(dirname "$0")/functions.sh"

run_process_program process_modules
