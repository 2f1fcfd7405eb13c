/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layer.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_layer(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

json_t *layer_names(const char *folder)
{
	json_t *names = json_array();
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, is_layer, alphasort);

	for (int i = 0; i < n; i++) {
		char path[512];

		snprintf(path, sizeof(path), "%s/%s/layer.json", folder, entries[i]->d_name);
		/* One without it was cut short, or is none of ours. */
		if (!access(path, F_OK))
			json_array_append_new(names, json_string(entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	return names;
}

json_t *layer_evidence(const char *folder)
{
	json_t *names = layer_names(folder), *layers = json_array();
	const json_t *name, *package;
	size_t i, k;

	json_array_foreach (names, i, name) {
		char path[512];
		json_t *layer, *packages = json_array();

		snprintf(path, sizeof(path), "%s/%s/layer.json", folder, json_string_value(name));
		layer = json_load_file(path, 0, NULL);
		json_array_foreach (json_object_get(layer, "packages"), k, package) {
			json_array_append_new(packages, json_pack("{s:O, s:O}", "name",
			                                          json_object_get(package, "name"), "version",
			                                          json_object_get(package, "version")));
		}
		json_array_append_new(layers, json_pack("{s:O, s:o}", "name", name, "packages", packages));
		json_decref(layer);
	}
	json_decref(names);
	return layers;
}

int layer_argv(const char *name, const char *const args[], char path[64], const char **argv)
{
	size_t n = 0;

	snprintf(path, 64, LAYERS_FOLDER "/%s", name);
	argv[n++] = "chroot";
	argv[n++] = path;
	for (size_t i = 0; args[i]; i++) {
		if (n + 1 >= LAYER_WORDS)
			return -E2BIG;
		argv[n++] = args[i];
	}
	argv[n] = NULL;
	return 0;
}

int layer_enter(const char *name, struct failure *why)
{
	static const char *const folders[] = {"dev", "sys", "proc"};
	char path[96];
	struct stat st;
	int r = 0;

	snprintf(path, sizeof(path), LAYERS_FOLDER "/%s/layer.json", name);
	if (access(path, F_OK))
		return fail(why, -errno, FAILURE_SAMPLE, "layer", name,
		            "Report this: the lab should have booted the node with it.",
		            "This boot has no layer %s", name);
	/* In its /proc there is a process 1 once that is bound, the last of the three. */
	snprintf(path, sizeof(path), LAYERS_FOLDER "/%s/proc/1", name);
	if (!stat(path, &st))
		return 0;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders) && !r; i++) {
		char from[16];

		snprintf(from, sizeof(from), "/%s", folders[i]);
		snprintf(path, sizeof(path), LAYERS_FOLDER "/%s/%s", name, folders[i]);
		if (mount(from, path, NULL, MS_BIND, NULL))
			r = fail(why, -errno, FAILURE_SAMPLE, "layer", path, "See the node's kernel log.",
			         "%s cannot be bound into the layer %s", from, name);
	}
	return r;
}
