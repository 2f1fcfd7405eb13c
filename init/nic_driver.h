/* SPDX-License-Identifier: GPL-2.0-or-later
 * Which build of a storage NIC's driver is loaded: the kernel's own, or one that was added to the image. */
#ifndef ASSAY_NIC_DRIVER_H
#define ASSAY_NIC_DRIVER_H

#include "failure.h"
#include "net_bond_nic.h"

#include <jansson.h>
#include <stdbool.h>

#define NIC_DRIVERS 4

/* Which modules were replaced. Zero it before the first use. */
struct nic_drivers {
	size_t count;
	struct nic_driver {
		char module[64];
		bool out_of_tree; /* what was found */
	} driver[NIC_DRIVERS];
};

/* Loads the build that STATE asks for of the drivers of the first USED of NICS, where it is not there
 * already; the NICs are gone meanwhile, and may have other names when they are back. MANAGEMENT's driver is
 * not touched. *SWITCHED says whether any was. 0 or -errno with *WHY filled. */
int nic_driver_apply(struct nic_drivers *drivers, const struct net_nics *nics, size_t used,
                     const char *management, const json_t *state, bool *switched, struct failure *why);

/* The level of nic.driver in force to IN_FORCE, nothing where a driver is built into the kernel. 0 or
 * -ENOMEM. */
int nic_driver_in_force(const struct net_nics *nics, size_t used, const json_t *state, const char *sys,
                        json_t *in_force);

/* Version and srcversion that NIC's loaded driver says of itself, to buffers of SIZE; "" where it has none.
 */
void nic_driver_version(const char *sys, const char *nic, char *version, char *srcversion, size_t size);

/* Loads again what was found, and empties DRIVERS; says on the console what it could not undo. */
void nic_driver_restore(struct nic_drivers *drivers);

/* The file of MODULE under LIB ("/lib/modules/RELEASE"): among those that came with the kernel, or the added
 * ones. 0 or -ENOENT. */
int nic_driver_file(const char *lib, const char *module, bool out_of_tree, char *path, size_t size);

/* Whether the module in file PATH was built for the kernel RELEASE: what the kernel would refuse with a
 * number only. 0 or -errno with *WHY filled (-ENOEXEC: for another). */
int nic_driver_check(const char *path, const char *release, struct failure *why);

#endif
