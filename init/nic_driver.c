/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic_driver.h"

#include "console.h"
#include "factor.h"
#include "file.h"
#include "kernel_log.h"
#include "module.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libkmod.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define IN_TREE     "in-tree"
#define OUT_OF_TREE "out-of-tree"

/* Whether FILE is MODULE's: "ixgbe.ko.zst" is that of "ixgbe"; files may have - where the kernel has _. */
static bool is_file_of(const char *file, const char *module)
{
	for (; *module; file++, module++)
		if (*file != *module && !(*file == '-' && *module == '_'))
			return false;
	return !strcmp(file, ".ko") || !strncmp(file, ".ko.", 4);
}

static int search(const char *folder, const char *module, char *path, size_t size)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int r = -ENOENT;

	while (dir && r && (entry = readdir(dir))) {
		char below[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(below, sizeof(below), "%s/%s", folder, entry->d_name) >= sizeof(below))
			continue;
		if (is_file_of(entry->d_name, module))
			r = (size_t)snprintf(path, size, "%s", below) < size ? 0 : -ENAMETOOLONG;
		else if (!strchr(entry->d_name, '.'))
			r = search(below, module, path, size);
	}
	if (dir)
		closedir(dir);
	return r;
}

int nic_driver_file(const char *lib, const char *module, bool out_of_tree, char *path, size_t size)
{
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%s/%s", lib, out_of_tree ? "extra" : "kernel");
	return search(folder, module, path, size);
}

static int module_of(const char *sys, const char *nic, char *module, size_t size)
{
	return read_link_name(module, size, "%s/class/net/%s/device/driver/module", sys, nic);
}

/* The kernel marks what was not built with it. */
static bool is_out_of_tree(const char *sys, const char *module)
{
	char taint[32];

	read_file_at(taint, sizeof(taint), "%s/module/%s/taint", sys, module);
	return strchr(taint, 'O') != NULL;
}

void nic_driver_version(const char *sys, const char *nic, char *version, char *srcversion, size_t size)
{
	char module[64];

	*version = *srcversion = '\0';
	if (module_of(sys, nic, module, sizeof(module)))
		return;
	read_file_at(version, size, "%s/module/%s/version", sys, module);
	read_file_at(srcversion, size, "%s/module/%s/srcversion", sys, module);
}

int nic_driver_check(const char *path, const char *release, struct failure *why)
{
	static const char *const no_config[] = {NULL};
	static const char remedy[] = "Build it again for this kernel: make image MODULES=DIR.";
	struct kmod_ctx *kmod = kmod_new(NULL, no_config);
	struct kmod_list *info = NULL, *item;
	struct kmod_module *file = NULL;
	size_t n = strlen(release);
	int r = kmod ? kmod_module_new_from_path(kmod, path, &file) : -ENOMEM;

	if (!r)
		r = kmod_module_get_info(file, &info);
	if (r < 0)
		fail(why, r, FAILURE_CELL, "nic", path, remedy, "%s cannot be read as a kernel module", path);
	else
		r = 0;
	kmod_list_foreach(item, info)
	{
		const char *value = kmod_module_info_get_value(item);

		if (!strcmp(kmod_module_info_get_key(item), "vermagic") &&
		    (strncmp(value, release, n) != 0 || (value[n] && value[n] != ' ')))
			r = fail(why, -ENOEXEC, FAILURE_CELL, "nic", path, remedy,
			         "%s was built for another kernel, \"%s\"; this one is %s", path, value,
			         release);
	}
	kmod_module_info_free_list(info);
	kmod_module_unref(file);
	kmod_unref(kmod);
	return r;
}

static void load_dependencies(struct kmod_module *file)
{
	struct kmod_list *info = NULL, *item;

	if (kmod_module_get_info(file, &info) < 0)
		return;
	kmod_list_foreach(item, info)
	{
		char names[512], *save = NULL;

		if (strcmp(kmod_module_info_get_key(item), "depends") != 0)
			continue;
		snprintf(names, sizeof(names), "%s", kmod_module_info_get_value(item));
		/* What is missing, the kernel tells. */
		for (char *one = strtok_r(names, ",", &save); one; one = strtok_r(NULL, ",", &save))
			module_load(one, NULL);
	}
	kmod_module_info_free_list(info);
}

static int exchange(struct kmod_ctx *kmod, struct kmod_module *file, const char *module, const char *path,
                    struct failure *why)
{
	struct kmod_module *old;
	int log, r = kmod_module_new_from_name(kmod, module, &old);

	if (!r) {
		r = kmod_module_remove_module(old, O_NONBLOCK);
		kmod_module_unref(old);
	}
	if (r < 0 && r != -ENOENT)
		return fail(why, r, FAILURE_CELL, "nic", module,
		            "See the node's kernel log for what uses it.", "Driver %s cannot be unloaded",
		            module);
	log = kernel_log_mark();
	r = kmod_module_insert_module(file, 0, NULL);
	if (r < 0)
		fail(why, r, FAILURE_CELL, "nic", path,
		     "Build it again for this kernel: make image MODULES=DIR.", "The kernel refuses %s",
		     path);
	kernel_log_since(log, r < 0 ? why->log : NULL, sizeof(why->log));
	return r < 0 ? r : 0;
}

