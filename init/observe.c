/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "observe.h"

#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct observe_roots observe_roots_real = {.sys = "/sys", .proc = "/proc"};

static long long number(const char *sys, const char *nic, const char *file, long long missing)
{
	char path[320];
	long long value = missing;

	snprintf(path, sizeof(path), "%s/class/net/%s/%s", sys, nic, file);
	read_integer(path, &value);
	return value;
}

static void observe_slave(const char *sys, const char *name, struct observe_slave *slave)
{
	snprintf(slave->name, sizeof(slave->name), "%.15s", name);
	read_file_at(slave->mac, sizeof(slave->mac), "%s/class/net/%s/bonding_slave/perm_hwaddr", sys, name);
	read_file_at(slave->mii, sizeof(slave->mii), "%s/class/net/%s/bonding_slave/mii_status", sys, name);
	slave->speed_mbps = number(sys, name, "speed", -1);
	slave->link_failures = number(sys, name, "bonding_slave/link_failure_count", 0);
	slave->tx_bytes = number(sys, name, "statistics/tx_bytes", 0);
	slave->rx_bytes = number(sys, name, "statistics/rx_bytes", 0);
	slave->aggregator_id = number(sys, name, "bonding_slave/ad_aggregator_id", -1);
	slave->lacp = lacp_ports_of(sys, name);
}

static void observe_lacp(const char *sys, const char *bond, struct observation *o)
{
	read_file_at(o->lacp_partner, sizeof(o->lacp_partner), "%s/class/net/%s/bonding/ad_partner_mac", sys,
	             bond);
	o->lacp_aggregator = number(sys, bond, "bonding/ad_aggregator", -1);
	o->lacp_ports = number(sys, bond, "bonding/ad_num_ports", 0);
}

static int observe_bond(const char *sys, const char *bond, struct observation *o)
{
	char slaves[512], *save = NULL;
	int r = read_file_at(o->bond_mode, sizeof(o->bond_mode), "%s/class/net/%s/bonding/mode", sys, bond);

	if (r < 0)
		return r;
	/* "active-backup 1" */
	o->bond_mode[strcspn(o->bond_mode, " ")] = '\0';
	o->arp_monitored = number(sys, bond, "bonding/arp_interval", 0) > 0;
	if (!strcmp(o->bond_mode, "802.3ad"))
		observe_lacp(sys, bond, o);
	read_file_at(o->active_slave, sizeof(o->active_slave), "%s/class/net/%s/bonding/active_slave", sys,
	             bond);
	r = read_file_at(slaves, sizeof(slaves), "%s/class/net/%s/bonding/slaves", sys, bond);
	if (r < 0)
		return r;
	for (char *name = strtok_r(slaves, " \n", &save); name && o->slave_count < NET_MAX_NICS;
	     name = strtok_r(NULL, " \n", &save))
		observe_slave(sys, name, &o->slaves[o->slave_count++]);
	o->has_bond = true;
	return 0;
}

/* "cpu  user nice system idle iowait irq softirq steal …", in ticks; busy is all but idle and iowait, and
 * what guests use, which user has already. */
static int observe_cpus(const char *proc, struct observation *o)
{
	static char text[262144];
	unsigned long long t[8] = {0};
	const char *line;
	int r = read_file_at(text, sizeof(text), "%s/stat", proc);

	if (r < 0)
		return r;
	if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3], &t[4],
	           &t[5], &t[6], &t[7]) < 4)
		return -EBADMSG;
	o->cpu_busy_ns =
	    (long long)(t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) * (1000000000LL / sysconf(_SC_CLK_TCK));
	line = strstr(text, "\nintr ");
	o->interrupts = line ? strtoll(line + 6, NULL, 10) : 0;
	line = strstr(text, "\nctxt ");
	o->context_switches = line ? strtoll(line + 6, NULL, 10) : 0;
	return 0;
}

int observe(const struct observe_roots *roots, const char *bond, bool drbd, struct observation *o)
{
	int r;

	memset(o, 0, sizeof(*o));
	r = observe_cpus(roots->proc, o);
	if (!r && bond)
		r = observe_bond(roots->sys, bond, o);
	if (!r && drbd) {
		r = read_file_at(o->proc_drbd, sizeof(o->proc_drbd), "%s/drbd", roots->proc);
		r = r < 0 ? r : drbd_state_parse(o->proc_drbd, atoi(DRBD_MINOR), &o->drbd);
		o->has_drbd = true;
		/* Gone since: a state too, which the check of it tells. */
		if (r == -ENOENT && o->proc_drbd[0])
			r = 0;
	}
	return r;
}

static json_t *bond_json(const struct observation *o)
{
	json_t *slaves = json_array(), *bond;

	for (size_t i = 0; i < o->slave_count; i++) {
		const struct observe_slave *s = &o->slaves[i];
		json_t *slave =
		    json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "name", s->name, "mac", s->mac, "mii",
		              s->mii, "speed_mbps", (json_int_t)(s->speed_mbps < 0 ? -1 : s->speed_mbps),
		              "link_failures", (json_int_t)s->link_failures, "tx_bytes",
		              (json_int_t)s->tx_bytes, "rx_bytes", (json_int_t)s->rx_bytes);

		if (s->aggregator_id >= 0)
			json_object_set_new(slave, "aggregator_id", json_integer(s->aggregator_id));
		if (o->lacp_partner[0]) {
			json_object_set_new(slave, "lacp_actor", lacp_states_json(s->lacp.actor));
			json_object_set_new(slave, "lacp_partner", lacp_states_json(s->lacp.partner));
		}
		json_array_append_new(slaves, slave);
	}
	bond = json_pack("{s:s, s:s, s:o}", "mode", o->bond_mode, "active_slave", o->active_slave, "slaves",
	                 slaves);
	if (o->lacp_partner[0])
		json_object_set_new(bond, "lacp",
		                    json_pack("{s:s, s:I, s:I}", "partner_mac", o->lacp_partner,
		                              "aggregator_id", (json_int_t)o->lacp_aggregator, "ports",
		                              (json_int_t)o->lacp_ports));
	return bond;
}

