/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nothing is read-only. */
#define __ro_after_init
