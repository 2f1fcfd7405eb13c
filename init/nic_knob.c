/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic_knob.h"

#include "ethtool.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <string.h>

#define KNOB(f, fam, type, member, attr)                                                                     \
	{                                                                                                    \
		.factor = FACTOR_NIC_##f, .family = NIC_##fam, .offset = offsetof(struct type, member),      \
		.attribute = attr                                                                            \
	}
#define FEATURE(f, g, s, m)                                                                                  \
	{                                                                                                    \
		.factor = FACTOR_NIC_##f, .family = NIC_FEATURES, .get = g, .set = s, .mask = m              \
	}

/* Features in the order in which one needs the other. */
const struct nic_knob nic_knobs[NIC_KNOBS] = {
    KNOB(PAUSE_AUTONEG, PAUSE, ethtool_pauseparam, autoneg, ETHTOOL_A_PAUSE_AUTONEG),
    KNOB(PAUSE_RX, PAUSE, ethtool_pauseparam, rx_pause, ETHTOOL_A_PAUSE_RX),
    KNOB(PAUSE_TX, PAUSE, ethtool_pauseparam, tx_pause, ETHTOOL_A_PAUSE_TX),
    KNOB(CHANNELS, CHANNELS, ethtool_channels, combined_count, ETHTOOL_A_CHANNELS_COMBINED_COUNT),
    KNOB(RING_RX, RINGS, ethtool_ringparam, rx_pending, ETHTOOL_A_RINGS_RX),
    KNOB(RING_TX, RINGS, ethtool_ringparam, tx_pending, ETHTOOL_A_RINGS_TX),
    KNOB(RX_USECS, COALESCE, ethtool_coalesce, rx_coalesce_usecs, ETHTOOL_A_COALESCE_RX_USECS),
    KNOB(TX_USECS, COALESCE, ethtool_coalesce, tx_coalesce_usecs, ETHTOOL_A_COALESCE_TX_USECS),
    KNOB(ADAPTIVE_RX, COALESCE, ethtool_coalesce, use_adaptive_rx_coalesce,
         ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX),
    KNOB(ADAPTIVE_TX, COALESCE, ethtool_coalesce, use_adaptive_tx_coalesce,
         ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX),
    FEATURE(SG, ETHTOOL_GSG, ETHTOOL_SSG, 0),
    FEATURE(RX_CHECKSUM, ETHTOOL_GRXCSUM, ETHTOOL_SRXCSUM, 0),
    FEATURE(TX_CHECKSUM, ETHTOOL_GTXCSUM, ETHTOOL_STXCSUM, 0),
    FEATURE(TSO, ETHTOOL_GTSO, ETHTOOL_STSO, 0),
    FEATURE(GSO, ETHTOOL_GGSO, ETHTOOL_SGSO, 0),
    FEATURE(GRO, ETHTOOL_GGRO, ETHTOOL_SGRO, 0),
    FEATURE(LRO, ETHTOOL_GFLAGS, ETHTOOL_SFLAGS, ETH_FLAG_LRO),
    FEATURE(NTUPLE, ETHTOOL_GFLAGS, ETHTOOL_SFLAGS, ETH_FLAG_NTUPLE),
};

static const struct family {
	uint32_t get;    /* ioctl */
	uint8_t message; /* netlink */
} families[NIC_FEATURES] = {
    [NIC_PAUSE] = {ETHTOOL_GPAUSEPARAM, ETHTOOL_MSG_PAUSE_SET},
    [NIC_CHANNELS] = {ETHTOOL_GCHANNELS, ETHTOOL_MSG_CHANNELS_SET},
    [NIC_RINGS] = {ETHTOOL_GRINGPARAM, ETHTOOL_MSG_RINGS_SET},
    [NIC_COALESCE] = {ETHTOOL_GCOALESCE, ETHTOOL_MSG_COALESCE_SET},
};

long long nic_level_number(const json_t *level)
{
	if (json_is_integer(level))
		return json_integer_value(level);
	return !strcmp(json_string_value(level), "on");
}

json_t *nic_level(const struct nic_knob *knob, long long value)
{
	return factors[knob->factor].levels ? json_string(value ? "on" : "off") : json_integer(value);
}

static long long read_feature(const char *nic, const struct nic_knob *knob)
{
	struct ethtool_value data = {.cmd = knob->get};

	if (ethtool(nic, &data))
		return NIC_UNKNOWN;
	return (knob->mask ? data.data & knob->mask : data.data) != 0;
}

static void read_family(const char *nic, enum nic_family family, long long value[NIC_KNOBS])
{
	/* Every structure begins with its command. */
	union {
		uint32_t cmd;
		struct ethtool_pauseparam pause;
		struct ethtool_channels channels;
		struct ethtool_ringparam rings;
		struct ethtool_coalesce coalesce;
		char bytes[sizeof(struct ethtool_coalesce)];
	} data;
	int r;

	memset(&data, 0, sizeof(data));
	data.cmd = families[family].get;
	r = ethtool(nic, &data);
	for (size_t k = 0; k < NIC_KNOBS; k++) {
		uint32_t number;

		if (nic_knobs[k].family != family)
			continue;
		memcpy(&number, data.bytes + nic_knobs[k].offset, sizeof(number));
		value[k] = r ? NIC_UNKNOWN : number;
	}
}

void nic_read(const char *nic, long long value[NIC_KNOBS])
{
	for (enum nic_family family = 0; family < NIC_FEATURES; family++)
		read_family(nic, family, value);
	for (size_t k = 0; k < NIC_KNOBS; k++)
		if (nic_knobs[k].family == NIC_FEATURES)
			value[k] = read_feature(nic, &nic_knobs[k]);
}

static int set_feature(const char *nic, const struct nic_knob *knob, bool on)
{
	struct ethtool_value data = {.cmd = knob->get};
	int r;

	if (knob->mask) {
		r = ethtool(nic, &data);
		if (r)
			return r;
		data.data = on ? data.data | knob->mask : data.data & ~knob->mask;
	} else {
		data.data = on;
	}
	data.cmd = knob->set;
	return ethtool(nic, &data);
}

int nic_set(const char *nic, enum nic_family family, const bool set[NIC_KNOBS],
            const long long value[NIC_KNOBS], char *words, size_t size)
{
	struct ethtool_attribute attributes[NIC_KNOBS];
	size_t count = 0;
	int r = 0;

	*words = '\0';
	for (size_t k = 0; k < NIC_KNOBS && !r; k++) {
		const struct nic_knob *knob = &nic_knobs[k];

		if (knob->family != family || !set[k])
			continue;
		if (family == NIC_FEATURES)
			r = set_feature(nic, knob, value[k] != 0);
		else
			attributes[count++] =
			    (struct ethtool_attribute){.attribute = knob->attribute,
			                               .flag = factors[knob->factor].levels != NULL,
			                               .value = (uint32_t)value[k]};
	}
	if (r || !count)
		return r;
	return ethtool_set(nic, families[family].message, attributes, count, words, size);
}
