/* SPDX-License-Identifier: GPL-2.0-or-later
 * The kernel command line may hold anything. */
#include "cmdline.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void complain(void *ctx, const char *text)
{
	*(size_t *)ctx += strlen(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), redacted[512], mac[18];
	struct cmdline options;
	size_t said = 0;

	memcpy(text, data, size);
	text[size] = '\0';
	cmdline_parse(text, &options, complain, &said);
	assert(!*options.bootif || strlen(options.bootif) == 17);
	assert(!*options.address || (options.prefix_bits >= 1 && options.prefix_bits <= 32));
	cmdline_redact(text, redacted, sizeof(redacted));
	assert(strlen(redacted) < sizeof(redacted));
	if (!cmdline_mac(text, mac))
		assert(strlen(mac) == 17);
	free(text);
	return 0;
}
