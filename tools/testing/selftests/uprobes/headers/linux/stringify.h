/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _UPROBES_FORMS_LINUX_STRINGIFY_H
#define _UPROBES_FORMS_LINUX_STRINGIFY_H
#define __stringify_(...)	#__VA_ARGS__
#define __stringify(...)	__stringify_(__VA_ARGS__)
#endif
