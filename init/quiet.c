/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "quiet.h"

#include "affinity.h"
#include "console.h"
#include "evidence.h"
#include "file.h"
#include "inventory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKQUEUES "sys/devices/virtual/workqueue/cpumask"
#define WATCHDOGS  "proc/sys/kernel/watchdog_cpumask"
#define VMSTAT                                                                                               \
	"proc/sys/vm/stat_interval" /* how often a thread of each CPU sums up its counters of pages, s */
#define CPU_FOLDER "sys/devices/system/cpu"

#define VMSTAT_S "120"

enum { MASK_TEXT = CPU_SETSIZE / 4 + CPU_SETSIZE / 32, LIST_TEXT = 256 };

static bool asks(const json_t *state, enum factor_id id, const char *level)
{
	return !strcmp(factor_string(state, id), level);
}

const char *quiet_level(const json_t *state, enum factor_id factor)
{
	if (!asks(state, FACTOR_CPU_QUIET, "on"))
		return NULL;
	return factor == FACTOR_CPU_GOVERNOR ? "performance" : factor == FACTOR_CPU_MAX_CSTATE ? "1" : NULL;
}

int quiet_write(struct quiet *quiet, const char *path, const char *text)
{
	char before[MASK_TEXT];
	int r = read_file(path, before, sizeof(before));

	if (r >= 0)
		r = write_file(path, "%s\n", text);
	if (r)
		return r;
	return json_array_append_new(quiet->changed, json_pack("[s, s]", path, before)) ? -ENOMEM : 0;
}

/* The workload's CPUs that STATE names, to *CPUS. Whether it does. */
static bool named_workload(const json_t *state, cpu_set_t *cpus)
{
	const json_t *level = json_object_get(state, factors[FACTOR_CPU_WORKLOAD].name);
	unsigned long long mask = (unsigned long long)json_integer_value(level);

	CPU_ZERO(cpus);
	for (size_t cpu = 0; cpu < 63; cpu++)
		if (mask & 1ULL << cpu)
			CPU_SET(cpu, cpus);
	return json_is_integer(level);
}

/* By the node's topology: where it booted isolated, as the lab's boot script did; else around the workload.
 */
static int find_split(struct quiet *quiet, const char *root, const json_t *state)
{
	bool isolated = asks(state, FACTOR_BOOT_ISOLATE, "on");
	json_t *cores = inventory_cores(root);
	json_t *cpus = json_pack("{s:O}", "cores", cores);
	cpu_set_t workload;
	int r;

	quiet->has_workload = named_workload(state, &workload);
	r = cpus ? cpu_split_inventory(cpus, quiet->has_workload && !isolated ? &workload : NULL,
	                               &quiet->split)
	         : -ENOMEM;
	quiet->known = !r;
	quiet->one_cpu = quiet->known && quiet->split.alone && CPU_COUNT(&quiet->split.measuring) == 1 &&
	                 json_array_size(cores) == 1;
	json_decref(cpus);
	json_decref(cores);
	return r == -ENOMEM ? r : 0;
}

/* Text of SET as the file PATH takes it; a kernel without the file has nothing to keep off. */
static int write_set(struct quiet *quiet, const char *root, const char *file,
                     void (*format)(const cpu_set_t *set, char *buf, size_t size))
{
	char path[512], text[MASK_TEXT];
	int r;

	snprintf(path, sizeof(path), "%s/%s", root, file);
	format(&quiet->split.housekeeping, text, sizeof(text));
	r = quiet_write(quiet, path, text);
	return r == -ENOMEM ? r : 0;
}

/* A kernel without the file has nothing to slow down. */
static int slow_vmstat(struct quiet *quiet, const char *root)
{
	char path[512];
	int r;

	snprintf(path, sizeof(path), "%s/" VMSTAT, root);
	r = quiet_write(quiet, path, VMSTAT_S);
	return r == -ENOMEM ? r : 0;
}

int quiet_apply(struct quiet *quiet, const char *root, const char *management_nic, const json_t *state)
{
	int r;

	*quiet = (struct quiet){.changed = json_array(),
	                        .level = asks(state, FACTOR_CPU_QUIET, "off")  ? QUIET_OFF
	                                 : asks(state, FACTOR_CPU_QUIET, "on") ? QUIET_ON
	                                                                       : QUIET_DEFAULT};
	quiet->asked = quiet->level == QUIET_ON || asks(state, FACTOR_BOOT_ISOLATE, "on");
	if (!quiet->changed)
		return -ENOMEM;
	r = find_split(quiet, root, state);
	if (r || quiet->level == QUIET_OFF || !quiet->known || quiet->split.alone)
		return r;
	r = quiet_threads(quiet, root);
	if (!r)
		r = quiet_interrupts(quiet, root, management_nic);
	if (!r)
		r = write_set(quiet, root, WATCHDOGS, cpus_to_list);
	if (!r && quiet->level == QUIET_ON)
		r = write_set(quiet, root, WORKQUEUES, cpus_to_mask);
	if (!r && quiet->level == QUIET_ON)
		r = slow_vmstat(quiet, root);
	return r;
}

