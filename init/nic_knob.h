/* SPDX-License-Identifier: GPL-2.0-or-later
 * The settings of a NIC that ethtool knows, one entry for each factor of the group NIC that is one. */
#ifndef ASSAY_NIC_KNOB_H
#define ASSAY_NIC_KNOB_H

#include "factor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Knobs of one family are set together, in one message: in the order in which they are applied. Pause first:
 * what the driver says of it depends on the link, which later ones bounce. */
enum nic_family { NIC_PAUSE, NIC_CHANNELS, NIC_RINGS, NIC_COALESCE, NIC_FEATURES, NIC_FAMILIES };

struct nic_knob {
	enum factor_id factor;
	enum nic_family family;
	size_t offset;           /* in what the family's ioctl gives; not of features */
	uint16_t attribute;      /* in the family's message */
	uint32_t get, set, mask; /* of a feature: its ioctls; of several in one word, which bit */
};

#define NIC_KNOBS 18

extern const struct nic_knob nic_knobs[NIC_KNOBS];

#define NIC_UNKNOWN (-1LL)

/* What LEVEL of a knob's factor is as a number (on: 1, off: 0), and back; the caller owns the latter. */
long long nic_level_number(const json_t *level);
json_t *nic_level(const struct nic_knob *knob, long long value);

/* The values of all knobs of NIC, NIC_UNKNOWN where its driver does not tell. */
void nic_read(const char *nic, long long value[NIC_KNOBS]);

/* Sets those knobs of FAMILY on NIC whose SET is true to VALUE. 0 or -errno with the kernel's words, if any,
 * in WORDS. */
int nic_set(const char *nic, enum nic_family family, const bool set[NIC_KNOBS],
            const long long value[NIC_KNOBS], char *words, size_t size);

#endif
