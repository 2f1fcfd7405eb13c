/* SPDX-License-Identifier: GPL-2.0-or-later
 * A node's power, through what its entry in the lab file names: IPMI, Redfish, the operator's own command, or
 * QEMU. Each call takes as long as it takes, up to its deadline: `assay power` calls it, and the server
 * starts that. */
#ifndef ASSAY_POWER_H
#define ASSAY_POWER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum power_action { POWER_STATUS, POWER_ON, POWER_OFF, POWER_CYCLE };

struct power {
	const char *node;
	const json_t *entry; /* `power` of the node's entry in the lab file (lab.json) */
	bool network;        /* the next boot shall be from the network, where the driver can say so */
	int64_t deadline_ns; /* of power_now_ns() */
	char message[512];   /* for people: what was done, or why not; never a password */
	char boot_note[256]; /* why the boot device could not be set; "": it was, or nobody asked */
};

/* The word's action, or -1. */
int power_action_named(const char *word);

/* Does ACTION. What is on already is not switched on, and what is off is cycled by switching it on. 0, or
 * -errno; either way message says what happened. */
int power_do(struct power *p, enum power_action action);

/* CLOCK_MONOTONIC, in ns. */
int64_t power_now_ns(void);

#endif
