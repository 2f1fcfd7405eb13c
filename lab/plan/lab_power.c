/* SPDX-License-Identifier: GPL-2.0-or-later
 * What `power` of a node must have: each driver its own keys. */
#include "lab_internal.h"

#include <string.h>

enum { KEYS_MAX = 6 };

static const struct driver_keys {
	const char *driver, *needs[KEYS_MAX], *takes[KEYS_MAX];
} drivers[] = {
    {"ipmi", {"address", "user", "password_file"}, {"port", "cipher_suite", "efi"}},
    {"redfish", {"url", "user", "password_file"}, {"system", "ca_file", "pinned_key"}},
    {"command", {"command"}, {NULL}},
    {"qemu", {"socket"}, {NULL}},
};

static bool among(const char *const keys[KEYS_MAX], const char *key)
{
	for (size_t i = 0; i < KEYS_MAX && keys[i]; i++)
		if (!strcmp(keys[i], key))
			return true;
	return false;
}

void lab_check_power(struct yaml_doc *doc, const char *node, const json_t *power)
{
	const char *name = json_string_value(json_object_get(power, "driver")), *key;
	const struct driver_keys *d = NULL;
	json_t *ignored;
	char at[160];

	for (size_t i = 0; name && i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (!strcmp(name, drivers[i].driver))
			d = &drivers[i];
	if (!d)
		return;
	snprintf(at, sizeof(at), "/nodes/%s/power", node);
	for (size_t i = 0; i < KEYS_MAX && d->needs[i]; i++)
		if (!json_object_get(power, d->needs[i]))
			yaml_complain(doc, at, false, "power: driver %s needs \"%s\"", name, d->needs[i]);
	json_object_foreach ((json_t *)power, key, ignored) {
		if (!strcmp(key, "driver") || among(d->needs, key) || among(d->takes, key))
			continue;
		snprintf(at, sizeof(at), "/nodes/%s/power/%s", node, key);
		yaml_complain(doc, at, true, "power: driver %s has no use for \"%s\"", name, key);
	}
}
