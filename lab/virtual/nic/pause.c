/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The packet buffer's state towards the wire: XOFF and XON out, pauses obeyed. */
#include "ixgbe.h"
#include "flow.h"

static void send_pause(IxgbeState *s, bool stop)
{
	uint8_t frame[FRAME_MIN_BYTES];

	flow_build(frame, s->conf.macaddr.a, stop ? REG(s, FCTTV0) & 0xffff : 0);
	count(s->reg, stop ? LXOFFTXC : LXONTXC);
	count_sent(s->reg, frame, sizeof(frame));
	wire_send(s, frame, sizeof(frame));
}

/* Before the other side's pause is over it is told again. */
static void refresh_later(IxgbeState *s)
{
	int64_t ns = flow_quanta_ns(REG(s, FCRTV) & 0xffff);

	timer_mod(s->xoff_timer, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + MAX(ns, SCALE_US * 100));
}

static void refresh(void *opaque)
{
	IxgbeState *s = opaque;

	pause_update(s);
	if (!s->xoff)
		return;
	send_pause(s, true);
	refresh_later(s);
}

void pause_update(IxgbeState *s)
{
	uint32_t high = REG(s, FCRTH0), low = REG(s, FCRTL0);

	if (!(REG(s, FCCFG) & FCCFG_TFCE) || !(high & FCRTH_FCEN)) {
		s->xoff = false;
		return;
	}
	switch (flow_step(s->buffer.bytes, high & FCRT_BYTES, low & FCRT_BYTES, s->xoff)) {
	case FLOW_XOFF:
		s->xoff = true;
		send_pause(s, true);
		refresh_later(s);
		break;
	case FLOW_XON:
		s->xoff = false;
		if (low & FCRTL_XONE)
			send_pause(s, false);
		break;
	case FLOW_NOTHING:
		break;
	}
}

static void resume(void *opaque)
{
	IxgbeState *s = opaque;

	s->paused = false;
	for (unsigned i = 0; i < QUEUES; i++)
		tx_run(s, i);
}

bool pause_received(IxgbeState *s, const uint8_t *frame, uint32_t bytes)
{
	int quanta = flow_parse(frame, bytes, s->conf.macaddr.a);

	if (quanta < 0)
		return false;
	count(s->reg, quanta ? LXOFFRXCNT : LXONRXCNT);
	if (REG(s, MFLCN) & MFLCN_RFCE) {
		s->paused = true;
		timer_mod(s->resume_timer, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + flow_quanta_ns(quanta));
	}
	return (REG(s, MFLCN) & MFLCN_DPF) || !(REG(s, MFLCN) & MFLCN_PMCF);
}

void pause_init(IxgbeState *s)
{
	s->xoff_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, refresh, s);
	s->resume_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, resume, s);
}

void pause_reset(IxgbeState *s)
{
	buffer_clear(&s->buffer);
	s->xoff = s->paused = false;
	timer_del(s->xoff_timer);
	timer_del(s->resume_timer);
}

void pause_free(IxgbeState *s)
{
	pause_reset(s);
	timer_free(s->xoff_timer);
	timer_free(s->resume_timer);
}