json_t *observation_json(const struct observation *o)
{
	json_t *json =
	    json_pack("{s:I, s:I, s:I}", "interrupts", (json_int_t)o->interrupts, "context_switches",
	              (json_int_t)o->context_switches, "cpu_busy_ns", (json_int_t)o->cpu_busy_ns);

	if (o->has_bond)
		json_object_set_new(json, "bond", bond_json(o));
	if (o->has_drbd)
		json_object_set_new(json, "drbd", drbd_state_json(&o->drbd, o->proc_drbd));
	return json;
}

static bool has_active_slave(const struct observation *o)
{
	return !strcmp(o->bond_mode, "active-backup") || !strcmp(o->bond_mode, "balance-tlb") ||
	       !strcmp(o->bond_mode, "balance-alb");
}

/* A port that one end does not use carries half of a conversation, or none. */
static void find_lacp_fault(const struct observe_slave *slave, const char *when, char *buf, size_t size)
{
	char ours[128], theirs[128];

	if (buf[0] || lacp_ports_ready(&slave->lacp))
		return;
	lacp_states_text(slave->lacp.actor, ours, sizeof(ours));
	lacp_states_text(slave->lacp.partner, theirs, sizeof(theirs));
	snprintf(
	    buf, size,
	    "%s the sample, slave %s did not collect and distribute at both ends (LACP): its port was %s, "
	    "the partner's %s",
	    when, slave->name, ours, theirs);
}

static void find_slave_fault(const struct observe_slave *b, const struct observe_slave *a, bool arp_monitored,
                             char *buf, size_t size)
{
	/* For ARP monitoring, a backup may be down all the time. */
	bool up = !strcmp(a->mii, "up") && !strcmp(b->mii, "up");

	if (a->link_failures != b->link_failures)
		snprintf(buf, size, "link failures of slave %s rose from %lld to %lld", b->name,
		         b->link_failures, a->link_failures);
	else if (arp_monitored ? strcmp(a->mii, b->mii) != 0 : !up)
		snprintf(buf, size, "slave %s was %s before and %s after", b->name, b->mii, a->mii);
	else if (a->aggregator_id != b->aggregator_id)
		snprintf(buf, size, "slave %s went from aggregator %lld to %lld", b->name, b->aggregator_id,
		         a->aggregator_id);
}

void observe_bond_fault(const struct observation *before, const struct observation *after, char *buf,
                        size_t size)
{
	buf[0] = '\0';
	if (!before->has_bond)
		return;
	if (strcmp(before->active_slave, after->active_slave) != 0)
		snprintf(buf, size, "the bond's active slave changed from %s to %s", before->active_slave,
		         after->active_slave[0] ? after->active_slave : "none");
	else if (!before->active_slave[0] && has_active_slave(before))
		snprintf(buf, size, "the bond had no active slave");
	else if (before->slave_count != after->slave_count)
		snprintf(buf, size, "the bond had %zu slaves, then %zu", before->slave_count,
		         after->slave_count);
	else if (strcmp(before->lacp_partner, after->lacp_partner) != 0)
		snprintf(buf, size, "the bond's LACP partner changed from %s to %s", before->lacp_partner,
		         after->lacp_partner);
	for (size_t i = 0; i < before->slave_count && !buf[0]; i++) {
		find_slave_fault(&before->slaves[i], &after->slaves[i], before->arp_monitored, buf, size);
		if (!before->lacp_partner[0])
			continue;
		find_lacp_fault(&before->slaves[i], "before", buf, size);
		find_lacp_fault(&after->slaves[i], "after", buf, size);
	}
}

void observe_bond_note(const struct observation *before, const struct observation *after, char *buf,
                       size_t size)
{
	enum { WORTH_SAYING_BYTES = 1000000 };
	long long total = 0, most = 0;
	size_t busiest = 0;

	buf[0] = '\0';
	if (!before->has_bond || !strcmp(before->bond_mode, "active-backup") || before->slave_count < 2 ||
	    before->slave_count != after->slave_count)
		return;
	for (size_t i = 0; i < before->slave_count; i++) {
		long long sent = after->slaves[i].tx_bytes - before->slaves[i].tx_bytes;

		total += sent;
		if (sent > most) {
			most = sent;
			busiest = i;
		}
	}
	/* All but 1 % */
	if (total < WORTH_SAYING_BYTES || most < total - total / 100)
		return;
	snprintf(buf, size, "the bond is in mode %s over %zu slaves, but %s alone sent %.1f %% of %.1f MB",
	         before->bond_mode, before->slave_count, before->slaves[busiest].name,
	         100.0 * (double)most / (double)total, (double)total / 1e6);
}
