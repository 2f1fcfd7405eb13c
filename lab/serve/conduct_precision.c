/* SPDX-License-Identifier: GPL-2.0-or-later
 * A cell that is measured as precisely as its run asks is left. */
#include "conduct_internal.h"
#include "log.h"

#include "../stats/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where the figure is by which a workload is judged, the same as in reports; others: MB/s. */
static const char *figure_path(const struct run_cell *cell)
{
	static const struct {
		const char *type, *path;
	} paths[] = {{"aio", "$.measurement.aio.iops"},
	             {"rtt", "$.measurement.rtt.median_ns"},
	             {"failover", "$.measurement.failover.stall_ns"}};
	const char *type = text(json_object_get(cell->body, "workload"), "type");

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!strcmp(paths[i].type, type))
			return paths[i].path;
	return "$.none";
}

/* The cell's valid samples. How many, or -errno. */
static long load(struct group *g, const struct run_cell *cell, struct stats_sample *samples, size_t room)
{
	size_t count = 0;
	sqlite3_stmt *row;
	int r = store_ask(
	    g->c->store, &row,
	    "SELECT r.boot, coalesce(CAST(r.body AS TEXT) ->> ?1, r.measured_bytes * 1e3 / "
	    "r.measured_ns) FROM attempts a JOIN results r USING (run, cell_id, boot, sample, attempt) "
	    "WHERE run = ?2 AND cell_id = ?3 AND a.state = 'valid' AND r.role = 'measure' AND "
	    "r.measured_ns > 0",
	    "sss", figure_path(cell), g->run->id, cell->id);

	if (r)
		return r;
	while ((r = store_row(g->c->store, row)) == 1 && count < room)
		samples[count++] = (struct stats_sample){sqlite3_column_double(row, 1),
		                                         (uint32_t)sqlite3_column_int64(row, 0), 0};
	if (r == 1)
		store_reset(row);
	return r < 0 ? r : (long)count;
}

static bool visit_done(const struct run *run, const struct run_visit *visit)
{
	for (unsigned int s = 0; s < run->samples; s++)
		if (!visit->samples[s].done)
			return false;
	return true;
}

static size_t samples_of(const struct run *run, const struct run_cell *cell)
{
	size_t visits = 0;

	for (size_t i = 0; i < run->visit_count; i++)
		visits += &run->cells[run->visits[i].cell] == cell;
	return visits * run->samples;
}

int precision_look(struct group *g, const struct run_visit *visit)
{
	struct run_cell *cell = &g->run->cells[visit->cell];
	size_t room = samples_of(g->run, cell);
	struct stats_sample *samples;
	struct stats_figure figure;
	int r = 0;

	if (!(g->run->precision > 0) || cell->enough || !visit_done(g->run, visit))
		return 0;
	samples = calloc(room + 1, sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	long count = load(g, cell, samples, room);
	if (count > 0)
		r = stats_figure(samples, (size_t)count, STATS_CONFIDENCE_TO_STOP, &figure);
	free(samples);
	if (count <= 0 || r || !stats_precise(&figure, g->run->precision))
		return count < 0 ? (int)count : r;
	r = store_do(g->c->store, "UPDATE cells SET enough = ? WHERE run = ? AND cell_id = ?", "iss",
	             (int64_t)visit->boot, g->run->id, cell->id);
	if (r)
		return r;
	cell->enough = visit->boot;
	log_event(NULL, "cell", "%s is within %.3g %% after %zu boots: left", cell->label,
	          100 * g->run->precision, figure.boots);
	return 0;
}
