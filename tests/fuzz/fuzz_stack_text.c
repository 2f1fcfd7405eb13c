/* SPDX-License-Identifier: GPL-2.0-or-later
 * The device mapper's tables, /proc/mounts, and the level of the factor "stack". */
#include "dm.h"
#include "factor.h"
#include "mounts.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), cipher[64], printed[1200];
	struct dm_table table = {.target = "crypt"};
	enum stack_layer layers[STACK_LAYER_COUNT];
	struct mount_entry entry;
	unsigned int major_number, minor_number;
	long long bits;

	memcpy(text, data, size);
	text[size] = '\0';
	assert(factor_stack_layers(text, layers) <= STACK_LAYER_COUNT);
	dm_lower("linear", text, &major_number, &minor_number);
	dm_lower("crypt", text, &major_number, &minor_number);
	if (!dm_crypt_key(text, cipher, sizeof(cipher), &bits))
		assert(strlen(cipher) < sizeof(cipher) && bits >= 0);
	snprintf(table.params, sizeof(table.params), "%s", text);
	dm_table_text(&table, printed, sizeof(printed));
	assert(strlen(printed) < sizeof(printed));
	if (!mounts_find(text, "/mnt", &entry)) {
		assert(strlen(entry.options) < sizeof(entry.options));
		assert(mounts_have(entry.options, "", entry.options) || strstr(entry.options, ",,") ||
		       strchr(entry.options, '\n'));
	}
	mounts_have(text, text, text);
	free(text);
	return 0;
}
