#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Probes of one process, and its children: process_children.c has the checks.

. "$(dirname "$0")/functions.sh"

run_process_program process_children
