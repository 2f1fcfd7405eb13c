/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the node is made of: inventory.json. */
#ifndef ASSAY_INVENTORY_H
#define ASSAY_INVENTORY_H

#include <jansson.h>
#include <stddef.h>

/* The whole inventory, read under ROOT ("" on a node); MANAGEMENT_NIC is marked. Disks, and what only the
 * running kernel can tell (modules), are asked of the machine itself. What cannot be read is left out. The
 * caller owns it; NULL: out of memory. */
json_t *inventory_collect(const char *root, const char *management_nic);

/* Its parts, for tests. The caller owns each; NULL: out of memory. */
json_t *inventory_dmi(const char *root);
json_t *inventory_cpus(const char *root);
json_t *inventory_cores(const char *root); /* of inventory_cpus(); empty where the kernel does not tell */
json_t *inventory_pci(const char *root);
json_t *inventory_nics(const char *root, const char *management_nic);

/* MemTotal, and MemTotal minus MemAvailable, from ROOT/proc/meminfo. 0 or -errno. */
int inventory_memory(const char *root, long long *total_bytes, long long *used_bytes);

/* How many CPUs (or nodes) a kernel list such as "0-3,8,10-11" has; 0 where it is none. */
unsigned int inventory_count_list(const char *list);

/* What the transceiver in NIC says of itself, by ethtool, as nic_module_json() gives it; the caller owns it.
 * 0 or -errno (-ENODEV: there is none, or a port without one). */
int inventory_sfp(const char *nic, json_t **module);

/* Asks the transceivers of all NICs, in a thread, for inventory_nics(), which waits for it. Without it they
 * are left out. */
void inventory_sfp_start(void);

/* What the transceiver of NIC says, or NULL; waits for inventory_sfp_start()'s thread. It stays. */
json_t *inventory_sfp_of(const char *nic);

#endif
