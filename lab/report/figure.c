/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct figure figures[FIGURES] = {
    {FIGURE_MB_PER_S, "mb_per_s", "MB/s", "throughput, 10^6 bytes a second", false},
    {FIGURE_IOPS, "iops", "IOPS", "I/Os a second", false},
    {FIGURE_P50_US, "p50_us", "us", "latency that half of the I/Os keep to", true},
    {FIGURE_P99_US, "p99_us", "us", "latency that 99 % of the I/Os keep to", true},
    {FIGURE_P99_9_US, "p99_9_us", "us", "latency that 99.9 % of the I/Os keep to", true},
    {FIGURE_MAX_US, "max_us", "us", "the longest latency", true},
    {FIGURE_RTT_US, "rtt_us", "us", "median round trip of a sample", true},
    {FIGURE_STALL_MS, "stall_ms", "ms", "how long writes stalled at a failover or a change of roles", true},
    {FIGURE_READ_S, "read_s", "s", "how long reading a tree of files took", true},
};

static const struct {
	const char *type;
	enum figure_id id;
} by_workload[] = {
    {"aio", FIGURE_IOPS},
    {"rtt", FIGURE_RTT_US},
    {"failover", FIGURE_STALL_MS},
};

const struct figure *figure_find(const char *name)
{
	for (size_t i = 0; i < FIGURES; i++)
		if (!strcmp(figures[i].name, name))
			return &figures[i];
	return NULL;
}

void figure_list(FILE *out)
{
	for (size_t i = 0; i < FIGURES; i++)
		fprintf(out, "%s%s", i ? ", " : "", figures[i].name);
	fputc('\n', out);
}

const struct figure *figure_of_workload(const char *type)
{
	for (size_t i = 0; type && i < sizeof(by_workload) / sizeof(by_workload[0]); i++)
		if (!strcmp(by_workload[i].type, type))
			return &figures[by_workload[i].id];
	return &figures[FIGURE_MB_PER_S];
}

const char *figure_text(double value, char *text, size_t size)
{
	int digits = 3;

	for (double v = fabs(value); v >= 9.9995 && digits > 0; v /= 10)
		digits--;
	for (double v = fabs(value); v > 0 && v < 0.99995 && digits < 9; v *= 10)
		digits++;
	snprintf(text, size, "%.*f", digits, value);
	return text;
}

struct stats_figure estimate_of_boot(const struct report_cell *cell, enum figure_id figure, int64_t boot)
{
	struct stats_sample *samples = calloc(cell->sample_count + 1, sizeof(*samples));
	struct stats_figure f = {0};
	size_t n = 0;

	for (size_t k = 0; samples && k < cell->sample_count; k++) {
		const struct report_sample *s = &cell->samples[k];

		if (!isnan(s->figure[figure]) && (!boot || s->boot == boot))
			samples[n++] = (struct stats_sample){s->figure[figure], (uint32_t)s->boot, s->node};
	}
	if (n && stats_figure(samples, n, STATS_CONFIDENCE, &f))
		f = (struct stats_figure){0};
	free(samples);
	return f;
}

struct stats_figure estimate_of_cell(const struct report_cell *cell, enum figure_id figure)
{
	return estimate_of_boot(cell, figure, 0);
}
