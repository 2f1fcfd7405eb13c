/* SPDX-License-Identifier: GPL-2.0-or-later
 * Plans as the conductor gets them: cells fit their schema, ids, visits, the shuffle, boots. */
#include "estimate.h"
#include "plan_internal.h"
#include "schema.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define GOOD "tests/data/plans/good/"

static struct plan *load(const char *path, uint64_t seed)
{
	struct plan *plan;

	assert_int_equal(plan_load(path, seed, stderr, &plan), 0);
	return plan;
}

static void test_cells(void **state)
{
	static const char *const names[] = {GOOD "smoke.yaml", GOOD "cross.yaml", GOOD "where.yaml",
	                                    GOOD "yaml.yaml"};

	(void)state;
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		struct plan *plan = load(names[n], 0);

		for (size_t i = 0; i < plan->cell_count; i++) {
			const struct plan_cell *c = &plan->cells[i];
			json_t *cell = plan_cell_json(plan, c), *cell_state = json_object_get(cell, "state");
			json_t *complete = factor_complete_state(cell_state);
			char hex[SHA256_HEX_SIZE];
			struct schema_error error;

			if (schema_check("cell.json", cell, &error))
				fail_msg("%s: %s", error.path, error.message);
			assert_true(json_equal(complete, cell_state));
			assert_int_equal(canonical_id(cell, hex), 0);
			assert_string_equal(hex, c->id);
			assert_int_equal(canonical_id(cell_state, hex), 0);
			assert_string_equal(hex, c->state_id);
			for (size_t j = 0; j < i; j++) {
				assert_string_not_equal(c->id, plan->cells[j].id);
				assert_string_not_equal(c->label, plan->cells[j].label);
			}
			json_decref(complete);
			json_decref(cell);
		}
		plan_free(plan);
	}
}

static void test_smoke(void **state)
{
	struct plan *plan = load("tests/matrix/smoke.yaml", 0);

	(void)state;
	assert_string_equal(plan->name, "smoke");
	assert_int_equal(plan->cell_count, 10);
	assert_int_equal(plan->visit_count, 10);
	assert_int_equal(plan->samples, 3);
	assert_int_equal(plan->cells[0].nodes, 1);
	assert_int_equal(plan->cells[2].nodes, 2);
	assert_int_equal(plan->cells[0].size_bytes, 64 << 20);
	assert_int_equal(plan->cells[1].size_bytes, 8 << 20);
	assert_false(plan->cells[5].fresh);
	assert_true(plan->cells[6].fresh);
	assert_int_equal(plan_cell_integer(plan, &plan->cells[8], FACTOR_BOND_CYCLES), 3);
	assert_int_equal(plan_cell_integer(plan, &plan->cells[8], FACTOR_NIC_MTU), 9000);
	assert_false(plan_cell_has(plan, &plan->cells[0], FACTOR_NIC_MTU));
	assert_int_equal(plan->peer_ms, 180000);
	assert_false(plan->shuffled);
	plan_free(plan);
}

/* Every block has every cell once, and those of a state side by side. */
static void check_visits(const struct plan *plan)
{
	size_t v = 0;

	assert_int_equal(plan->visit_count, plan->cell_count * plan->boots);
	for (unsigned int boot = 1; boot <= plan->boots; boot++) {
		bool *seen = calloc(plan->cell_count, sizeof(*seen));
		size_t changes = 1, states = 1;

		for (size_t i = 0; i < plan->cell_count; i++, v++) {
			const struct plan_visit *visit = &plan->visits[v];

			assert_int_equal(visit->boot, boot);
			assert_false(seen[visit->cell]);
			seen[visit->cell] = true;
			if (i)
				changes += strcmp(plan->cells[visit->cell].state_id,
				                  plan->cells[visit[-1].cell].state_id) != 0;
			if (i)
				states += strcmp(plan->cells[i].state_id, plan->cells[i - 1].state_id) != 0;
		}
		assert_int_equal(changes, states);
		free(seen);
	}
}

static struct plan *parse(const char *text)
{
	char path[] = "/tmp/assay-plan.XXXXXX";
	int fd = mkstemp(path);
	struct plan *plan;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	plan = load(path, 1);
	unlink(path);
	return plan;
}

