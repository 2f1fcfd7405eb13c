/* SPDX-License-Identifier: GPL-2.0-or-later
 * aio samples as fio has them: the JSON of --output-format=json+ (fio 3, a job for each sample), and its logs
 * (write_bw_log and the like, a line a second).
 *
 * Our latency runs from the submission to the completion, so it is fio's lat_ns; clat_ns, which most tools
 * read, is given the same, and slat_ns, which we do not take apart, is none. */
#include "export.h"

#include "../cli.h"
#include "histogram.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Where fio's own last bucket ends; its fio_jsonplus_clat2csv never ends on what is longer. */
#define FIO_MAX_NS INT64_C(17112760320)

struct sample {
	int64_t ordinal, boot, sample;
	const char *label;
	json_t *body;
	const json_t *workload, *measurement, *aio;
};

/* What runs over the valid samples of aio. */
typedef int sample_visitor(const struct sample *sample, void *ctx);

static int visit(const struct report *report, sample_visitor *visitor, void *ctx)
{
	sqlite3_stmt *row;
	bool any = false;
	int r = store_ask(
	    report->store, &row,
	    "SELECT c.ordinal, r.boot, r.sample, c.label, r.body, c.body FROM attempts a JOIN "
	    "results r USING (run, cell_id, boot, sample, attempt) JOIN cells c USING (run, cell_id) "
	    "WHERE run = ? AND a.state = 'valid' AND r.role = 'measure' AND c.body ->> "
	    "'$.workload.type' = 'aio' ORDER BY c.ordinal, r.boot, r.sample",
	    "s", report->run);

	while (!r && (r = store_row(report->store, row)) == 1) {
		json_t *cell = json_loads(store_text(row, 5), 0, NULL);
		struct sample s = {.ordinal = sqlite3_column_int64(row, 0),
		                   .boot = sqlite3_column_int64(row, 1),
		                   .sample = sqlite3_column_int64(row, 2),
		                   .label = store_text(row, 3),
		                   .body = export_body(row, 4),
		                   .workload = json_object_get(cell, "workload")};

		s.measurement = json_object_get(s.body, "measurement");
		s.aio = json_object_get(s.measurement, "aio");
		r = cell && s.body ? visitor(&s, ctx) : -EBADMSG;
		any = true;
		json_decref(s.body);
		json_decref(cell);
		if (r)
			store_reset(row);
	}
	return !r && !any ? -ENODATA : r;
}

static int64_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* The middle of bucket INDEX in ns, as fio names its bins. */
static int64_t bin_ns(size_t index)
{
	size_t shift = index < (size_t)2 * HISTOGRAM_HALF ? 0 : index / HISTOGRAM_HALF - 1;
	int64_t low = (int64_t)(index - shift * HISTOGRAM_HALF) << shift;
	int64_t middle = low + (shift ? INT64_C(1) << (shift - 1) : 0);

	return middle < FIO_MAX_NS ? middle : FIO_MAX_NS;
}

static json_t *bins_json(const struct histogram *h, double mean, double *deviation)
{
	json_t *bins = json_object();
	double squares = 0;
	char name[24];

	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		if (!h->buckets[i])
			continue;
		double off = (double)bin_ns(i) - mean;

		squares += off * off * (double)h->buckets[i];
		snprintf(name, sizeof(name), "%" PRId64, bin_ns(i));
		/* the last bin takes all that is longer */
		json_object_set_new(bins, name,
		                    json_integer(json_integer_value(json_object_get(bins, name)) +
		                                 (json_int_t)h->buckets[i]));
	}
	*deviation = h->count > 1 ? sqrt(squares / (double)(h->count - 1)) : 0;
	return bins;
}

static const struct {
	const char *fio;
	uint32_t ppm;
} percentiles[] = {
    {"1.000000", 10000},   {"5.000000", 50000},   {"10.000000", 100000}, {"20.000000", 200000},
    {"30.000000", 300000}, {"40.000000", 400000}, {"50.000000", 500000}, {"60.000000", 600000},
    {"70.000000", 700000}, {"80.000000", 800000}, {"90.000000", 900000}, {"95.000000", 950000},
    {"99.000000", 990000}, {"99.500000", 995000}, {"99.900000", 999000}, {"99.950000", 999500},
    {"99.990000", 999900},
};

