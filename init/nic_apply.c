/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic_apply.h"

#include "console.h"
#include "file.h"
#include "kernel_log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* "nic.ring-rx=8192 (it has 512), nic.ring-tx=…" of those knobs of FAMILY that are set. */
static void describe(enum nic_family family, const bool set[NIC_KNOBS], const long long value[NIC_KNOBS],
                     const long long found[NIC_KNOBS], char *buf, size_t size)
{
	size_t n = 0;

	*buf = '\0';
	for (size_t k = 0; k < NIC_KNOBS && n < size; k++) {
		const struct factor *f = &factors[nic_knobs[k].factor];

		if (nic_knobs[k].family != family || !set[k])
			continue;
		n += (size_t)snprintf(buf + n, size - n, "%s%s=", n ? ", " : "", f->name);
		if (n >= size)
			return;
		if (f->levels)
			n += (size_t)snprintf(buf + n, size - n, "%s", value[k] ? "on" : "off");
		else
			n += (size_t)snprintf(buf + n, size - n, "%lld", value[k]);
		if (n < size && found[k] != NIC_UNKNOWN && !f->levels)
			n += (size_t)snprintf(buf + n, size - n, " (it has %lld)", found[k]);
	}
}

static int refused(struct failure *why, int r, const char *nic, const char *what, const char *words)
{
	return fail(why, r, failure_refusal(r), "nic", nic, "Plan levels that this driver takes.",
	            "Storage NIC %s refuses %s%s%s", nic, what, *words ? ": " : "", words);
}

/* One family on one NIC; only what differs. */
static int apply_family(struct nic_change *nic, enum nic_family family, const bool asked[NIC_KNOBS],
                        const long long value[NIC_KNOBS], struct failure *why)
{
	char words[128], what[256];
	bool any = false;
	int r, log;

	for (size_t k = 0; k < NIC_KNOBS; k++)
		if (nic_knobs[k].family == family && asked[k] && value[k] != nic->found[k])
			any = nic->changed[k] = true;
	if (!any)
		return 0;
	log = kernel_log_mark();
	r = nic_set(nic->name, family, asked, value, words, sizeof(words));
	if (r) {
		describe(family, asked, value, nic->found, what, sizeof(what));
		refused(why, r, nic->name, what, words);
	}
	kernel_log_since(log, r ? why->log : NULL, sizeof(why->log));
	return r;
}

static int wait_carrier(const char *sys, const char *nic, long long deadline_ns, struct failure *why)
{
	char path[320];

	snprintf(path, sizeof(path), "%s/class/net/%s/carrier", sys, nic);
	for (;;) {
		long long carrier = 0;

		read_integer(path, &carrier);
		if (carrier == 1)
			return 0;
		if (now_ns() >= deadline_ns)
			return fail(
			    why, -ETIMEDOUT, FAILURE_SAMPLE, "nic", nic,
			    "Check the cable and the peer's NIC; the node's kernel log says what the "
			    "driver saw.",
			    "Storage NIC %s did not get its link back after its settings were changed", nic);
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	}
}

int nic_apply(struct nic_changes *changes, const struct net_nics *nics, size_t used, const json_t *state,
              const char *sys, long long deadline_ns, struct failure *why)
{
	bool asked[NIC_KNOBS] = {false}, any = false;
	long long value[NIC_KNOBS];
	int r = 0;

	for (size_t k = 0; k < NIC_KNOBS; k++) {
		const json_t *level = json_object_get(state, factors[nic_knobs[k].factor].name);

		asked[k] = level != NULL;
		value[k] = level ? nic_level_number(level) : NIC_UNKNOWN;
		any |= asked[k];
	}
	for (size_t i = 0; i < used && any && !r; i++) {
		struct nic_change *nic = &changes->nic[changes->count++];

		*nic = (struct nic_change){0};
		memcpy(nic->name, nics->name[i], sizeof(nic->name));
		nic_read(nic->name, nic->found);
		for (enum nic_family family = 0; family < NIC_FAMILIES && !r; family++)
			r = apply_family(nic, family, asked, value, why);
	}
	for (size_t i = 0; i < used && any && !r; i++)
		r = wait_carrier(sys, nics->name[i], deadline_ns, why);
	return r;
}

