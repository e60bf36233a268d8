/* SPDX-License-Identifier: GPL-2.0-or-later */
#define __init

/* The function is called before main(). */
#define early_initcall(fn)						\
	static __attribute__((constructor)) void fn##_early(void)	\
	{								\
		fn();							\
	}
