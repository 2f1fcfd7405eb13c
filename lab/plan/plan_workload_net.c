/* SPDX-License-Identifier: GPL-2.0-or-later
 * Workloads that go over the storage network: stream, rtt, failover. */
#include "plan_internal.h"
#include "units.h"

#include <string.h>

enum {
	DEFAULT_CONNECTIONS = 4,
	DEFAULT_MESSAGE_BYTES = 64,
	DEFAULT_COUNT = 10000,
	MESSAGE_MAX_BYTES = 1 << 20,
	SCALED_COUNT = 299, /* fewer do not bound a 99th percentile */
};

uint64_t plan_workload_duration(struct plan_build *b, size_t index, const json_t *workload, const char *key)
{
	const json_t *value = json_object_get(workload, key);
	char why[200];
	uint64_t ms = 0;

	if (!value)
		return 0;
	if (!json_is_string(value))
		plan_workload_complain(b, index, key, "a duration needs a unit, such as 10s");
	else if (units_duration(json_string_value(value), &ms, why, sizeof(why)))
		plan_workload_complain(b, index, key, "%s", why);
	else if (ms >= b->plan->measure_ms)
		plan_workload_complain(
		    b, index, key, "as long as the deadline for measuring, or longer (deadlines: measure)");
	return ms;
}

static json_int_t integer_of(const json_t *workload, const char *key, json_int_t missing)
{
	const json_t *value = json_object_get(workload, key);

	return value ? json_integer_value(value) : missing;
}

json_t *plan_read_stream(struct plan_build *b, size_t index, const json_t *stream)
{
	return json_pack("{s:s, s:I, s:I}", "type", "stream", "connections",
	                 integer_of(stream, "connections", DEFAULT_CONNECTIONS), "duration_ms",
	                 (json_int_t)plan_scaled_ms(&b->plan->scale,
	                                            plan_workload_duration(b, index, stream, "duration")));
}

json_t *plan_read_rtt(struct plan_build *b, size_t index, const json_t *rtt)
{
	uint64_t bytes = DEFAULT_MESSAGE_BYTES;

	if (plan_workload_size(b, index, rtt, "message", &bytes) && (bytes < 1 || bytes > MESSAGE_MAX_BYTES))
		plan_workload_complain(b, index, "message", "a message has 1 byte to 1MiB");
	return json_pack("{s:s, s:I, s:I}", "type", "rtt", "message_bytes", (json_int_t)bytes, "count",
	                 (json_int_t)plan_scaled_to(&b->plan->scale,
	                                            (uint64_t)integer_of(rtt, "count", DEFAULT_COUNT), 1,
	                                            SCALED_COUNT));
}

enum {
	DEFAULT_BS_BYTES = 65536,
	DEFAULT_BEFORE_MS = 5000,
	DEFAULT_AFTER_MS = 15000,
	AFTER_MAX_MS = 3599000,
	SCALED_AFTER_MS = 10000, /* what is watched takes its time */
	SECTOR_BYTES = 512
};

/* As plan_read_failover() has them. */
static json_t *role_change(struct plan_build *b, size_t index, const json_t *failover, uint64_t bs,
                           uint64_t size, uint64_t before_ms, uint64_t after_ms)
{
	if (json_object_get(failover, "pull"))
		plan_workload_complain(b, index, "pull", "it has a meaning with what: link");
	if (after_ms > AFTER_MAX_MS)
		plan_workload_complain(b, index, "after", "a change of roles is watched for an hour at most");
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "type", "failover", "what", "role", "bs_bytes",
	                 (json_int_t)bs, "size_bytes", (json_int_t)size, "before_ms", (json_int_t)before_ms,
	                 "after_ms", (json_int_t)after_ms);
}

json_t *plan_read_failover(struct plan_build *b, size_t index, const json_t *failover)
{
	const json_t *what = json_object_get(failover, "what");
	const json_t *pull = json_object_get(failover, "pull");
	uint64_t bs = DEFAULT_BS_BYTES, size = 0, before_ms = DEFAULT_BEFORE_MS, after_ms = DEFAULT_AFTER_MS;
	bool good = plan_workload_size(b, index, failover, "bs", &bs);

	good &= plan_workload_size(b, index, failover, "size", &size);
	if (json_object_get(failover, "before"))
		before_ms = plan_workload_duration(b, index, failover, "before");
	if (json_object_get(failover, "after"))
		after_ms = plan_workload_duration(b, index, failover, "after");
	if (good && (bs < SECTOR_BYTES || bs > 1 << 30 || bs % SECTOR_BYTES))
		plan_workload_complain(b, index, "bs", "direct writes are a multiple of %d bytes, up to 1GiB",
		                       SECTOR_BYTES);
	else if (good && (!size || size % bs))
		plan_workload_complain(b, index, "size",
		                       "the room to write in is a multiple of bs, %llu bytes",
		                       (unsigned long long)bs);
	if (before_ms < b->plan->measure_ms && after_ms < b->plan->measure_ms &&
	    before_ms + after_ms >= b->plan->measure_ms)
		plan_workload_complain(
		    b, index, "after",
		    "before and after together take longer than the deadline for measuring (deadlines: "
		    "measure)");
	if (good && bs && b->plan->scale.denominator) {
		size = plan_scaled(&b->plan->scale, size, bs);
		size = size ? size : bs;
		before_ms = plan_scaled_ms(&b->plan->scale, before_ms);
		after_ms = plan_scaled_to(&b->plan->scale, after_ms, 1000, SCALED_AFTER_MS);
	}
	if (what && !strcmp(json_string_value(what), "role"))
		return role_change(b, index, failover, bs, size, before_ms, after_ms);
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:s}", "type", "failover", "what", "link",
	                 "bs_bytes", (json_int_t)bs, "size_bytes", (json_int_t)size, "before_ms",
	                 (json_int_t)before_ms, "after_ms", (json_int_t)after_ms, "pull",
	                 pull ? json_string_value(pull) : "admin-down");
}

