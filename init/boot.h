/* SPDX-License-Identifier: GPL-2.0-or-later
 * What PID 1 sets up before anything else. */
#ifndef ASSAY_BOOT_H
#define ASSAY_BOOT_H

/* Mounts proc, sys, dev and their kin, makes the folders that tools expect. What fails is kept and said by
 * boot_settings(), for there is no console before. */
void boot_mount(void);

/* PATH, sysctls (a panic or an oops reboots), hostname, loopback up. Says what could not be set. */
void boot_settings(void);

/* Loads JSON's hash seed from the clock: the kernel's random numbers may not be ready for a second. */
void boot_seed(void);

#endif
