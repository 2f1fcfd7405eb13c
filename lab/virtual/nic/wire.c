/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the card and QEMU's network: the link, and what can be wrong with it. */
#include "ixgbe.h"

bool wire_up(IxgbeState *s)
{
	return !qemu_get_queue(s->nic)->link_down && !s->fault.flapped;
}

void wire_send(IxgbeState *s, const uint8_t *frame, size_t bytes)
{
	if (wire_up(s))
		qemu_send_packet(qemu_get_queue(s->nic), frame, bytes);
}

/* True for one in `every` */
static bool its_turn(uint32_t every, uint32_t *seen)
{
	if (!every || ++*seen < every)
		return false;
	*seen = 0;
	return true;
}

/* Does the frame come in whole? */
static bool arrives(IxgbeState *s, size_t bytes)
{
	struct faults *f = &s->fault;

	if (!wire_up(s) || (f->black_hole_over && bytes > f->black_hole_over) ||
	    its_turn(f->drop_every, &f->drop_seen))
		return false;
	if (!(REG(s, RXCTRL) & RXCTRL_RXEN) || !its_turn(f->corrupt_every, &f->corrupt_seen))
		return true;
	count_arrived(s->reg, bytes);
	count(s->reg, CRCERRS);
	return false;
}

/* All frames are taken: those that find no room are lost, and counted, as on a real card. */
static ssize_t receive(NetClientState *nc, const uint8_t *frame, size_t bytes)
{
	IxgbeState *s = qemu_get_nic_opaque(nc);

	/* In MAC loopback the wire is not heard. */
	if (!(REG(s, HLREG0) & HLREG0_LPBK) && arrives(s, bytes))
		rx_frame(s, frame, bytes);
	return bytes;
}

static bool can_receive(NetClientState *nc)
{
	return true;
}

static void link_changed(NetClientState *nc)
{
	irq_other(qemu_get_nic_opaque(nc), EICR_LSC);
}

/* Every flap_every_ms the light goes out, for half that time. */
static void flap(void *opaque)
{
	IxgbeState *s = opaque;

	if (!s->fault.flap_every_ms && !s->fault.flapped)
		return;
	s->fault.flapped = s->fault.flap_every_ms && !s->fault.flapped;
	irq_other(s, EICR_LSC);
	wire_flap(s);
}

void wire_flap(IxgbeState *s)
{
	int64_t half_ns = (int64_t)s->fault.flap_every_ms * SCALE_MS / 2;

	timer_mod(s->flap_timer, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + half_ns);
}

static NetClientInfo net_client = {
    .type = NET_CLIENT_DRIVER_NIC,
    .size = sizeof(NICState),
    .can_receive = can_receive,
    .receive = receive,
    .link_status_changed = link_changed,
};

void wire_init(IxgbeState *s)
{
	DeviceState *d = DEVICE(s);

	qemu_macaddr_default_if_unset(&s->conf.macaddr);
	s->nic = qemu_new_nic(&net_client, &s->conf, object_get_typename(OBJECT(s)), d->id,
	                      &d->mem_reentrancy_guard, s);
	qemu_format_nic_info_str(qemu_get_queue(s->nic), s->conf.macaddr.a);
	s->flap_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, flap, s);
	wire_flap(s);
}

void wire_free(IxgbeState *s)
{
	timer_free(s->flap_timer);
	qemu_del_nic(s->nic);
}
