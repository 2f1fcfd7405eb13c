/* SPDX-License-Identifier: GPL-2.0-or-later
 * Sets of CPUs as the kernel writes them. CPUs beyond CPU_SETSIZE (1024) do not exist here. */
#ifndef ASSAY_CPUS_H
#define ASSAY_CPUS_H

#include <sched.h>
#include <stddef.h>

/* "0-3,8" to *SET. 0 or -EINVAL. */
int cpus_from_list(const char *text, cpu_set_t *set);

/* "00000001,0000ffff" to *SET. 0 or -EINVAL. */
int cpus_from_mask(const char *text, cpu_set_t *set);

/* *SET as a mask in groups of 32 bits, and as a list ("" for none). */
void cpus_to_mask(const cpu_set_t *set, char *buf, size_t size);
void cpus_to_list(const cpu_set_t *set, char *buf, size_t size);

/* The CPU of *SET that comes after INDEX others, counted round and round; -1: the set is empty. */
int cpus_nth(const cpu_set_t *set, size_t index);

#endif