int quiet_place_workload(struct quiet *quiet, const json_t *state)
{
	int r;

	if (quiet->has_workload || quiet->split.alone || !quiet->known || quiet->placed ||
	    (quiet->level != QUIET_ON && !asks(state, FACTOR_BOOT_ISOLATE, "on")))
		return 0;
	r = affinity_get(0, &quiet->workload_before);
	if (!r)
		r = affinity_set(0, &quiet->split.measuring);
	quiet->placed = !r;
	return r;
}

/* Whether the file under ROOT says the set WANTED; what it says to TEXT. A file that is not there has nothing
 * to say against it. */
static bool says(const char *root, const char *file, int (*parse)(const char *text, cpu_set_t *set),
                 const cpu_set_t *wanted, char text[MASK_TEXT])
{
	cpu_set_t real;

	if (read_file_at(text, MASK_TEXT, "%s/%s", root, file) == -ENOENT)
		return true;
	return !parse(text, &real) && CPU_EQUAL(&real, wanted);
}

/* What of cpu.quiet is not in force, to BUF; "" if all of it is. */
static void quiet_fault(const struct quiet *quiet, const char *root, char *buf, size_t size)
{
	char text[MASK_TEXT];
	cpu_set_t real;

	*buf = '\0';
	if (!quiet->known)
		snprintf(buf, size, "the kernel does not tell its cores");
	if (*buf || quiet->split.alone)
		return;
	for (size_t i = 0; i < quiet->thread_count && !*buf; i++)
		if (!affinity_get(quiet->threads[i].pid, &real) &&
		    !CPU_EQUAL(&real, &quiet->split.housekeeping))
			snprintf(buf, size, "kernel thread %d is elsewhere again",
			         (int)quiet->threads[i].pid);
	if (!*buf && !says(root, WATCHDOGS, cpus_from_list, &quiet->split.housekeeping, text))
		snprintf(buf, size, "lockup watchdogs are on CPUs %.64s", text);
	if (!*buf && quiet->level == QUIET_ON &&
	    !says(root, WORKQUEUES, cpus_from_mask, &quiet->split.housekeeping, text))
		snprintf(buf, size, "unbound workqueues are on CPUs of mask %.64s", text);
	if (!*buf && quiet->level == QUIET_ON && read_file_at(text, sizeof(text), "%s/" VMSTAT, root) > 0 &&
	    strcmp(text, VMSTAT_S) != 0)
		snprintf(buf, size, "vm.stat_interval is %.32s", text);
	if (!*buf && quiet->placed && (affinity_get(0, &real) || !CPU_EQUAL(&real, &quiet->split.measuring)))
		snprintf(buf, size, "the workload is elsewhere");
}

/* What of boot.isolate is not in force. */
static void isolate_fault(const struct quiet *quiet, const char *root, char *buf, size_t size)
{
	static const char *const files[] = {CPU_FOLDER "/isolated", CPU_FOLDER "/nohz_full"};
	char text[LIST_TEXT], wanted[LIST_TEXT];
	cpu_set_t online, real;

	*buf = '\0';
	if (!quiet->known)
		snprintf(buf, size, "the kernel does not tell its cores");
	if (*buf || quiet->split.alone)
		return;
	CPU_OR(&online, &quiet->split.housekeeping, &quiet->split.measuring);
	cpus_to_list(&quiet->split.measuring, wanted, sizeof(wanted));
	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !*buf; i++) {
		/* nohz_full says "(null)" where there is none. */
		if (read_file_at(text, sizeof(text), "%s/%s", root, files[i]) < 0 ||
		    cpus_from_list(text, &real))
			CPU_ZERO(&real);
		CPU_AND(&real, &real, &online);
		if (!CPU_EQUAL(&real, &quiet->split.measuring))
			snprintf(buf, size, "%s is \"%.64s\", not \"%.64s\"", strrchr(files[i], '/') + 1,
			         text, wanted);
	}
}

static int set_level(json_t *in_force, const json_t *state, enum factor_id id, const char *fault)
{
	const char *name = factors[id].name, *level = json_string_value(json_object_get(state, name));

	if (!level)
		return 0;
	return json_object_set_new(in_force, name,
	                           *fault ? json_sprintf("%s, but %s", level, fault) : json_string(level));
}

