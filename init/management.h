/* SPDX-License-Identifier: GPL-2.0-or-later
 * The management NIC: the one that the node booted from. */
#ifndef ASSAY_MANAGEMENT_H
#define ASSAY_MANAGEMENT_H

#include "cmdline.h"

#include <stdbool.h>
#include <stddef.h>

#define NIC_NAME_SIZE 16

/* The NIC under ROOT/sys/class/net with address MAC, or, where MAC is "", the only one there is. 0; -ENODEV,
 * and -ENOTUNIQ where MAC is "" and there are several. */
int management_find(const char *root, const char *mac, char nic[NIC_NAME_SIZE]);

/* The NICs there are, "eth0 52:54:00:12:34:56, …", for people. */
void management_list(const char *root, char *buf, size_t size);

/* Waits for the NIC that OPTIONS names, without end, but says every ten seconds what is missing, and sets it
 * up.
 */
void management_wait_nic(const struct cmdline *options, char nic[NIC_NAME_SIZE]);

/* Waits for NIC's carrier and gives it its address (assay.ip, else DHCP). Without end; says what is missing.
 */
void management_wait_address(const struct cmdline *options, const char *nic);

/* What udhcpc calls as its script: our own program with argv[1] = "bound" …, and the lease in the
 * environment. The exit status. */
int management_lease(int argc, char **argv);

#endif
