/* SPDX-License-Identifier: GPL-2.0 */
/* Annotations are in linux/objtool.h. */
