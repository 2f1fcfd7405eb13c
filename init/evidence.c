/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "evidence.h"

#include "cmdline.h"
#include "ethtool_link.h"
#include "file.h"
#include "nic_apply.h"
#include "nic_counters.h"
#include "nic_driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* What must not rise while a sample runs. rx_dropped is not among them: it counts every frame of a protocol
 * that nobody listens to, such as a switch's LLDP. */
static const char *const fault_counters[] = {
    "rx_errors",         "rx_crc_errors",     "rx_frame_errors",          "rx_length_errors",
    "rx_fifo_errors",    "rx_missed_errors",  "rx_over_errors",           "tx_errors",
    "tx_aborted_errors", "tx_carrier_errors", "tx_fifo_errors",           "tx_window_errors",
    "tx_dropped",        "carrier_changes",   NIC_PCIE_ERRORS "nonfatal", NIC_PCIE_ERRORS "fatal",
};

int evidence_machine(const struct observe_roots *roots, json_t *evidence)
{
	char boot_id[64], raw[4096], command_line[4096];
	struct utsname u;
	int r = read_file_at(boot_id, sizeof(boot_id), "%s/sys/kernel/random/boot_id", roots->proc);

	if (r >= 0)
		r = read_file_at(raw, sizeof(raw), "%s/cmdline", roots->proc);
	if (r < 0)
		return r;
	if (uname(&u))
		return -errno;
	cmdline_redact(raw, command_line, sizeof(command_line));
	r = json_object_set_new(evidence, "boot_id", json_string(boot_id));
	r |= json_object_set_new(evidence, "kernel_release", json_string(u.release));
	r |= json_object_set_new(evidence, "command_line", json_string(command_line));
	r |= json_object_set_new(evidence, "uptime_ns", json_integer(uptime_ns()));
	return r ? -ENOMEM : 0;
}

json_t *evidence_differences(const json_t *asked, const json_t *in_force)
{
	json_t *differences = json_array(), *level;
	const char *name;

	json_object_foreach ((json_t *)asked, name, level) {
		json_t *real = json_object_get(in_force, name);

		if (json_equal(level, real))
			continue;
		json_array_append_new(differences,
		                      json_pack("{s:s, s:O, s:o}", "factor", name, "asked", level, "in_force",
		                                real ? json_incref(real) : json_string("unknown")));
	}
	return differences;
}

static json_t *nic_json(const char *sys, const char *name)
{
	char mac[24], driver[64], version[64], srcversion[64], path[320];
	long long speed = -1, mtu = 0, carrier = 0;
	struct ethtool_link link;
	json_t *nic;

	if (read_file_at(mac, sizeof(mac), "%s/class/net/%s/bonding_slave/perm_hwaddr", sys, name) <= 0)
		read_file_at(mac, sizeof(mac), "%s/class/net/%s/address", sys, name);
	read_link_name(driver, sizeof(driver), "%s/class/net/%s/device/driver", sys, name);
	snprintf(path, sizeof(path), "%s/class/net/%s/speed", sys, name);
	read_integer(path, &speed);
	snprintf(path, sizeof(path), "%s/class/net/%s/mtu", sys, name);
	read_integer(path, &mtu);
	snprintf(path, sizeof(path), "%s/class/net/%s/carrier", sys, name);
	read_integer(path, &carrier);
	nic = json_pack("{s:s, s:s, s:s, s:I, s:I, s:b, s:o}", "name", name, "mac", mac, "driver", driver,
	                "speed_mbps", (json_int_t)(speed < 0 ? -1 : speed), "mtu_bytes", (json_int_t)mtu,
	                "carrier", carrier != 0, "counters_before", nic_counters(sys, name));
	if (!ethtool_link(name, &link) && link.best_mbps)
		json_object_set_new(nic, "best_mbps", json_integer(link.best_mbps));
	nic_driver_version(sys, name, version, srcversion, sizeof(version));
	if (version[0])
		json_object_set_new(nic, "driver_version", json_string(version));
	if (srcversion[0])
		json_object_set_new(nic, "driver_srcversion", json_string(srcversion));
	return nic;
}

json_t *evidence_nics(const struct observe_roots *roots, const struct net_nics *nics, size_t used)
{
	json_t *array = json_array();

	for (size_t i = 0; i < used; i++) {
		json_t *nic = nic_json(roots->sys, nics->name[i]);

		json_object_set_new(nic, "settings", nic_settings(nics->name[i]));
		json_array_append_new(array, nic);
	}
	return array;
}

void evidence_nics_after(const struct observe_roots *roots, json_t *nics)
{
	size_t i;
	json_t *nic;

	json_array_foreach (nics, i, nic) {
		const char *name = json_string_value(json_object_get(nic, "name"));

		if (name)
			json_object_set_new(nic, "counters_after", nic_counters(roots->sys, name));
	}
}

int evidence_note(json_t *evidence, const char *text)
{
	json_t *notes = json_object_get(evidence, "notes");

	if (!notes) {
		notes = json_array();
		if (json_object_set_new(evidence, "notes", notes))
			return -ENOMEM;
	}
	return json_array_append_new(notes, json_text(text)) ? -ENOMEM : 0;
}

static void level_text(const json_t *level, char *buf, size_t size)
{
	if (json_is_string(level))
		snprintf(buf, size, "%s", json_string_value(level));
	else
		snprintf(buf, size, "%lld", (long long)json_integer_value(level));
}

void evidence_differences_fault(const json_t *differences, char *buf, size_t size)
{
	size_t used = 0, i;
	const json_t *one;

	buf[0] = '\0';
	json_array_foreach ((json_t *)differences, i, one) {
		char asked[128], real[128];
		int n;

		level_text(json_object_get(one, "asked"), asked, sizeof(asked));
		level_text(json_object_get(one, "in_force"), real, sizeof(real));
		n = snprintf(buf + used, size - used, "%s%s: asked %s, in force %s", i ? "; " : "",
		             json_string_value(json_object_get(one, "factor")), asked, real);
		if (n < 0 || (size_t)n >= size - used)
			return;
		used += (size_t)n;
	}
}

void evidence_nics_note(const json_t *nics, char *buf, size_t size)
{
	size_t used = 0, i;
	const json_t *nic;

	buf[0] = '\0';
	json_array_foreach ((json_t *)nics, i, nic) {
		json_int_t now = json_integer_value(json_object_get(nic, "speed_mbps"));
		json_int_t best = json_integer_value(json_object_get(nic, "best_mbps"));

		if (now > 0 && now < best && used < size)
			used += (size_t)snprintf(buf + used, size - used,
			                         "%s%s: its link runs at %lld Mb/s, it can %lld",
			                         used ? "; " : "",
			                         json_string_value(json_object_get(nic, "name")),
			                         (long long)now, (long long)best);
	}
}

void evidence_nics_fault(const json_t *nics, char *buf, size_t size)
{
	size_t i;
	const json_t *nic;

	buf[0] = '\0';
	json_array_foreach ((json_t *)nics, i, nic) {
		const json_t *before = json_object_get(nic, "counters_before");
		const json_t *after = json_object_get(nic, "counters_after");

		for (size_t c = 0; c < sizeof(fault_counters) / sizeof(*fault_counters); c++) {
			json_int_t b = json_integer_value(json_object_get(before, fault_counters[c]));
			json_int_t a = json_integer_value(json_object_get(after, fault_counters[c]));

			if (a != b) {
				snprintf(buf, size, "NIC %s: %s went from %lld to %lld",
				         json_string_value(json_object_get(nic, "name")), fault_counters[c],
				         (long long)b, (long long)a);
				return;
			}
		}
	}
}