/* The value of knob K on all NICs: the first that is not as ASKED (NIC_UNKNOWN: nothing is), if there is one.
 * False: they differ, and nothing says which of them matters. */
static bool common_value(long long all[][NIC_KNOBS], size_t used, size_t k, long long asked, long long *value)
{
	bool same = true;

	*value = all[0][k];
	for (size_t i = 1; i < used; i++) {
		same &= all[i][k] == all[0][k];
		if (*value == asked)
			*value = all[i][k];
	}
	return same || asked != NIC_UNKNOWN;
}

int nic_in_force(const struct net_nics *nics, size_t used, const json_t *state, json_t *in_force)
{
	long long all[NET_MAX_NICS][NIC_KNOBS], value;

	if (!used)
		return 0;
	for (size_t i = 0; i < used; i++)
		nic_read(nics->name[i], all[i]);
	for (size_t k = 0; k < NIC_KNOBS; k++) {
		const char *name = factors[nic_knobs[k].factor].name;
		const json_t *level = json_object_get(state, name);

		if (!common_value(all, used, k, level ? nic_level_number(level) : NIC_UNKNOWN, &value) ||
		    value == NIC_UNKNOWN)
			continue;
		if (json_object_set_new(in_force, name, nic_level(&nic_knobs[k], value)))
			return -ENOMEM;
	}
	return 0;
}

json_t *nic_settings(const char *nic)
{
	json_t *settings = json_object();
	long long value[NIC_KNOBS];

	nic_read(nic, value);
	for (size_t k = 0; k < NIC_KNOBS; k++)
		if (value[k] != NIC_UNKNOWN)
			json_object_set_new(settings, factors[nic_knobs[k].factor].name,
			                    nic_level(&nic_knobs[k], value[k]));
	return settings;
}

static void restore_family(const struct nic_change *nic, enum nic_family family)
{
	bool set[NIC_KNOBS] = {false}, any = false;
	long long now[NIC_KNOBS];
	char words[128];
	int r;

	nic_read(nic->name, now);
	for (size_t k = 0; k < NIC_KNOBS; k++) {
		const bool known = nic->found[k] != NIC_UNKNOWN;

		if (nic_knobs[k].family != family)
			continue;
		/* Pause is one setting of three parts, each of which the driver may have derived from
		 * another. */
		set[k] = known && (family == NIC_PAUSE || (nic->changed[k] && now[k] != nic->found[k]));
		any |= family == NIC_PAUSE ? nic->changed[k] : set[k];
	}
	if (!any)
		return;
	r = nic_set(nic->name, family, set, nic->found, words, sizeof(words));
	if (r)
		say("storage NIC %s: its settings cannot be put back: %s", nic->name,
		    *words ? words : strerror(-r));
}

/* Pause is read from what the link negotiated, and the link is being lost just now. */
static void check_restored(const struct nic_change *nic)
{
	long long now[NIC_KNOBS];

	nic_read(nic->name, now);
	for (size_t k = 0; k < NIC_KNOBS; k++)
		if (nic->changed[k] && nic_knobs[k].family != NIC_PAUSE && now[k] != nic->found[k])
			say("storage NIC %s: %s was %lld and is %lld after it was put back", nic->name,
			    factors[nic_knobs[k].factor].name, nic->found[k], now[k]);
}

void nic_restore(struct nic_changes *changes)
{
	for (size_t i = 0; i < changes->count; i++) {
		for (enum nic_family family = 0; family < NIC_FAMILIES; family++)
			restore_family(&changes->nic[i], family);
		check_restored(&changes->nic[i]);
	}
	changes->count = 0;
}
