/* SPDX-License-Identifier: GPL-2.0-or-later
 * Levels as the lines that an administrator installs. */
#include "tune.h"

#include "factor.h"

#include <inttypes.h>
#include <string.h>

/* How a factor is set by hand: NIC is each storage NIC, DISK the disk, %s the level. Those of DRBD are in its
 * drbd.conf. */
static const struct by_hand {
	enum factor_id id;
	const char *command;
} by_hand[] = {
    {FACTOR_NIC_MTU, "ip link set NIC mtu %s"},
    {FACTOR_NIC_PAUSE_AUTONEG, "ethtool -A NIC autoneg %s"},
    {FACTOR_NIC_PAUSE_RX, "ethtool -A NIC rx %s"},
    {FACTOR_NIC_PAUSE_TX, "ethtool -A NIC tx %s"},
    {FACTOR_NIC_CHANNELS, "ethtool -L NIC combined %s"},
    {FACTOR_NIC_RING_RX, "ethtool -G NIC rx %s"},
    {FACTOR_NIC_RING_TX, "ethtool -G NIC tx %s"},
    {FACTOR_NIC_RX_USECS, "ethtool -C NIC rx-usecs %s"},
    {FACTOR_NIC_TX_USECS, "ethtool -C NIC tx-usecs %s"},
    {FACTOR_NIC_ADAPTIVE_RX, "ethtool -C NIC adaptive-rx %s"},
    {FACTOR_NIC_ADAPTIVE_TX, "ethtool -C NIC adaptive-tx %s"},
    {FACTOR_NIC_SG, "ethtool -K NIC sg %s"},
    {FACTOR_NIC_RX_CHECKSUM, "ethtool -K NIC rx %s"},
    {FACTOR_NIC_TX_CHECKSUM, "ethtool -K NIC tx %s"},
    {FACTOR_NIC_TSO, "ethtool -K NIC tso %s"},
    {FACTOR_NIC_GSO, "ethtool -K NIC gso %s"},
    {FACTOR_NIC_GRO, "ethtool -K NIC gro %s"},
    {FACTOR_NIC_LRO, "ethtool -K NIC lro %s"},
    {FACTOR_NIC_NTUPLE, "ethtool -K NIC ntuple %s"},
    {FACTOR_BLOCK_DISK_SCHEDULER, "echo %s > /sys/block/DISK/queue/scheduler"},
    {FACTOR_BLOCK_DISK_NR_REQUESTS, "echo %s > /sys/block/DISK/queue/nr_requests"},
    {FACTOR_BLOCK_DISK_READ_AHEAD, "blockdev --setra %s /dev/DISK"},
    {FACTOR_BLOCK_DRBD_READ_AHEAD, "blockdev --setra %s /dev/drbd0"},
    {FACTOR_CPU_GOVERNOR, "cpupower frequency-set -g %s"},
    {FACTOR_CPU_SMT, "echo %s > /sys/devices/system/cpu/smt/control"},
    {FACTOR_BOOT_CMDLINE, "# kernel arguments: %s"},
    {FACTOR_BOOT_ISOLATE, "# kernel arguments that isolate all CPUs but one core, %s: nohz_full= rcu_nocbs= "
                          "isolcpus=managed_irq,domain, irqaffinity="},
};

/* Writes COMMAND with each WORD in it replaced. */
static void print_command(const char *command, const char *word, const char *instead, const char *level,
                          FILE *out)
{
	for (const char *p = command; *p;) {
		if (*word && !strncmp(p, word, strlen(word))) {
			fputs(instead, out);
			p += strlen(word);
		} else if (!strncmp(p, "%s", 2)) {
			fputs(level, out);
			p += 2;
		} else {
			fputc(*p++, out);
		}
	}
	fputc('\n', out);
}

static const char *level_text(const json_t *level, char *text, size_t size)
{
	if (json_is_string(level))
		return json_string_value(level);
	snprintf(text, size, "%" JSON_INTEGER_FORMAT, json_integer_value(level));
	return text;
}

static const struct by_hand *find(const char *name)
{
	for (size_t i = 0; i < sizeof(by_hand) / sizeof(*by_hand); i++)
		if (!strcmp(factors[by_hand[i].id].name, name))
			return &by_hand[i];
	return NULL;
}

/* Not settings of a machine, but what was measured on it. */
static bool is_setting(const char *name)
{
	return strcmp(name, factors[FACTOR_STACK].name) != 0 && strcmp(name, factors[FACTOR_BOOT].name) != 0;
}

