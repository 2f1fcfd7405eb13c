/* SPDX-License-Identifier: GPL-2.0-or-later
 * A made-up /sys and /proc: files under a folder of the test's own. */
#ifndef ASSAY_TEST_TREE_H
#define ASSAY_TEST_TREE_H

#include "file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

/* Where it is; the test makes it (mkdtemp) and removes it. */
static char root[64];

/* Makes the file NAME under root with TEXT, and the folders that lead to it. */
static void put(const char *name, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	assert_int_equal(create_file(path, "%s", text), 0);
}

#endif
