/* SPDX-License-Identifier: GPL-2.0-or-later
 * For tests/docs/docs.t: the new factor of docs/extending.md as a node applies it, to a made-up /proc.
 * usage: factor PROC LEVEL; prints what is there while it is in force, what is in force, and what is there
 * after. */
#include "knob.h"

#include <stdio.h>
#include <stdlib.h>

static void show(const char *proc)
{
	char path[256], text[32] = "";

	snprintf(path, sizeof(path), "%s/sys/vm/swappiness", proc);
	FILE *file = fopen(path, "r");
	if (file && fgets(text, sizeof(text), file))
		printf("%d\n", atoi(text));
	if (file)
		fclose(file);
}

int main(int argc, char **argv)
{
	const struct knob_place place = {.proc = argc > 1 ? argv[1] : "", .sys = ""};
	json_t *state = json_pack("{si}", "sysctl.vm.swappiness", argc > 2 ? atoi(argv[2]) : -1);
	json_t *in_force = json_object();
	struct knob_changes changes = {0};
	struct failure why;

	if (argc != 3 || knob_apply(&changes, &place, state, KNOB_FIRST, &why) ||
	    knob_in_force(&place, state, in_force))
		return 1;
	show(argv[1]);
	json_dumpf(in_force, stdout, JSON_COMPACT);
	puts("");
	knob_restore(&changes, &place);
	show(argv[1]);
	json_decref(state);
	json_decref(in_force);
	return 0;
}
