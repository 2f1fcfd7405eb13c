/* SPDX-License-Identifier: GPL-2.0-or-later
 * Any bytes as a pack: never well, since nobody has the key that signs it. */
#include "../../lab/pack/pack.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static struct evp_pkey_st *key;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char folder[] = "/tmp/assay-fuzz-XXXXXX", path[64];

	(void)argc;
	(void)argv;
	assert(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/key", folder);
	assert(!key_make(path));
	key = key_load(path, true);
	unlink(path);
	snprintf(path, sizeof(path), "%s/key.pub", folder);
	unlink(path);
	rmdir(folder);
	assert(key);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *said = NULL, run[64];
	size_t said_size;
	FILE *in = size ? fmemopen((void *)data, size, "r") : fopen("/dev/null", "r");
	FILE *out = open_memstream(&said, &said_size);

	assert(in && out);
	assert(pack_verify(in, key, "0", out, run) > 0);
	fclose(in);
	fclose(out);
	free(said);
	return 0;
}
