/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic_warnings.h"

#include "failure.h"
#include "kernel_log.h"

#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARNINGS_MAX 64

__attribute__((format(printf, 2, 3))) static void warn(json_t *warnings, const char *format, ...)
{
	char text[512];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (json_array_size(warnings) < WARNINGS_MAX)
		json_array_append_new(warnings, json_text(text));
}

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

/* "5.0 GT/s PCIe", "8"; not "Unknown", nor the 255 or 0 of a device without a link. */
static double number_of(const json_t *pci, const char *name)
{
	double number = strtod(text_of(pci, name), NULL);

	return number >= 255 ? 0 : number;
}

static void warn_pcie(json_t *warnings, const json_t *pci, const char *who)
{
	static const struct {
		const char *now, *best, *what, *slot;
	} halves[] = {
	    {"link_width", "max_link_width", "width", "narrower"},
	    {"link_speed", "max_link_speed", "speed", "slower"},
	};

	for (size_t i = 0; i < 2; i++) {
		double now = number_of(pci, halves[i].now), best = number_of(pci, halves[i].best);

		if (now > 0 && now < best)
			warn(warnings, "%s: PCIe link %s %s, where the card can %s: is the slot %s?", who,
			     halves[i].what, text_of(pci, halves[i].now), text_of(pci, halves[i].best),
			     halves[i].slot);
	}
}

static void warn_aer(json_t *warnings, const json_t *pci, const char *who)
{
	static const char *const kinds[] = {"correctable", "nonfatal", "fatal"};
	const json_t *aer = json_object_get(pci, "aer");

	for (size_t i = 0; i < 3; i++) {
		json_int_t count = json_integer_value(json_object_get(aer, kinds[i]));

		if (count > 0)
			warn(warnings, "%s: %lld %s PCIe errors since power-on (AER): check the card's seat",
			     who, (long long)count, kinds[i]);
	}
}

static const json_t *nic_on(const json_t *inventory, const char *address)
{
	const json_t *nics = json_object_get(inventory, "nics");

	for (size_t i = 0; i < json_array_size(nics); i++)
		if (!strcmp(text_of(json_array_get(nics, i), "pci"), address))
			return json_array_get(nics, i);
	return NULL;
}

static void warn_device(json_t *warnings, const json_t *inventory, const json_t *pci)
{
	const char *address = text_of(pci, "address");
	const json_t *nic = nic_on(inventory, address);
	char who[128];

	if (strncmp(text_of(pci, "class"), "0x02", 4) != 0)
		return;
	if (nic)
		snprintf(who, sizeof(who), "%.15s (%.31s)", text_of(nic, "name"), address);
	else
		snprintf(who, sizeof(who), "NIC %.31s", address);
	if (!nic && !*text_of(pci, "driver"))
		warn(warnings, "%s (%s:%s) has no driver: it is not in the image, or it refused the card",
		     who, text_of(pci, "vendor"), text_of(pci, "device"));
	warn_pcie(warnings, pci, who);
	warn_aer(warnings, pci, who);
}

static void warn_speed(json_t *warnings, const json_t *nic)
{
	json_int_t best = json_integer_value(json_object_get(nic, "best_mbps"));
	json_int_t now = json_integer_value(json_object_get(nic, "speed_mbps"));

	if (now > 0 && now < best)
		warn(warnings, "%s: its link runs at %lld Mb/s, it can %lld", text_of(nic, "name"),
		     (long long)now, (long long)best);
}

static void warn_line(void *ctx, const char *line)
{
	static const char *const words[] = {"unsupported SFP", "Unsupported SFP", "unsupported optics",
	                                    "Unqualified SFP"};
	bool said = false;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		said |= strstr(line, words[i]) != NULL;
	if (said)
		warn(ctx, "the driver refuses a transceiver: %s", line);
}

json_t *nic_warnings(const json_t *inventory, const char *root)
{
	const json_t *pci = json_object_get(inventory, "pci"), *nics = json_object_get(inventory, "nics");
	json_t *warnings = json_array();
	char log[PATH_MAX];

	for (size_t i = 0; i < json_array_size(pci); i++)
		warn_device(warnings, inventory, json_array_get(pci, i));
	for (size_t i = 0; i < json_array_size(nics); i++)
		warn_speed(warnings, json_array_get(nics, i));
	snprintf(log, sizeof(log), "%s/dev/kmsg", root);
	kernel_log_each(log, warn_line, warnings);
	return warnings;
}
