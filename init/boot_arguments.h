/* SPDX-License-Identifier: GPL-2.0-or-later
 * Kernel and kernel arguments that a cell asks for: the lab's boot script gives them, the node proves them.
 */
#ifndef ASSAY_BOOT_ARGUMENTS_H
#define ASSAY_BOOT_ARGUMENTS_H

#include <jansson.h>

/* The level in force of boot.cmdline to IN_FORCE, where STATE asks for one: what it asks for, if the command
 * line of this boot (PROC: "/proc") has every word of it; else which one is missing. 0 or -errno. */
int boot_arguments_in_force(const json_t *state, const char *proc, json_t *in_force);

/* The same of boot.kernel: what it asks for, if the kernel that runs (RELEASE, as uname says) is that of its
 * layer under FOLDER ("/layers"); else the release. 0 or -ENOMEM. */
int boot_kernel_in_force(const json_t *state, const char *folder, const char *release, json_t *in_force);

#endif