#define BOOTS_PLAN(boots, order)                                                                             \
	"schema_version: 1\nquestion: q\nnodes: 2\nbase: {stack: drbd}\nzip:\n"                              \
	"  - {drbd.net.max-buffers: 100}\n"                                                                  \
	"  - {boot.cmdline: maxcpus=1}\n"                                                                    \
	"  - {drbd.net.max-buffers: 200}\n"                                                                  \
	"  - {drbd.net.max-buffers: 300, boot: fresh}\n"                                                     \
	"  - {boot.cmdline: maxcpus=1, drbd.net.max-buffers: 200}\n"                                         \
	"  - {drbd.net.max-buffers: 400}\n"                                                                  \
	"  - {boot.cmdline: mitigations=off}\n"                                                              \
	"workloads:\n  - copy: {bs: 4MiB, size: 4MiB}\n  - copy: {bs: 64KiB, size: 4MiB}\n"                  \
	"repeat: {boots: " boots ", samples: 1}\norder: " order "\n"

/* How often what is booted changes within block BOOT. */
static size_t boot_changes(const struct plan *plan, unsigned int boot)
{
	size_t changes = 0;

	for (size_t v = 1; v < plan->visit_count; v++)
		if (plan->visits[v].boot == boot && plan->visits[v - 1].boot == boot)
			changes += !plan_same_boot(plan, &plan->cells[plan->visits[v].cell],
			                           &plan->cells[plan->visits[v - 1].cell]);
	return changes;
}

/* Three command lines: three boots a block, and one for the fresh state unless it comes first of its line. */
static void test_few_boots(void **state)
{
	struct plan *written = parse(BOOTS_PLAN("1", "as-written")),
	            *plan = parse(BOOTS_PLAN("400", "shuffled"));
	size_t first[3] = {0}, least = 400 * 3;
	struct estimate e;

	(void)state;
	check_visits(written);
	assert_int_equal(boot_changes(written, 1), 2);
	assert_int_equal(written->visits[0].cell, 0);
	assert_int_equal(written->visits[2].cell, 4);  /* the same line's others come before another line's */
	assert_int_equal(written->visits[10].cell, 8); /* and its states keep their order */
	plan_estimate(written, &assumptions_default, &e);
	assert_int_equal(e.boots[0], 4);

	check_visits(plan);
	plan_estimate(plan, &assumptions_default, &e);
	for (unsigned int boot = 1; boot <= 400; boot++) {
		const struct plan_cell *c = &plan->cells[plan->visits[(boot - 1) * plan->cell_count].cell];
		const char *line = plan_cell_string(plan, c, FACTOR_BOOT_CMDLINE);

		assert_int_equal(boot_changes(plan, boot), 2);
		first[!strcmp(line, "maxcpus=1") ? 1 : !strcmp(line, "mitigations=off") ? 2 : 0]++;
	}
	assert_true(e.boots[0] > least && e.boots[0] <= least + 400);
	assert_int_equal(e.boots[0], e.boots[1]);
	/* Each line comes first in a third of the blocks, though it has four states, two, or one: within four
	 * standard deviations of the binomial distribution. */
	for (size_t i = 0; i < 3; i++)
		assert_in_range(first[i], 133 - 38, 133 + 38);
	plan_free(written);
	plan_free(plan);
}

/* In a shuffled plan a state is as likely in each place of its block as in any other. */
static void test_places(void **state)
{
	struct plan *plan =
	    parse("schema_version: 1\nquestion: q\nnodes: 2\nbase: {stack: drbd}\n"
	          "cross: {drbd.net.max-buffers: [100, 200, 300, 400]}\n"
	          "workloads:\n  - copy: {bs: 4MiB, size: 4MiB}\nrepeat: {boots: 800}\norder: shuffled\n");
	size_t count[4][4] = {{0}};

	(void)state;
	for (size_t v = 0; v < plan->visit_count; v++)
		count[v % 4][plan->visits[v].cell]++;
	for (size_t place = 0; place < 4; place++)
		for (size_t cell = 0; cell < 4; cell++)
			assert_in_range(count[place][cell], 200 - 49, 200 + 49);
	plan_free(plan);
}

static bool same_order(const struct plan *a, const struct plan *b)
{
	for (size_t v = 0; v < a->visit_count; v++)
		if (a->visits[v].cell != b->visits[v].cell)
			return false;
	return true;
}

