/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "module.h"

#include "console.h"
#include "failure.h"
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <libkmod.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALIAS_SIZE   512
#define ALIASES_MAX  8192
#define FAILURES_MAX 32

static struct kmod_ctx *kmod;
static char *served[ALIASES_MAX]; /* sorted */
static size_t served_count;

/* Shared with the child that coldplugs beside us. */
static struct {
	atomic_uint count;
	char text[FAILURES_MAX][128];
} * failures;

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
	failures = mmap(NULL, sizeof(*failures), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (failures == MAP_FAILED) {
		failures = NULL;
		return -ENOMEM;
	}
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
	unsigned int at = atomic_fetch_add(&failures->count, 1);

	say("module %s does not load: %s", name, strerror(-r));
	if (at < FAILURES_MAX)
		snprintf(failures->text[at], sizeof(failures->text[at]), "%s: %s", name, strerror(-r));
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

/* The kind of the device that has ALIAS: by its class on PCI, by its type on virtio, whose PCI side is one
 * driver for all. */
static enum module_kind kind_of(const char *alias)
{
	const char *class = !strncmp(alias, "pci:", 4) ? strstr(alias, "bc") : NULL;

	if ((class && !strncmp(class, "bc02", 4)) || !strncmp(alias, "virtio:d00000001", 16))
		return MODULE_NETWORK;
	if ((class && !strncmp(class, "bc01", 4)) || !strncmp(alias, "virtio:d00000002", 16) ||
	    !strncmp(alias, "virtio:d00000008", 16) || !strncmp(alias, "scsi:", 5))
		return MODULE_STORAGE;
	return MODULE_ALL;
}

/* One pass over all devices. How many new aliases were served, or -errno. */
static int pass(enum module_kind kind)
{
	char alias[ALIAS_SIZE];
	glob_t found = {0};
	int r = 0, fresh = 0;

	if (glob("/sys/bus/*/devices/*/modalias", GLOB_NOSORT, NULL, &found))
		goto out;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		if (read_file(found.gl_pathv[i], alias, sizeof(alias)) <= 0)
			continue;
		if (kind != MODULE_ALL && kind_of(alias) != kind)
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

int module_coldplug(enum module_kind kind)
{
	int r = start();

	if (r < 0)
		return r;
	do
		r = pass(kind);
	while (r > 0);
	return r;
}

int module_coldplug_start(enum module_kind kind, void (*done)(void))
{
	int r = start();
	pid_t child;

	if (r < 0)
		return r;
	child = fork();
	if (child < 0)
		return -errno;
	if (child == 0) {
		/* On one CPU: in the gaps where the caller's drivers wait for their hardware. */
		setpriority(PRIO_PROCESS, 0, 19);
		r = module_coldplug(kind);
		if (done)
			done();
		_exit(r ? 1 : 0);
	}
	return child;
}

void module_coldplug_finish(int child)
{
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

int module_load(const char *name, const char *params)
{
	int r = start();

	return r < 0 ? r : load(name, params, false);
}

int module_unload(const char *name)
{
	struct kmod_module *module;
	int r = start();

	if (r < 0)
		return r;
	r = kmod_module_new_from_name(kmod, name, &module);
	if (r < 0)
		return r;
	r = kmod_module_remove_module(module, O_NONBLOCK);
	kmod_module_unref(module);
	return r;
}

int module_version(const char *name, char *buf, size_t size)
{
	char list[8192], path[128], *line, *rest = list;
	struct utsname kernel;
	size_t length = strlen(name);

	if (read_file_at(buf, size, "/sys/module/%s/version", name) > 0)
		return 0;
	*buf = '\0';
	if (uname(&kernel))
		return -errno;
	snprintf(path, sizeof(path), "/lib/modules/%.100s/modules.version", kernel.release);
	if (read_file(path, list, sizeof(list)) < 0)
		return -ENODATA;
	while ((line = strsep(&rest, "\n")))
		if (!strncmp(line, name, length) && line[length] == ' ')
			snprintf(buf, size, "%s", line + length + 1);
	return *buf ? 0 : -ENODATA;
}

json_t *module_failures(void)
{
	json_t *array = json_array();

	for (unsigned int i = 0; failures && i < failures->count && i < FAILURES_MAX; i++)
		json_array_append_new(array, json_text(failures->text[i]));
	return array;
}
