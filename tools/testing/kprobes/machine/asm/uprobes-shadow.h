/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../../../../../arch/x86/include/asm/uprobes-shadow.h"
