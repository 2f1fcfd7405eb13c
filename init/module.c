/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "module.h"

#include "console.h"
#include "file.h"

#include <errno.h>
#include <glob.h>
#include <libkmod.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALIAS_SIZE   512
#define ALIASES_MAX  8192
#define FAILURES_MAX 32

static struct kmod_ctx *kmod;
static char *served[ALIASES_MAX]; /* sorted */
static size_t served_count;
static char failures[FAILURES_MAX][128];
static size_t failure_count;

#ifndef __GLIBC__
/* libkmod calls it, and musl has no such function. */
int finit_module(int fd, const char *params, int flags);
int finit_module(int fd, const char *params, int flags)
{
	return (int)syscall(SYS_finit_module, fd, params, flags);
}
#endif

static int start(void)
{
	static const char *const no_config[] = {NULL};

	if (kmod)
		return 0;
	kmod = kmod_new(NULL, no_config);
	if (!kmod)
		return -ENOMEM;
	return kmod_load_resources(kmod);
}

/* Keeps ALIAS among those served. 1: it is new; 0: known; -errno. */
static int remember(const char *alias)
{
	size_t low = 0, high = served_count, middle;
	int order;

	while (low < high) {
		middle = (low + high) / 2;
		order = strcmp(alias, served[middle]);
		if (!order)
			return 0;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	if (served_count == ALIASES_MAX)
		return -ENOSPC;
	memmove(served + low + 1, served + low, (served_count - low) * sizeof(*served));
	served[low] = strdup(alias);
	if (!served[low])
		return -ENOMEM;
	served_count++;
	return 1;
}

static void note_failure(const char *name, int r)
{
	say("module %s does not load: %s", name, strerror(-r));
	if (failure_count < FAILURES_MAX)
		snprintf(failures[failure_count++], sizeof(failures[0]), "%s: %s", name, strerror(-r));
}

/* Loads every module behind ALIAS (or of that name). 0, or the first -errno. -ENODEV is no failure of a
 * driver that looks for its hardware and does not find it, when a device asked. */
static int load(const char *alias, const char *params, bool note)
{
	struct kmod_list *list = NULL, *item;
	int r, first = 0;

	r = kmod_module_new_from_lookup(kmod, alias, &list);
	if (r < 0)
		return r;
	if (!list)
		return -ENOENT;
	kmod_list_foreach(item, list)
	{
		struct kmod_module *module = kmod_module_get_module(item);

		r = kmod_module_probe_insert_module(module, 0, params, NULL, NULL, NULL);
		if (r == -EEXIST || (note && r == -ENODEV))
			r = 0;
		if (r < 0 && note)
			note_failure(kmod_module_get_name(module), r);
		if (r < 0 && !first)
			first = r;
		kmod_module_unref(module);
	}
	kmod_module_unref_list(list);
	return first;
}

/* PCI devices of class "network", and virtio and SDIO-like buses' own devices, which PCI hides behind one
 * driver. */
static bool leads_to_nic(const char *alias)
{
	return !strncmp(alias, "virtio:d00000001", 16) ||
	       (!strncmp(alias, "pci:", 4) && strstr(alias, "bc02"));
}

/* One pass over all devices. How many new aliases were served, or -errno. */
static int pass(enum module_order order)
{
	char alias[ALIAS_SIZE];
	glob_t found = {0};
	int r = 0, fresh = 0;

	if (glob("/sys/bus/*/devices/*/modalias", GLOB_NOSORT, NULL, &found))
		goto out;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (read_file(found.gl_pathv[i], alias, sizeof(alias)) <= 0)
			continue;
		if (order == MODULE_NETWORK && !leads_to_nic(alias))
			continue;
		r = remember(alias);
		if (r < 0)
			goto out;
		if (r == 0)
			continue;
		fresh++;
		load(alias, NULL, true);
	}
	r = 0;
out:
	globfree(&found);
	return r < 0 ? r : fresh;
}

int module_coldplug(enum module_order order)
{
	int r = start();

	if (r < 0)
		return r;
	do
		r = pass(order);
	while (r > 0);
	return r;
}

int module_load(const char *name, const char *params)
{
	int r = start();

	return r < 0 ? r : load(name, params, false);
}

int module_version(const char *name, char *buf, size_t size)
{
	struct kmod_list *info = NULL, *item;
	struct kmod_module *module;
	int r = start();

	*buf = '\0';
	if (r < 0)
		return r;
	r = read_file_at(buf, size, "/sys/module/%s/version", name);
	if (r > 0)
		return 0;
	r = kmod_module_new_from_name(kmod, name, &module);
	if (r < 0)
		return r;
	r = kmod_module_get_info(module, &info);
	kmod_list_foreach(item, info)
	{
		if (!strcmp(kmod_module_info_get_key(item), "version"))
			snprintf(buf, size, "%s", kmod_module_info_get_value(item));
	}
	kmod_module_info_free_list(info);
	kmod_module_unref(module);
	if (r < 0)
		return r;
	return *buf ? 0 : -ENODATA;
}

json_t *module_failures(void)
{
	json_t *array = json_array();

	for (size_t i = 0; i < failure_count; i++)
		json_array_append_new(array, json_string(failures[i]));
	return array;
}