/* What S lacks of what WORKLOAD needs; NULL: nothing. */
static const char *lacks(const json_t *workload, const struct plan_parts *parts, const struct plan_state *s)
{
	const char *type = json_string_value(json_object_get(workload, "type"));
	const char *what = json_string_value(json_object_get(workload, "what"));
	const char *stack = plan_state_string(parts, s, FACTOR_STACK);
	bool link = !strcmp(type, "failover") && !strcmp(what, "link"), connected;

	if (!strcmp(type, "files"))
		return factor_stack_is_files(stack) ? NULL : "a file system on top of the stack";
	if ((!strcmp(type, "aio") || !strcmp(type, "precondition")) &&
	    !json_integer_value(json_object_get(workload, "span_bytes")) && factor_stack_is_files(stack))
		return "a span, the size of its file on a file system";
	if (!strcmp(type, "copy") || !strcmp(type, "aio") || !strcmp(type, "precondition"))
		return NULL;
	if (!s->levels[FACTOR_NIC_MTU])
		return "stack: drbd, and a drbd.link other than never-connected, since it goes over the "
		       "storage "
		       "network";
	if (!strcmp(type, "stream") || !strcmp(type, "rtt"))
		return NULL;
	connected = !strcmp(plan_state_string(parts, s, FACTOR_DRBD_LINK), "connected");
	if (link && (!strcmp(plan_state_string(parts, s, FACTOR_BOND_MODE), "none") || !connected))
		return "a bond.mode other than none, and drbd.link: connected, since it pulls a slave of the "
		       "bond";
	if (!connected)
		return "drbd.link: connected, since both nodes take part in it";
	if (!link && strncmp(stack, "drbd", 4) != 0)
		return "a stack with drbd on top, since it works on DRBD itself";
	if (!strcmp(type, "verify") &&
	    !strcmp(plan_state_string(parts, s, FACTOR_DRBD_VERIFY_ALG), "default"))
		return "a drbd.net.verify-alg, by which the nodes compare their data";
	return NULL;
}

void plan_check_workloads(struct plan_build *b)
{
	for (size_t w = 0; w < b->parts->workload_count; w++)
		for (size_t s = 0; s < b->parts->state_count; s++) {
			const json_t *workload = b->parts->workloads[w].workload;
			const char *what = lacks(workload, b->parts, &b->parts->states[s]);

			if (!what)
				continue;
			yaml_complain(&b->doc, "/workloads", true,
			              "the workload %s needs %s, in every cell of the plan",
			              json_string_value(json_object_get(workload, "type")), what);
			break;
		}
}

bool plan_label_net(const json_t *w, FILE *to)
{
	const char *type = json_string_value(json_object_get(w, "type"));
	char text[64];

	if (!strcmp(type, "copy"))
		return false;
	fprintf(to, " %s", type);
	if (!strcmp(type, "stream"))
		fprintf(to, " x%lld %.4gs", (long long)json_integer_value(json_object_get(w, "connections")),
		        (double)json_integer_value(json_object_get(w, "duration_ms")) / 1e3);
	if (!strcmp(type, "failover"))
		fprintf(to, " %s %s", json_string_value(json_object_get(w, "what")),
		        units_size_text((uint64_t)json_integer_value(json_object_get(w, "bs_bytes")), text,
		                        sizeof(text)));
	if (json_object_get(w, "pull"))
		fprintf(to, " %s", json_string_value(json_object_get(w, "pull")));
	if (!strcmp(type, "rtt"))
		fprintf(to, " %s x%lld",
		        units_size_text((uint64_t)json_integer_value(json_object_get(w, "message_bytes")),
		                        text, sizeof(text)),
		        (long long)json_integer_value(json_object_get(w, "count")));
	return true;
}