/* The levels in STATE that nobody has by himself; the caller owns them. */
static json_t *differing_levels(const json_t *state)
{
	json_t *levels = json_object(), *level;
	const char *name;

	json_object_foreach ((json_t *)state, name, level) {
		const struct factor *factor = factor_find(name);
		json_t *by_itself = factor ? factor_default(factor) : NULL;

		if (is_setting(name) && !json_equal(level, by_itself))
			json_object_set(levels, name, level);
		json_decref(by_itself);
	}
	return levels;
}

/* The latest sample of cell CELL_ID: {"evidence", "state"}; the caller owns it. NULL: there is none. */
static json_t *latest(struct store *store, const char *run, const char *cell_id)
{
	json_t *sample = NULL;
	sqlite3_stmt *row;

	if (store_ask(
	        store, &row,
	        "SELECT json_object('evidence', CAST(body AS TEXT) -> '$.evidence', 'state', CAST(body AS "
	        "TEXT) -> '$.cell.state') FROM results WHERE run = ? AND cell_id = ? AND role = 'measure' "
	        "AND verdict = 'valid' ORDER BY committed_unix_ns DESC LIMIT 1",
	        "ss", run, cell_id))
		return NULL;
	if (store_row(store, row) == 1) {
		sample = json_loads(store_text(row, 0), 0, NULL);
		store_reset(row);
	}
	return sample;
}

/* A set of sysctl keys is told key by key, as the kernel had them. */
static void print_sysctl(const json_t *levels, const json_t *evidence, FILE *out)
{
	bool set = json_object_get(levels, factors[FACTOR_SYSCTL_SET].name), first = true;
	const char *name;
	json_t *level;
	char text[32];

	if (set)
		levels = json_object_get(evidence, "settings");
	json_object_foreach ((json_t *)levels, name, level) {
		if (strncmp(name, "sysctl.", 7) || !strcmp(name, factors[FACTOR_SYSCTL_SET].name))
			continue;
		if (first)
			fputs("/etc/sysctl.d/90-storage.conf:\n", out);
		first = false;
		fprintf(out, "    %s = %s\n", name + 7, level_text(level, text, sizeof(text)));
	}
}

static void print_commands(const json_t *levels, const json_t *evidence, FILE *out)
{
	const json_t *nics = json_object_get(evidence, "nics"), *nic;
	const char *disk = json_string_value(json_object_get(json_object_get(evidence, "disk"), "device"));
	const char *name;
	json_t *level;
	char text[32];
	size_t i;

	json_object_foreach ((json_t *)levels, name, level) {
		const struct by_hand *by = find(name);
		const char *value = level_text(level, text, sizeof(text));

		if (by && strstr(by->command, "NIC")) {
			json_array_foreach (nics, i, nic) {
				fputs("    ", out);
				print_command(by->command, "NIC",
				              json_string_value(json_object_get(nic, "name")), value, out);
			}
		} else if (by) {
			fputs("    ", out);
			print_command(by->command, "DISK",
			              disk ? strncmp(disk, "/dev/", 5) ? disk : disk + 5 : "DISK", value,
			              out);
		} else if (strncmp(name, "sysctl.", 7) && strncmp(name, "drbd.", 5)) {
			fprintf(out, "    # %s: %s\n", name, value);
		}
	}
}

void tune_print_install(struct store *store, const char *run, const char *cell_id, FILE *out)
{
	json_t *sample = latest(store, run, cell_id), *evidence = json_object_get(sample, "evidence");
	json_t *levels = differing_levels(json_object_get(sample, "state")), *ignored;
	const char *conf = json_string_value(json_object_get(evidence, "drbd_conf"));
	bool commands = false;
	const char *name;

	json_object_foreach (levels, name, ignored) {
		commands = commands || (strncmp(name, "sysctl.", 7) && strncmp(name, "drbd.", 5));
	}
	fputs("\nTo install:\n", out);
	print_sysctl(levels, evidence, out);
	if (commands)
		fputs("at boot:\n", out);
	print_commands(levels, evidence, out);
	if (conf)
		fprintf(out, "/etc/drbd.d/assay.res:\n%s%s", conf,
		        *conf && conf[strlen(conf) - 1] == '\n' ? "" : "\n");
	json_decref(levels);
	json_decref(sample);
}
