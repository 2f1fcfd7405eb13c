/* SPDX-License-Identifier: GPL-2.0-or-later
 * Kernel modules: those that the hardware asks for, and those that a cell needs. */
#ifndef ASSAY_MODULE_H
#define ASSAY_MODULE_H

#include <jansson.h>
#include <stddef.h>

enum module_order {
	MODULE_NETWORK, /* what leads to NICs: they negotiate their links while the rest loads */
	MODULE_ALL,
};

/* Loads the modules that the devices under /sys ask for by their modalias, again and again until no new
 * device comes up. Aliases that were served once are not asked for again. 0 or -errno (no module index, out
 * of memory); modules that fail are kept for module_failures(). */
int module_coldplug(enum module_order order);

/* Loads module NAME, and what it needs, with PARAMS ("max_bonds=0", may be NULL). 0 also where it is there
 * already, or built in; else -errno (-ENOENT: this image has no such module). */
int module_load(const char *name, const char *params);

/* The version that module NAME says of itself, loaded or not. 0 or -errno. */
int module_version(const char *name, char *buf, size_t size);

/* What could not be loaded, as ["NAME: reason", …]; the caller owns it. */
json_t *module_failures(void);

#endif
