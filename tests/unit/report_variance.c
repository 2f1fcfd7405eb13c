/* SPDX-License-Identifier: GPL-2.0-or-later
 * What a report says of a plan that crosses modes of the bond with what the bond went through, on figures
 * that can be worked out by hand; and of modes that no node could have. */
#include "report_printed.h"

#include "../../lab/report/ordinals.h"

static const char plan[] = "schema_version: 1\nquestion: q\nnodes: 2\nbase: {stack: drbd}\n"
                           "cross:\n  bond.mode: [active-backup, balance-rr, balance-tlb]\n"
                           "zip:\n  - {bond.down-up-cycles: 0}\n  - {bond.down-up-cycles: 5}\n"
                           "workloads:\n  - copy: {bs: 1MiB, size: 8MiB}\n"
                           "repeat: {boots: 2, samples: 2}\norder: as-written\n";

static enum sim_quirk no_tlb(struct sim *sim, struct sim_node *n)
{
	const json_t *state = json_object_get(json_object_get(n->work, "cell"), "state");

	(void)sim;
	return strcmp(sim_text(state, "bond.mode"), "balance-tlb") ? SIM_FINE : SIM_FAILS_CELL;
}

static void has(const char *text, const char *wanted)
{
	if (!strstr(text, wanted)) {
		fputs(text, stderr);
		fail_msg("lacks \"%s\"", wanted);
	}
}

/* Cells of 100, 80, 200 and 200 MB/s; in each boot one sample is 1 MB/s faster, one slower. So of two samples
 * the variance is 2, boots are all the same, and that between the cells' means is 4100, of which the mode
 * explains 12100/12300 and the history 100/12300. Within active-backup it is 200, all of it the history's; in
 * balance-rr there is none. */
static void test_history(void **state)
{
	struct sim sim;
	char *text;

	(void)state;
	sim_start(&sim, plan);
	sim.quirk = no_tlb;
	sim.nodes[0].place = sim.nodes[1].place = SIM_BOOT;
	sim_go(&sim, 20000, "failed");
	assert_int_equal(
	    store_do(
	        sim.store,
	        "UPDATE results SET measured_ns = 1000000000, measured_bytes = 1000000 * (sample * 2 - 3 + "
	        "(SELECT CASE ordinal WHEN 1 THEN 100 WHEN 2 THEN 80 ELSE 200 END FROM cells c WHERE c.run = "
	        "results.run AND c.cell_id = results.cell_id)) WHERE role = 'measure' AND verdict = 'valid'",
	        ""),
	    0);
	text = printed(&sim);
	has(text,
	    "(4 cells of 2 boots of 2 samples; 2 cells that are not complete are left out)\n"
	    "    cell    100.0 %\n"
	    "       98.3 %  goes with bond.mode\n"
	    "        0.8 %  goes with the bond's history\n"
	    "        0.8 %  goes with their interplay\n"
	    "    boot      0.0 %  standard deviation 0 MB/s; not shown that boots differ (F test, p = 1)\n"
	    "    rest      0.0 %  sample by sample within a boot, standard deviation 1.41 MB/s\n"
	    "  within active-backup alone (2 cells)\n"
	    "    cell     99.0 %\n"
	    "       99.0 %  goes with the bond's history\n"
	    "    boot      0.0 %  ");
	has(text, "  within balance-rr alone (2 cells)\n"
	          "    cell      0.0 %\n"
	          "        0.0 %  goes with the bond's history\n");
	/* Once, not with each attempt and each cell. */
	has(text, "\ncells 5, 6 failed, by one node or another: node n1, step sim, thing: trouble\n");
	assert_null(strstr(text, "Attempts that do not count"));
	free(text);
	sim_end(&sim);
}

static void ordinals_are(const char *list, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ordinals_print(list, out);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void test_ordinals(void **state)
{
	(void)state;
	ordinals_are("", "");
	ordinals_are("7", "7");
	ordinals_are("1, 2", "1, 2");
	ordinals_are("1, 2, 3, 5, 8, 9, 10", "1-3, 5, 8-10");
	ordinals_are("4, none", "4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_history), cmocka_unit_test(test_ordinals)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
