/* SPDX-License-Identifier: GPL-2.0-or-later
 * The operator's own command: COMMAND... ACTION NODE, where ACTION is status, on, off or cycle. */
#include "power_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 32 };

static int command_act(struct power *p, enum power_action action)
{
	const json_t *command = json_object_get(p->entry, "command");
	const char *argv[WORDS_MAX + 3] = {NULL};
	const char *extra[] = {p->network ? "ASSAY_BOOT=network" : "ASSAY_BOOT=", NULL};
	size_t words = json_array_size(command);
	char out[2048];

	for (size_t i = 0; i < words && i < WORDS_MAX; i++)
		argv[i] = json_string_value(json_array_get(command, i));
	argv[words] = power_action_word(action);
	argv[words + 1] = p->node;
	int r = power_run(p, argv, extra, out, sizeof(out));
	if (r == -ETIMEDOUT)
		return power_says(p, r, "%s %s %s did not end in time and was killed", argv[0], argv[words],
		                  p->node);
	if (r < 0)
		return power_says(p, r, "%s: %s", argv[0], strerror(-r));
	if (r)
		return power_says(p, -EIO, "%s %s %s ended with status %d: %s", argv[0], argv[words], p->node,
		                  r, power_last_line(out));
	if (action != POWER_STATUS)
		return power_says(p, 0, "%s %s %s: done", argv[0], argv[words], p->node);
	const char *word = power_last_line(out);
	if (strcmp(word, "on") && strcmp(word, "off"))
		return power_says(p, -EPROTO, "%s status %s says \"%s\", not on or off", argv[0], p->node,
		                  word);
	return power_says(p, 0, "%s", word);
}

const struct power_driver power_command = {.name = "command", .act = command_act};
