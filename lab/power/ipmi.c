/* SPDX-License-Identifier: GPL-2.0-or-later
 * IPMI 2.0 over the LAN, by ipmitool. The password goes by file (-f): a command line can be read by
 * everybody. */
#include "power_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { ARGUMENTS_MAX = 32 };

/* ipmitool with WORDS (NULL ends them); its output to OUT. */
static int ipmitool(struct power *p, const char *const words[], char *out, size_t size)
{
	const char *argv[ARGUMENTS_MAX] = {"ipmitool",
	                                   "-I",
	                                   "lanplus",
	                                   "-H",
	                                   power_text(p, "address"),
	                                   "-U",
	                                   power_text(p, "user"),
	                                   "-f",
	                                   power_text(p, "password_file")};
	char port[8], suite[8];
	size_t n = 9;
	int r = power_password(p, NULL, 0);

	if (r)
		return r;
	if (power_number(p, "port")) {
		snprintf(port, sizeof(port), "%d", (int)power_number(p, "port"));
		argv[n++] = "-p";
		argv[n++] = port;
	}
	if (json_object_get(p->entry, "cipher_suite")) {
		snprintf(suite, sizeof(suite), "%d", (int)power_number(p, "cipher_suite"));
		argv[n++] = "-C";
		argv[n++] = suite;
	}
	for (size_t i = 0; words[i]; i++)
		argv[n++] = words[i];
	r = power_run(p, argv, NULL, out, size);
	if (r == -ENOENT)
		return power_says(p, r, "there is no ipmitool here; install the package ipmitool");
	if (r == -ETIMEDOUT)
		return power_says(
		    p, r, "the BMC at %s does not answer: check address, cable, and that IPMI over LAN is on",
		    argv[4]);
	if (r < 0)
		return power_says(p, r, "ipmitool: %s", strerror(-r));
	if (r)
		return power_says(
		    p, -EIO,
		    "the BMC at %s: %s (check address, user, password_file, and that IPMI over LAN is on)",
		    argv[4], power_last_line(out));
	return 0;
}

static int ipmi_state(struct power *p, bool *on)
{
	char out[2048];
	int r = ipmitool(p, (const char *const[]){"chassis", "power", "status", NULL}, out, sizeof(out));

	if (r)
		return r;
	*on = strstr(out, "Chassis Power is on");
	if (!*on && !strstr(out, "Chassis Power is off"))
		return power_says(p, -EPROTO, "the BMC at %s says neither on nor off: %s",
		                  power_text(p, "address"), power_last_line(out));
	return 0;
}

static int ipmi_act(struct power *p, enum power_action action)
{
	char out[2048];

	return ipmitool(p, (const char *const[]){"chassis", "power", power_action_word(action), NULL}, out,
	                sizeof(out));
}

static int ipmi_boot_network(struct power *p)
{
	bool efi = json_is_true(json_object_get(p->entry, "efi"));
	char out[2048];

	return ipmitool(p,
	                (const char *const[]){"chassis", "bootdev", "pxe", efi ? "options=efiboot" : NULL,
	                                      NULL},
	                out, sizeof(out));
}

const struct power_driver power_ipmi = {.name = "ipmi",
                                        .state = ipmi_state,
                                        .act = ipmi_act,
                                        .boot_network = ipmi_boot_network};
