/* SPDX-License-Identifier: GPL-2.0-or-later
 * How to have each state and workload by hand: drbd.conf, sysctl, ethtool, dd or fio. */
#include "html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_MAX = 300 };

/* What does to a NIC what a factor does; %s: the NIC, then the level. */
static const struct {
	const char *factor, *command;
} nic_commands[] = {
    {"nic.mtu", "ip link set dev %s mtu %s"},
    {"nic.pause-autoneg", "ethtool -A %s autoneg %s"},
    {"nic.pause-rx", "ethtool -A %s rx %s"},
    {"nic.pause-tx", "ethtool -A %s tx %s"},
    {"nic.channels", "ethtool -L %s combined %s"},
    {"nic.ring-rx", "ethtool -G %s rx %s"},
    {"nic.ring-tx", "ethtool -G %s tx %s"},
    {"nic.rx-usecs", "ethtool -C %s rx-usecs %s"},
    {"nic.tx-usecs", "ethtool -C %s tx-usecs %s"},
    {"nic.adaptive-rx", "ethtool -C %s adaptive-rx %s"},
    {"nic.adaptive-tx", "ethtool -C %s adaptive-tx %s"},
    {"nic.sg", "ethtool -K %s sg %s"},
    {"nic.rx-checksum", "ethtool -K %s rx %s"},
    {"nic.tx-checksum", "ethtool -K %s tx %s"},
    {"nic.tso", "ethtool -K %s tso %s"},
    {"nic.gso", "ethtool -K %s gso %s"},
    {"nic.gro", "ethtool -K %s gro %s"},
    {"nic.lro", "ethtool -K %s lro %s"},
    {"nic.ntuple", "ethtool -K %s ntuple %s"},
};

static const char *level_text(const json_t *level, char *text, size_t size)
{
	if (json_is_string(level))
		return json_string_value(level);
	snprintf(text, size, "%" JSON_INTEGER_FORMAT, json_integer_value(level));
	return text;
}

static void nic_lines(const struct page *p, const json_t *state, const json_t *nics)
{
	const json_t *nic;
	char text[64];
	size_t n;

	json_array_foreach (nics, n, nic) {
		const char *name = json_string_value(json_object_get(nic, "name"));

		for (size_t i = 0; name && i < sizeof(nic_commands) / sizeof(nic_commands[0]); i++) {
			const json_t *level = json_object_get(state, nic_commands[i].factor);
			const char *rest = strstr(nic_commands[i].command, " %s");

			if (!level)
				continue;
			/* command, NIC, what is between, level */
			html_printf(p->out, "%.*s %s%.*s %s\n", (int)(rest - nic_commands[i].command),
			            nic_commands[i].command, name, (int)strlen(rest) - 6, rest + 3,
			            level_text(level, text, sizeof(text)));
		}
	}
}

/* Every other factor of the state, by name: what the node read back. */
static void other_lines(const struct page *p, const json_t *state)
{
	const char *key;
	const json_t *level;
	char text[64];

	json_object_foreach ((json_t *)state, key, level) {
		if (!strncmp(key, "sysctl.", 7) && strcmp(key, "sysctl.set"))
			html_printf(p->out, "sysctl -w %s=\"%s\"\n", key + 7,
			            level_text(level, text, sizeof(text)));
		else if (strncmp(key, "drbd.", 5) && strncmp(key, "nic.", 4))
			html_printf(p->out, "# %s: %s\n", key, level_text(level, text, sizeof(text)));
	}
}

static void lines(const struct page *p, const json_t *evidence)
{
	const json_t *item, *state = json_object_get(evidence, "in_force");
	const char *conf = json_string_value(json_object_get(evidence, "drbd_conf"));
	size_t i;

	fputs("<pre>", p->out);
	other_lines(p, state);
	nic_lines(p, state, json_object_get(evidence, "nics"));
	json_array_foreach (json_object_get(evidence, "drbd_commands"), i, item)
		html_printf(p->out, "%s\n", json_string_value(item) ? json_string_value(item) : "");
	fputs("</pre>\n", p->out);
	if (conf) {
		fputs("<p>drbd.conf</p><pre>", p->out);
		html_text(p->out, conf);
		fputs("</pre>\n", p->out);
	}
}

/* The first valid sample of a cell says it. STATE: that of the cell before, which is not said twice. */
static void print_cell(const struct page *p, const struct report_cell *cell, char state[65])
{
	sqlite3_stmt *row;

	if (store_ask(p->report->store, &row,
	              "SELECT CAST(r.body AS TEXT) -> '$.evidence', CAST(r.body AS TEXT) ->> "
	              "'$.measurement.equivalent', "
	              "c.state_id, r.node FROM attempts a JOIN results r USING (run, cell_id, boot, sample, "
	              "attempt) JOIN cells c "
	              "USING (run, cell_id) WHERE run = ? AND cell_id = ? AND a.state = 'valid' AND r.role = "
	              "'measure' LIMIT 1",
	              "ss", p->report->run, cell->id) ||
	    store_row(p->report->store, row) != 1)
		return;
	json_t *evidence = json_loads(store_text(row, 0), 0, NULL);

	fputs("<details><summary>", p->out);
	html_printf(p->out, "%" PRId64 " · %s", cell->ordinal, cell->label);
	fputs("</summary><p>The workload:</p><pre>", p->out);
	html_text(p->out, store_text(row, 1));
	fputs("</pre>", p->out);
	if (!strcmp(state, store_text(row, 2))) {
		fputs("<p>On the same state as the cell before.</p>", p->out);
	} else {
		html_printf(p->out, "The state, as node %s had it:", store_text(row, 3));
		lines(p, evidence);
	}
	snprintf(state, 65, "%s", store_text(row, 2));
	fputs("</details>\n", p->out);
	store_reset(row);
	json_decref(evidence);
}

void html_reproduce(const struct page *p)
{
	char state[65] = "";

	for (size_t c = 0; c < p->report->cell_count && c < CELLS_MAX; c++)
		if (p->report->cells[c].sample_count)
			print_cell(p, &p->report->cells[c], state);
	if (p->report->cell_count > CELLS_MAX)
		fprintf(p->out,
		        "<p class=\"warn\">%zu further cells are left out, to keep the page small.</p>\n",
		        p->report->cell_count - CELLS_MAX);
}