/* MODULE unloaded, its other build loaded. */
static int switch_build(const char *module, bool out_of_tree, struct failure *why)
{
	static const char *const no_config[] = {NULL};
	char lib[128], path[PATH_MAX];
	struct kmod_ctx *kmod = NULL, *names = NULL;
	struct kmod_module *file = NULL;
	struct utsname u;
	int r;

	uname(&u);
	snprintf(lib, sizeof(lib), "/lib/modules/%s", u.release);
	r = nic_driver_file(lib, module, out_of_tree, path, sizeof(path));
	if (r)
		return fail(why, r, failure_refusal(r), "nic", module,
		            out_of_tree ? "Build the image with it: make image MODULES=DIR."
		                        : "Plan nic.driver: out-of-tree, or default.",
		            "This image has no %s %s", out_of_tree ? OUT_OF_TREE : IN_TREE, module);
	r = nic_driver_check(path, u.release, why);
	if (r)
		return r;
	/* A context knows one file of a name. */
	kmod = kmod_new(NULL, no_config);
	names = kmod_new(NULL, no_config);
	r = kmod && names ? kmod_module_new_from_path(kmod, path, &file) : -ENOMEM;
	if (r < 0)
		fail(why, r, FAILURE_CELL, "nic", path, "See the node's kernel log.", "%s cannot be read",
		     path);
	if (!r) {
		load_dependencies(file);
		r = exchange(names, file, module, path, why);
	}
	kmod_module_unref(file);
	kmod_unref(names);
	kmod_unref(kmod);
	return r;
}

static bool is_known(const struct nic_drivers *drivers, const char *module)
{
	for (size_t i = 0; i < drivers->count; i++)
		if (!strcmp(drivers->driver[i].module, module))
			return true;
	return false;
}

/* What is wrong with a build says which NIC it was for. */
static int for_nic(struct failure *why, int r, const char *nic, const char *level)
{
	char text[sizeof(why->message)];

	if (!r)
		return 0;
	memcpy(text, why->message, sizeof(text));
	snprintf(why->message, sizeof(why->message), "Storage NIC %s, nic.driver=%s: %.*s", nic, level,
	         (int)sizeof(text) - 80, text);
	return r;
}

int nic_driver_apply(struct nic_drivers *drivers, const struct net_nics *nics, size_t used,
                     const char *management, const json_t *state, bool *switched, struct failure *why)
{
	const char *level = factor_string(state, FACTOR_NIC_DRIVER);
	bool wanted = !strcmp(level, OUT_OF_TREE);
	char held[64], module[64];
	int r = 0;

	*switched = false;
	if (strcmp(level, OUT_OF_TREE) != 0 && strcmp(level, IN_TREE) != 0)
		return 0;
	module_of("/sys", management, held, sizeof(held));
	for (size_t i = 0; i < used && !r; i++) {
		const char *nic = nics->name[i];

		/* Those of an exchanged driver are gone just now. */
		if (module_of("/sys", nic, module, sizeof(module))) {
			if (!*switched)
				return fail(why, -ENOENT, FAILURE_UNSUPPORTED, "nic", nic,
				            "Plan nic.driver: default.",
				            "The driver of storage NIC %s is built into the kernel", nic);
			continue;
		}
		if (is_known(drivers, module) || is_out_of_tree("/sys", module) == wanted)
			continue;
		if (!strcmp(module, held))
			return fail(
			    why, -EBUSY, FAILURE_CELL, "nic", nic,
			    "Use a management NIC with another driver, or plan nic.driver: default.",
			    "Driver %s of storage NIC %s cannot be exchanged: the management NIC %s uses it",
			    module, nic, management);
		if (drivers->count == NIC_DRIVERS)
			return fail(why, -E2BIG, FAILURE_CELL, "nic", nic, "", "More than %d drivers",
			            NIC_DRIVERS);
		memcpy(drivers->driver[drivers->count].module, module, sizeof(module));
		drivers->driver[drivers->count++].out_of_tree = !wanted;
		*switched = true;
		r = for_nic(why, switch_build(module, wanted, why), nic, level);
	}
	return r;
}

int nic_driver_in_force(const struct net_nics *nics, size_t used, const json_t *state, const char *sys,
                        json_t *in_force)
{
	const char *asked = factor_string(state, FACTOR_NIC_DRIVER), *real = NULL;

	for (size_t i = 0; i < used; i++) {
		char module[64];
		const char *one;

		if (module_of(sys, nics->name[i], module, sizeof(module)))
			continue;
		one = is_out_of_tree(sys, module) ? OUT_OF_TREE : IN_TREE;
		if (!real || strcmp(one, asked) != 0)
			real = one;
	}
	if (real && json_object_set_new(in_force, factors[FACTOR_NIC_DRIVER].name, json_string(real)))
		return -ENOMEM;
	return 0;
}

void nic_driver_restore(struct nic_drivers *drivers)
{
	for (size_t i = 0; i < drivers->count; i++) {
		const struct nic_driver *driver = &drivers->driver[i];
		char path[128];
		struct failure why;

		/* One that could not be exchanged is still there. */
		snprintf(path, sizeof(path), "/sys/module/%s", driver->module);
		if (!access(path, F_OK) && is_out_of_tree("/sys", driver->module) == driver->out_of_tree)
			continue;
		if (switch_build(driver->module, driver->out_of_tree, &why))
			say("%s: %s", why.message, strerror(why.error));
	}
	drivers->count = 0;
}