int quiet_in_force(const struct quiet *quiet, const char *root, const struct knob_place *place,
                   const json_t *state, json_t *in_force)
{
	char fault[LIST_TEXT] = "";
	int r;

	if (quiet->level == QUIET_ON)
		quiet_fault(quiet, root, fault, sizeof(fault));
	if (!*fault)
		knob_unheld(place, state, fault, sizeof(fault));
	r = set_level(in_force, state, FACTOR_CPU_QUIET, fault);
	isolate_fault(quiet, root, fault, sizeof(fault));
	r |= set_level(in_force, state, FACTOR_BOOT_ISOLATE, fault);
	return r ? -ENOMEM : 0;
}

static void add_file(json_t *json, const char *name, const char *root, const char *file)
{
	char text[MASK_TEXT];

	if (read_file_at(text, sizeof(text), "%s/%s", root, file) >= 0)
		json_object_set_new(json, name, json_string(!strcmp(text, "(null)") ? "" : text));
}

/* Why less could be done than the state asks for, to BUF; "" where all was. */
static void find_note(const struct quiet *quiet, char *buf, size_t size)
{
	*buf = '\0';
	if (quiet->one_cpu && quiet->level != QUIET_OFF)
		snprintf(buf, size, "this node has one CPU: nothing can be kept off what measures");
	else if (quiet->asked && quiet->known && quiet->split.alone)
		snprintf(buf, size,
		         "cpu.workload leaves no CPU to keep house: nothing is kept off what measures");
	else if (quiet->asked && quiet->split.shares_core)
		snprintf(buf, size, "what keeps house shares a core with what measures, and takes its time");
}

int quiet_evidence(const struct quiet *quiet, const char *root, json_t *evidence)
{
	static const char *const levels[] = {
	    [QUIET_OFF] = "off", [QUIET_DEFAULT] = "default", [QUIET_ON] = "on"};
	json_t *json = json_pack("{s:s, s:I, s:I}", "level", levels[quiet->level], "threads_moved",
	                         (json_int_t)quiet->thread_count, "interrupts_moved",
	                         (json_int_t)quiet->interrupt_count);
	char text[LIST_TEXT];

	if (quiet->known) {
		cpus_to_list(&quiet->split.housekeeping, text, sizeof(text));
		json_object_set_new(json, "housekeeping", json_string(quiet->split.alone ? "" : text));
		cpus_to_list(&quiet->split.measuring, text, sizeof(text));
		json_object_set_new(json, "measuring", json_string(text));
		json_object_set_new(json, "shares_core", json_boolean(quiet->split.shares_core));
	}
	add_file(json, "isolated", root, CPU_FOLDER "/isolated");
	add_file(json, "nohz_full", root, CPU_FOLDER "/nohz_full");
	add_file(json, "workqueue_mask", root, WORKQUEUES);
	add_file(json, "watchdogs", root, WATCHDOGS);
	if (json_object_set_new(evidence, "quiet", json))
		return -ENOMEM;
	find_note(quiet, text, sizeof(text));
	return *text ? evidence_note(evidence, text) : 0;
}

static void restore_threads(struct quiet *quiet)
{
	for (size_t i = quiet->thread_count; i--;) {
		const struct quiet_thread *t = &quiet->threads[i];
		cpu_set_t now;
		int r;

		/* It may have ended, and its number may be another's. */
		if (affinity_get(t->pid, &now) || !CPU_EQUAL(&now, &quiet->split.housekeeping))
			continue;
		r = affinity_set(t->pid, &t->before);
		if (r && r != -ESRCH)
			say("kernel thread %d cannot be put back: %s", (int)t->pid, strerror(-r));
	}
}

void quiet_restore(struct quiet *quiet)
{
	int r = quiet->placed ? affinity_set(0, &quiet->workload_before) : 0;

	if (r)
		say("the workload's CPUs cannot be put back: %s", strerror(-r));
	for (size_t i = json_array_size(quiet->changed); i--;) {
		const json_t *change = json_array_get(quiet->changed, i);
		const char *path = json_string_value(json_array_get(change, 0));
		const char *before = json_string_value(json_array_get(change, 1));

		r = write_file(path, "%s\n", before);
		/* An interrupt may be gone with its device's driver. */
		if (r && r != -ENOENT)
			say("%s cannot be put back to %s: %s", path, before, strerror(-r));
	}
	restore_threads(quiet);
	json_decref(quiet->changed);
	free(quiet->threads);
	*quiet = (struct quiet){0};
}
