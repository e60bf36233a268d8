// SPDX-License-Identifier: GPL-2.0-or-later
/* The module up_process once more: a second module with probes of the same processes. */
#include "up_process.c"