static void test_order(void **state)
{
	struct plan *written = load(GOOD "smoke.yaml", 7), *named = load(GOOD "shuffled.yaml", 99);
	struct plan *seven = load(GOOD "shuffled-unnamed.yaml", 7),
	            *eight = load(GOOD "shuffled-unnamed.yaml", 8);

	(void)state;
	check_visits(written);
	check_visits(named);
	check_visits(seven);
	check_visits(eight);
	for (size_t v = 0; v < written->visit_count; v++)
		assert_int_equal(written->visits[v].cell, v);
	assert_int_equal(named->seed, 7);
	assert_true(named->seed_in_plan);
	assert_false(seven->seed_in_plan);
	assert_true(same_order(named, seven));
	assert_false(same_order(seven, eight));
	plan_free(written);
	plan_free(named);
	plan_free(seven);
	plan_free(eight);
}

static void test_random(void **state)
{
	uint64_t seed = 0;

	(void)state;
	/* First outputs of the reference code of splitmix64 for seed 0. */
	assert_true(plan_random(&seed) == UINT64_C(0xe220a8397b1dcdaf));
	assert_true(plan_random(&seed) == UINT64_C(0x6e789e6aa1b965f4));
	assert_true(plan_random(&seed) == UINT64_C(0x06c45d188009454f));
}

static void test_boots(void **state)
{
	struct plan *fresh = load(GOOD "fresh-boots.yaml", 0), *smoke = load(GOOD "smoke.yaml", 0);
	struct assumptions a = {.mb_per_s = 1000, .boot_s = 10, .raw_ms = 1};
	struct estimate e;

	(void)state;
	plan_estimate(fresh, &a, &e);
	/* Node 1 boots for the block, then before the second and third state; node 2 comes in with the third.
	 */
	assert_int_equal(e.boots[0], 6);
	assert_int_equal(e.boots[1], 2);
	assert_int_equal(e.builds, 8);
	plan_estimate(smoke, &a, &e);
	assert_int_equal(e.boots[0], 3);
	assert_int_equal(e.boots[1], 3);
	assert_int_equal(e.samples, 30);
	assert_int_equal(e.bytes, 15 * (64 << 20) + 15 * (8 << 20));
	/* Three boots of 10 s, and node 2's first, which has nobody to boot with; samples in whole ms. */
	assert_int_equal(e.ms, 4 * 10000 + 5 * 1 + 15 * 67 + 15 * 8);
	plan_free(fresh);
	plan_free(smoke);
}

static char *write_plan(const char *text)
{
	char *path = strdup("/tmp/assay-plan-XXXXXX");
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	return path;
}

static void test_large(void **state)
{
	char *text, *path;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	struct plan *plan;

	(void)state;
	fputs("schema_version: 1\nquestion: large\nnodes: 2\nbase: {stack: drbd}\ncross:\n", to);
	static const char *const names[] = {"drbd.net.max-buffers", "drbd.net.max-epoch-size",
	                                    "drbd.net.unplug-watermark"};
	for (size_t f = 0; f < 3; f++) {
		fprintf(to, "  %s: [100", names[f]);
		for (int i = 1; i < 14; i++)
			fprintf(to, ", %d", 100 + i);
		fputs("]\n", to);
	}
	fputs("workloads: [{copy: {bs: 4MiB, count: 1}}]\norder: shuffled\nrepeat: {boots: 2}\n", to);
	fclose(to);
	path = write_plan(text);
	plan = load(path, 1);
	assert_int_equal(plan->cell_count, 14 * 14 * 14);
	check_visits(plan);
	plan_free(plan);
	unlink(path);
	free(path);
	free(text);
}

static void test_errors(void **state)
{
	struct plan *plan = (void *)1;
	FILE *null = fopen("/dev/null", "w");

	(void)state;
	assert_int_equal(plan_load("tests/data/plans/none.yaml", 0, null, &plan), -ENOENT);
	assert_null(plan);
	assert_int_equal(plan_load("tests/data/plans", 0, null, &plan), -EISDIR);
	assert_int_equal(plan_load("tests/data/plans/bad/sizes.yaml", 0, null, &plan), -EINVAL);
	assert_null(plan);
	plan_free(NULL);
	fclose(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_cells),  cmocka_unit_test(test_smoke),     cmocka_unit_test(test_order),
	    cmocka_unit_test(test_random), cmocka_unit_test(test_boots),     cmocka_unit_test(test_large),
	    cmocka_unit_test(test_errors), cmocka_unit_test(test_few_boots), cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