static json_t *latency_json(const json_t *op, struct histogram *h)
{
	double deviation = 0, mean = 0;
	json_t *percentile = json_object(), *bins;

	histogram_clear(h);
	if (!op || histogram_read(json_object_get(op, "histogram"), h) || !h->count) {
		json_decref(percentile);
		return json_pack("{si si sf sf si}", "min", 0, "max", 0, "mean", 0.0, "stddev", 0.0, "N", 0);
	}
	mean = (double)h->sum_ns / (double)h->count;
	bins = bins_json(h, mean, &deviation);
	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		json_object_set_new(percentile, percentiles[i].fio,
		                    json_integer((json_int_t)histogram_percentile_ns(h, percentiles[i].ppm)));
	return json_pack("{sI sI sf sf sI so so}", "min", (json_int_t)h->min_ns, "max", (json_int_t)h->max_ns,
	                 "mean", mean, "stddev", deviation, "N", (json_int_t)h->count, "percentile",
	                 percentile, "bins", bins);
}

/* OP: what ended in that direction; NULL: nothing. */
static json_t *direction_json(const struct sample *s, const json_t *op, struct histogram *h)
{
	int64_t ns = number(s->measurement, "ns"), bytes = number(op, "bytes"), ios = number(op, "ios");
	double seconds = (double)ns / 1e9;
	json_t *latency = latency_json(op, h);
	json_t *out =
	    json_pack("{sI sI sI sI sf sI sI si si so sO}", "io_bytes", (json_int_t)bytes, "io_kbytes",
	              (json_int_t)(bytes / 1024), "bw_bytes", (json_int_t)(op ? (double)bytes / seconds : 0),
	              "bw", (json_int_t)(op ? (double)bytes / seconds / 1024 : 0), "iops",
	              op ? (double)ios / seconds : 0.0, "runtime",
	              (json_int_t)(op ? (ns + 500000) / 1000000 : 0), "total_ios", (json_int_t)ios,
	              "short_ios", 0, "drop_ios", 0, "clat_ns", latency, "lat_ns", latency);

	if (out)
		json_object_set_new(out, "slat_ns",
		                    json_pack("{si si sf sf si}", "min", 0, "max", 0, "mean", 0.0, "stddev",
		                              0.0, "N", 0));
	return out;
}

static const char *rw_of(const json_t *workload)
{
	static const char *const names[2][3] = {{"read", "write", "rw"}, {"randread", "randwrite", "randrw"}};
	int64_t read = number(workload, "read_percent");

	return names[number(workload, "random_percent") > 0][read == 100 ? 0 : read ? 2 : 1];
}

/* fio has all options as strings. */
static json_t *options_json(const struct sample *s, const char *name)
{
	static const struct {
		const char *fio, *ours;
	} numbers[] = {{"bs", "bs_bytes"}, {"iodepth", "depth"}, {"numjobs", "jobs"}, {"rate_iops", "iops"}};
	const json_t *w = s->workload;
	json_t *options =
	    json_pack("{ss ss ss* ss ss}", "name", name, "rw", rw_of(w), "ioengine",
	              json_string_value(json_object_get(w, "engine")), "direct",
	              json_is_true(json_object_get(w, "direct")) ? "1" : "0", "description", s->label);
	char text[24];

	for (size_t i = 0; options && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (!number(w, numbers[i].ours))
			continue;
		snprintf(text, sizeof(text), "%" PRId64, number(w, numbers[i].ours));
		json_object_set_new(options, numbers[i].fio, json_string(text));
	}
	if (options && !strcmp(rw_of(w) + strlen(rw_of(w)) - 2, "rw")) {
		snprintf(text, sizeof(text), "%" PRId64, number(w, "read_percent"));
		json_object_set_new(options, "rwmixread", json_string(text));
	}
	return options;
}

struct fio {
	json_t *jobs;
	struct histogram *histogram;
};

