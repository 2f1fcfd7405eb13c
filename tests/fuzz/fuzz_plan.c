/* SPDX-License-Identifier: GPL-2.0-or-later
 * Any bytes as a plan and as a lab file: what is accepted must fit what the rest relies on. */
#include "estimate.h"
#include "plan.h"
#include "schema.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check_plan(const struct plan *plan)
{
	struct schema_error error;
	struct estimate e;

	assert(plan->cell_count && plan->visit_count == plan->cell_count * plan->boots);
	for (size_t i = 0; i < plan->cell_count && i < 100; i++) {
		json_t *cell = plan_cell_json(plan, &plan->cells[i]);
		char id[SHA256_HEX_SIZE];

		assert(!schema_check("cell.json", cell, &error));
		assert(!canonical_id(cell, id) && !strcmp(id, plan->cells[i].id));
		json_decref(cell);
	}
	for (size_t v = 0; v < plan->visit_count; v++)
		assert(plan->visits[v].cell < plan->cell_count && plan->visits[v].boot <= plan->boots);
	plan_estimate(plan, &assumptions_default, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *null;
	struct schema_error error;
	struct plan *plan;
	char path[32];
	json_t *lab;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (!null)
		null = fopen("/dev/null", "w");
	assert(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!plan_load(path, 1, null, &plan))
		check_plan(plan);
	plan_free(plan);
	if (!lab_file_load(path, null, &lab))
		assert(!schema_check("lab.json", lab, &error));
	json_decref(lab);
	close(fd);
	return 0;
}
