/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "boot_arguments.h"

#include "factor.h"
#include "file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Whether TEXT has WORD, of LENGTH bytes, as a whole word. */
static bool has_word(const char *text, const char *word, size_t length)
{
	for (; *text; text += strcspn(text, " \n"), text += strspn(text, " \n"))
		if (strcspn(text, " \n") == length && !strncmp(text, word, length))
			return true;
	return false;
}

int boot_arguments_in_force(const json_t *state, const char *proc, json_t *in_force)
{
	const char *name = factors[FACTOR_BOOT_CMDLINE].name;
	const char *asked = json_string_value(json_object_get(state, name));
	char text[4096];
	json_t *level = NULL;
	int r;

	if (!asked)
		return 0;
	r = read_file_at(text, sizeof(text), "%s/cmdline", proc);
	if (r < 0)
		return r;
	for (const char *word = asked; *word && !level; word += strcspn(word, " "), word += *word == ' ') {
		size_t length = strcspn(word, " ");

		if (!has_word(text, word, length))
			level = json_sprintf("booted without %.*s", (int)length, word);
	}
	return json_object_set_new(in_force, name, level ? level : json_string(asked)) ? -ENOMEM : 0;
}

int boot_kernel_in_force(const json_t *state, const char *folder, const char *release, json_t *in_force)
{
	const char *name = factors[FACTOR_BOOT_KERNEL].name;
	const char *asked = json_string_value(json_object_get(state, name)), *layers;
	char path[256];
	json_t *layer;
	bool right;

	if (!asked)
		return 0;
	snprintf(path, sizeof(path), "%s/kernel-%s/layer.json", folder, asked);
	layer = json_load_file(path, 0, NULL);
	layers = json_string_value(json_object_get(layer, "release"));
	right = layers && !strcmp(layers, release);
	json_decref(layer);
	return json_object_set_new(in_force, name,
	                           right ? json_string(asked) : json_sprintf("booted %s", release))
	           ? -ENOMEM
	           : 0;
}
