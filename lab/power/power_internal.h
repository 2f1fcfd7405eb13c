/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the drivers share. */
#ifndef ASSAY_POWER_INTERNAL_H
#define ASSAY_POWER_INTERNAL_H

#include "power.h"

#include <stddef.h>

struct power_driver {
	const char *name;
	/* Whether it is on. NULL: the driver's own cycle copes with both. */
	int (*state)(struct power *p, bool *on);
	/* ACTION is POWER_ON, POWER_OFF or POWER_CYCLE (and POWER_STATUS, where state is NULL). */
	int (*act)(struct power *p, enum power_action action);
	/* The next boot, and only that, is from the network. NULL: act sees to it, or nobody can. */
	int (*boot_network)(struct power *p);
};

extern const struct power_driver power_ipmi, power_redfish, power_command, power_qemu;

/* "on", "off", "cycle", "status" */
const char *power_action_word(enum power_action action);

/* Writes p->message; gives R. */
__attribute__((format(printf, 3, 4))) int power_says(struct power *p, int r, const char *format, ...);

/* A member of the node's entry; "" or 0 where it is missing. */
const char *power_text(const struct power *p, const char *key);
int64_t power_number(const struct power *p, const char *key);

/* The first line of password_file to PASSWORD. 0, or -errno with a message. Others than its owner and group
 * must not be able to read it. PASSWORD may be NULL: only looks. */
int power_password(struct power *p, char *password, size_t size);

/* Runs ARGV, found on PATH, with the variables of EXTRA (NULL: none) beside our own; its stdout and stderr to
 * OUT, as far as they fit. Its exit code, 128 + signal, or -errno; -ETIMEDOUT: it was killed, with its
 * children. */
int power_run(struct power *p, const char *const argv[], const char *const extra[], char *out, size_t size);

/* The last line of TEXT that says something, cut out in place. */
const char *power_last_line(char *text);

#endif
