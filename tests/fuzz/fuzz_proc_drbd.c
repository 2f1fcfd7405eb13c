/* SPDX-License-Identifier: GPL-2.0-or-later
 * /proc/drbd and `drbdsetup show` may come cut, or from another version. */
#include "drbd_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), value[24];
	json_t *in_force = json_object();
	struct drbd_progress progress;
	struct drbd_state state;

	memcpy(text, data, size);
	text[size] = '\0';
	if (!drbd_state_parse(text, 0, &state))
		assert(state.connection[0]);
	assert(strlen(state.connection) < sizeof(state.connection) &&
	       strlen(state.role) < sizeof(state.role));
	assert(strlen(state.peer_disk) < sizeof(state.peer_disk));
	if (!drbd_progress_parse(text, 0, &progress) && progress.running)
		assert(progress.left_bytes <= progress.total_bytes && progress.finish_s >= 0);
	if (!drbd_show_option(text, "net", "max-buffers", value, sizeof(value)))
		assert(strlen(value) < sizeof(value));
	drbd_show_levels(text, in_force);
	json_decref(in_force);
	free(text);
	return 0;
}
