/* SPDX-License-Identifier: GPL-2.0-or-later
 * Any JSON against any schema. The first byte chooses the schema. */
#include "canonical.h"
#include "schema_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void count(void *context, const struct schema_error *error)
{
	assert(memchr(error->path, '\0', sizeof(error->path)));
	assert(memchr(error->message, '\0', sizeof(error->message)));
	assert(error->path[0] == '/' || error->path[0] == '\0');
	assert(error->message[0]);
	++*(size_t *)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *name;
	size_t errors = 0;
	json_t *value, *again;
	char *text;
	int r;

	if (!size)
		return 0;
	name = schema_texts[data[0] % schema_text_count].name;
	value = json_loadb((const char *)data + 1, size - 1, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
	if (!value)
		return 0;
	r = schema_check_all(name, value, count, &errors);
	assert((r == -EINVAL && errors) || (!r && !errors));
	if (!canonical_json(value, &text)) {
		again = json_loads(text, JSON_DECODE_ANY, NULL);
		assert(json_equal(value, again));
		json_decref(again);
		free(text);
	}
	json_decref(value);
	return 0;
}