static int add_job(const struct sample *s, void *ctx)
{
	struct fio *fio = ctx;
	struct histogram *h = fio->histogram;
	const char *key, *equivalent = json_string_value(json_object_get(s->measurement, "equivalent"));
	int64_t ms = (number(s->measurement, "ns") + 500000) / 1000000, failed = 0;
	json_t *count;
	char name[80];

	snprintf(name, sizeof(name), "cell%" PRId64 "-boot%" PRId64 "-sample%" PRId64, s->ordinal, s->boot,
	         s->sample);
	json_object_foreach (json_object_get(s->aio, "errors"), key, count)
		failed += json_integer_value(count);
	json_t *job =
	    json_pack("{ss si si sI sI so so so so sI ss*}", "jobname", name, "groupid", 0, "error", 0,
	              "elapsed", (json_int_t)((ms + 999) / 1000), "job_runtime", (json_int_t)ms,
	              "job options", options_json(s, name), "read",
	              direction_json(s, json_object_get(s->aio, "read"), h), "write",
	              direction_json(s, json_object_get(s->aio, "write"), h), "trim",
	              direction_json(s, NULL, h), "total_err", (json_int_t)failed, "command", equivalent);

	return json_array_append_new(fio->jobs, job) ? -ENOMEM : 0;
}

int export_fio(const struct report *report, FILE *out)
{
	struct fio fio = {.jobs = json_array(), .histogram = malloc(sizeof(struct histogram))};
	time_t begun = report->started_unix_ns / INT64_C(1000000000);
	json_t *root = NULL;
	char when[32] = "";
	int r = fio.jobs && fio.histogram ? visit(report, add_job, &fio) : -ENOMEM;

	if (!r) {
		struct tm tm;

		strftime(when, sizeof(when), "%a %b %e %H:%M:%S %Y", gmtime_r(&begun, &tm));
		root = json_pack("{ss sI sI ss s{ss} sO}", "fio version", "assay-" ASSAY_VERSION, "timestamp",
		                 (json_int_t)begun, "timestamp_ms",
		                 (json_int_t)(report->started_unix_ns / 1000000), "time", when,
		                 "global options", "run", report->run, "jobs", fio.jobs);
		r = root ? 0 : -ENOMEM;
	}
	if (!r && (json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) || fputc('\n', out) == EOF))
		r = -EIO;
	json_decref(root);
	json_decref(fio.jobs);
	free(fio.histogram);
	return r;
}

static const struct log_kind {
	const char *name, *member; /* of the measurement, or (aio) of its aio */
	bool aio;
	int64_t divisor; /* bytes to KiB */
} logs[] = {
    {"bw", "second_bytes", false, 1024},
    {"iops", "second_ios", true, 1},
    {"lat", "second_mean_ns", true, 1},
};

/* "milliseconds, value, direction, bytes of an I/O"; the last second is as long as it was. */
static int write_log(const struct sample *s, const struct log_kind *log, int direction, const char *folder)
{
	const json_t *values = json_object_get(log->aio ? s->aio : s->measurement, log->member), *value;
	int64_t ns = number(s->measurement, "ns"), second = INT64_C(1000000000);
	char name[80];
	size_t i;

	if (!json_array_size(values))
		return 0;
	snprintf(name, sizeof(name), "cell%" PRId64 "-boot%" PRId64 "-sample%" PRId64 "_%s.log", s->ordinal,
	         s->boot, s->sample, log->name);
	FILE *out = export_open(folder, name);
	if (!out)
		return -errno;
	json_array_foreach (values, i, value) {
		int64_t end = (int64_t)(i + 1) * second;
		int64_t length = i + 1 == json_array_size(values) && ns < end ? ns - end + second : second;
		double rate = (double)json_integer_value(value) / (double)log->divisor;

		if (length <= 0)
			break;
		if (strcmp(log->name, "lat"))
			rate = rate * (double)second / (double)length;
		fprintf(out, "%" PRId64 ", %.0f, %d, %" PRId64 "\n", (end - second + length) / 1000000, rate,
		        direction, number(s->workload, "bs_bytes"));
	}
	return export_close(out, 0);
}

static int add_logs(const struct sample *s, void *ctx)
{
	int64_t read = number(s->workload, "read_percent");
	int r = 0;

	if (read != 0 && read != 100) {
		fprintf(stderr,
		        "assay export: cell %" PRId64 " reads and writes at once, which its seconds do not "
		        "tell apart: it has no logs\n",
		        s->ordinal);
		return 0;
	}
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]) && !r; i++)
		r = write_log(s, &logs[i], read ? 0 : 1, ctx);
	return r;
}

int export_fio_logs(const struct report *report, const char *folder)
{
	char *where = strdup(folder);
	int r = where ? visit(report, add_logs, where) : -ENOMEM;

	free(where);
	return r;
}
