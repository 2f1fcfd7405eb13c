/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transmit: gathers packets from advanced descriptors, offloads, sends. */
#include "ixgbe.h"
#include "qemu/iov.h"
#include "frame.h"

/* What a frame needs on its way out of offload_segment(). */
struct outgoing {
	IxgbeState *s;
	int vlan; /* tag to insert, or -1 */
};

static void send_frame(void *opaque, uint8_t *frame, int bytes)
{
	static const uint8_t zeros[FRAME_MIN_BYTES];
	const struct outgoing *out = opaque;
	IxgbeState *s = out->s;
	uint8_t tag[4] = {ETHERTYPE_VLAN >> 8, ETHERTYPE_VLAN & 0xff, out->vlan >> 8, out->vlan};
	int tag_bytes = out->vlan >= 0 ? 4 : 0;
	int padding = MAX(0, FRAME_MIN_BYTES - bytes - tag_bytes);
	int total = bytes + tag_bytes + padding;
	struct iovec iov[] = {
	    {frame, 12},
	    {tag, tag_bytes},
	    {frame + 12, bytes - 12},
	    {(void *)zeros, padding},
	};

	count_sent(s->reg, frame, total);
	if (REG(s, HLREG0) & HLREG0_LPBK) { /* ethtool -t offline */
		uint8_t loop[FRAME_MAX_BYTES];

		if (total <= sizeof(loop)) {
			iov_to_buf(iov, ARRAY_SIZE(iov), 0, loop, total);
			rx_frame(s, loop, total);
		}
		return;
	}
	if (wire_up(s))
		qemu_sendv_packet(qemu_get_queue(s->nic), iov, ARRAY_SIZE(iov));
}

static void send_packet(IxgbeState *s, struct tx_queue *q, uint32_t command)
{
	const struct offload *o = &q->context[q->olinfo >> 4 & 1];
	struct outgoing out = {s, command & TXD_VLE ? o->vlan_tag : -1};

	if (q->bytes < FRAME_HEADER_BYTES)
		return;
	if (s->fault.tx_hang && --s->fault.tx_hang == 0)
		s->fault.hung = true;
	if ((command & TXD_TSE) && o->mss) {
		uint8_t *segment = g_malloc(o->mac_bytes + o->ip_bytes + o->l4_bytes + o->mss);

		offload_segment(o, q->packet, q->bytes, segment, send_frame, &out);
		g_free(segment);
		return;
	}
	offload_checksums(o, q->packet, q->bytes, q->olinfo & TXD_IXSM, q->olinfo & TXD_TXSM);
	send_frame(&out, q->packet, q->bytes);
}

/* Adds a data descriptor's buffer to the packet. */
static void gather(IxgbeState *s, struct tx_queue *q, uint64_t address, uint32_t bytes, uint32_t olinfo)
{
	if (!q->gathering) {
		q->gathering = true;
		q->olinfo = olinfo;
		q->bytes = 0;
	}
	if (!q->packet)
		q->packet = g_malloc(TX_PACKET_BYTES);
	if (q->bytes + bytes > TX_PACKET_BYTES)
		return;
	pci_dma_read(PCI_DEVICE(s), address, q->packet + q->bytes, bytes);
	q->bytes += bytes;
}

/* One descriptor; returns true if its completion was written back. */
static bool run_descriptor(IxgbeState *s, unsigned queue, uint64_t address)
{
	struct tx_queue *q = &s->tx[queue];
	uint32_t word[4];

	pci_dma_read(PCI_DEVICE(s), address, word, sizeof(word));
	for (int i = 0; i < 4; i++)
		word[i] = le32_to_cpu(word[i]);
	if ((word[2] & TXD_TYPE) == TXD_TYPE_CONTEXT) {
		q->context[word[3] >> 4 & 1] = offload_decode(word);
	} else {
		gather(s, q, word[0] | (uint64_t)word[1] << 32, word[2] & 0xffff, word[3]);
		if (word[2] & TXD_EOP) {
			send_packet(s, q, word[2]);
			count_tx_queue(s->reg, queue, q->bytes);
			q->gathering = false;
		}
	}
	if (!(word[2] & TXD_RS))
		return false;
	word[3] = cpu_to_le32(TXD_DD);
	pci_dma_write(PCI_DEVICE(s), address + 12, &word[3], 4);
	return true;
}

void tx_run(IxgbeState *s, unsigned queue)
{
	unsigned ring = tx_ring_at(queue);
	uint32_t count = ring_count(s, ring);
	bool done = false;

	if (!(REG(s, ring + RING_CTL) & RING_ENABLE) || !(REG(s, DMATXCTL) & DMATXCTL_TE))
		return;
	while (!s->paused && !s->fault.hung &&
	       ring_ready(REG(s, ring + RING_HEAD), REG(s, ring + RING_TAIL), count)) {
		uint32_t head = REG(s, ring + RING_HEAD);

		done |= run_descriptor(s, queue, ring_base(s, ring) + head * RING_DESCRIPTOR_BYTES);
		REG(s, ring + RING_HEAD) = ring_next(head, count);
	}
	if (done)
		irq_queue(s, queue, true);
}

void tx_reset(IxgbeState *s)
{
	for (int i = 0; i < QUEUES; i++) {
		struct tx_queue *q = &s->tx[i];

		*q = (struct tx_queue){.packet = q->packet};
	}
	s->fault.hung = false;
}

void tx_free(IxgbeState *s)
{
	for (int i = 0; i < QUEUES; i++)
		g_free(s->tx[i].packet);
}
