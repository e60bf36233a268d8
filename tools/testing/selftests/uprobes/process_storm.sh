#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes by pid while their processes do everything: process_storm.c has the checks.

. "$(dirname "$0")/functions.sh"

run_process_program process_storm
