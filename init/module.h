/* SPDX-License-Identifier: GPL-2.0-or-later
 * Kernel modules: those that the hardware asks for, and those that a cell needs. */
#ifndef ASSAY_MODULE_H
#define ASSAY_MODULE_H

#include <jansson.h>
#include <stddef.h>

/* What devices are for, as far as it matters in which order their modules are loaded: every loading waits for
 * all probing that goes on. */
enum module_kind {
	MODULE_NETWORK, /* first: NICs negotiate their links while the rest loads */
	MODULE_STORAGE, /* controllers may look for disks for a long time */
	MODULE_ALL,     /* the rest, which hello does not need, too */
};

/* Loads the modules that the devices under /sys of this KIND ask for by their modalias, again and again until
 * no new device comes up. Aliases that were served once are not asked for again. 0 or -errno (no module
 * index, out of memory); modules that fail are kept for module_failures(). */
int module_coldplug(enum module_kind kind);

/* The same beside the caller, in a child process, which calls DONE (may be NULL) at its end; its id, or
 * -errno. */
int module_coldplug_start(enum module_kind kind, void (*done)(void));

/* Waits for the child CHILD (nothing where it is not positive). */
void module_coldplug_finish(int child);

/* Loads module NAME, and what it needs, with PARAMS ("max_bonds=0", may be NULL). 0 also where it is there
 * already, or built in; else -errno (-ENOENT: this image has no such module). */
int module_load(const char *name, const char *params);

/* Unloads module NAME. 0 or -errno (-ENOENT: not loaded, -EWOULDBLOCK: in use). */
int module_unload(const char *name);

/* The version that module NAME says of itself, loaded or not. 0 or -errno. */
int module_version(const char *name, char *buf, size_t size);

/* What could not be loaded, as ["NAME: reason", …]; the caller owns it. */
json_t *module_failures(void);

#endif
