/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device's properties for what may be wrong with a card, its slot, its module or its cable. Most may be
 * set at any time (QMP: qom-set); what the driver looks at only once has to be set at the start. */
#include "ixgbe.h"
#include "qapi/error.h"
#include "qapi/visitor.h"

struct property {
	const char *name;
	const char *help;
	size_t at;                      /* of a uint32_t in IxgbeState */
	const char *const *names;       /* of its values, from 0; NULL for a number */
	bool at_start;                  /* fixed once the device is there */
	void (*changed)(IxgbeState *s); /* while it runs */
};

static const char *const sfp_names[] = {
    [SFP_SR] = "sr", [SFP_TWINAX] = "twinax", [SFP_REJECTED] = "rejected", NULL};
static const char *const width_names[] = {"8", "4", "2", "1", NULL};
static const char *const speed_names[] = {"5", "2.5", NULL};
static const char *const interrupt_names[] = {
    [INTERRUPTS_MSIX] = "msix", [INTERRUPTS_MSI] = "msi", [INTERRUPTS_INTX] = "intx", NULL};

#define AT(field) offsetof(IxgbeState, fault.field)

static const struct property properties[] = {
    {"drop-every", "every nth frame is lost on its way in", AT(drop_every), NULL, false, NULL},
    {"corrupt-every", "every nth frame comes in with a wrong CRC", AT(corrupt_every), NULL, false, NULL},
    {"black-hole-over", "frames of more bytes, without FCS, do not come in", AT(black_hole_over), NULL, false,
     NULL},
    {"flap-every-ms", "the link goes down every T ms, for half of it", AT(flap_every_ms), NULL, false,
     wire_flap},
    {"tx-hang", "the transmitter hangs after n frames, until it is reset", AT(tx_hang), NULL, false, NULL},
    {"rx-stall", "1: received frames are not written to memory", AT(rx_stall), NULL, false, rx_drain},
    {"sfp", "module: sr, twinax, rejected", AT(sfp), sfp_names, true, NULL},
    {"link-width", "PCIe lanes in use: 8, 4, 2, 1", AT(link_width), width_names, true, NULL},
    {"link-speed", "PCIe speed in use, GT/s: 5, 2.5", AT(link_speed), speed_names, true, NULL},
    {"interrupts", "the best kind that works: msix, msi, intx", AT(interrupts), interrupt_names, true, NULL},
};

static uint32_t *value_of(Object *o, const struct property *p)
{
	return (uint32_t *)((char *)IXGBE(o) + p->at);
}

static void get(Object *o, Visitor *v, const char *name, void *opaque, Error **errp)
{
	const struct property *p = opaque;
	char *text;

	if (!p->names) {
		visit_type_uint32(v, name, value_of(o, p), errp);
		return;
	}
	text = g_strdup(p->names[*value_of(o, p)]);
	visit_type_str(v, name, &text, errp);
	g_free(text);
}

static bool read_name(Visitor *v, const struct property *p, uint32_t *value, Error **errp)
{
	char *text = NULL;

	if (!visit_type_str(v, p->name, &text, errp))
		return false;
	for (*value = 0; p->names[*value]; (*value)++)
		if (!strcmp(text, p->names[*value]))
			break;
	if (!p->names[*value])
		error_setg(errp, "%s: %s, not '%s'", p->name, p->help, text);
	g_free(text);
	return p->names[*value];
}

static void set(Object *o, Visitor *v, const char *name, void *opaque, Error **errp)
{
	const struct property *p = opaque;
	uint32_t value;

	if (p->at_start && DEVICE(o)->realized) {
		error_setg(errp, "%s can only be set at the start", p->name);
		return;
	}
	if (!(p->names ? read_name(v, p, &value, errp) : visit_type_uint32(v, name, &value, errp)))
		return;
	*value_of(o, p) = value;
	if (p->changed && DEVICE(o)->realized)
		p->changed(IXGBE(o));
}

void faults_class_init(ObjectClass *oc)
{
	for (size_t i = 0; i < ARRAY_SIZE(properties); i++) {
		const struct property *p = &properties[i];

		object_class_property_add(oc, p->name, p->names ? "str" : "uint32", get, set, NULL,
		                          (void *)p);
		object_class_property_set_description(oc, p->name, p->help);
	}
}

/* For LNKSTA: speed code, and lanes from bit 4 on. */
uint16_t faults_pcie_link(IxgbeState *s)
{
	return (s->fault.link_speed ? 1 : 2) | 8 >> s->fault.link_width << 4;
}
