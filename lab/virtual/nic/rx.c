/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Receive: filters, queue choice, checksum verdicts, advanced descriptors. */
#include "ixgbe.h"
#include "frame.h"
#include "rss.h"
#include "toeplitz.h"

/* A frame on its way into a ring, and what its descriptors will say. */
struct incoming {
	const uint8_t *data;
	uint32_t bytes;
	uint32_t status, packet_type, hash;
	enum rss_type rss;
	uint16_t vlan;
	unsigned queue;
};

static bool vlan_accepted(IxgbeState *s, const uint8_t *frame, uint32_t bytes)
{
	unsigned id;

	if (!(REG(s, VLNCTRL) & VLNCTRL_VFE) || get16(frame + 12) != ETHERTYPE_VLAN || bytes < 16)
		return true;
	id = get16(frame + 14) & 0xfff;
	return REG(s, VFTA + id / 32 * 4) & 1u << id % 32;
}

static bool address_known(IxgbeState *s, const uint8_t *address)
{
	for (unsigned i = 0; i < 128; i++) {
		unsigned at = (i < 16 ? RAL0 : RAL16) + i * 8;

		if ((REG(s, at + 4) & RAH_AV) && REG(s, at) == ldl_le_p(address) &&
		    (REG(s, at + 4) & 0xffff) == lduw_le_p(address + 4))
			return true;
	}
	return false;
}

static bool multicast_accepted(IxgbeState *s, const uint8_t *address)
{
	static const int shift[4] = {4, 3, 2, 0};
	int low = shift[REG(s, MCSTCTRL) & 3];
	unsigned hash = (address[4] >> low | address[5] << (8 - low)) & 0xfff;

	return (REG(s, FCTRL) & FCTRL_MPE) ||
	       ((REG(s, MCSTCTRL) & MCSTCTRL_MFE) && (REG(s, MTA + hash / 32 * 4) & 1u << hash % 32)) ||
	       address_known(s, address);
}

static bool accepted(IxgbeState *s, const uint8_t *frame, uint32_t bytes)
{
	static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

	if (!vlan_accepted(s, frame, bytes))
		return false;
	if (!memcmp(frame, broadcast, sizeof(broadcast)))
		return REG(s, FCTRL) & FCTRL_BAM;
	if (frame[0] & 1)
		return multicast_accepted(s, frame);
	return (REG(s, FCTRL) & FCTRL_UPE) || address_known(s, frame);
}

static void choose_queue(IxgbeState *s, const struct headers *h, struct incoming *in)
{
	uint8_t input[RSS_INPUT_BYTES], key[TOEPLITZ_KEY_BYTES];
	int bytes = rss_input(REG(s, MRQC), in->data, h, input, &in->rss);

	if (!bytes)
		return;
	for (unsigned i = 0; i < sizeof(key); i += 4)
		stl_le_p(key + i, REG(s, RSSRK + i));
	in->hash = toeplitz(key, input, bytes);
	in->queue = REG(s, RETA + (in->hash & 0x7c)) >> 8 * (in->hash & 3) & 0xf;
}

static void check_sums(const struct headers *h, struct incoming *in)
{
	const uint8_t *ip = in->data + h->l3;
	bool tcp = h->protocol == PROTOCOL_TCP && h->l4_bytes >= 20;
	bool udp = h->protocol == PROTOCOL_UDP && h->l4_bytes >= 8;

	if (h->ipv4) {
		in->packet_type |= RXD_P_IPV4;
		in->status |= RXD_IPCS;
		if (sum_fold(sum16(0, ip, h->l4 - h->l3)) != 0xffff)
			in->status |= RXD_IPE;
	} else if (h->ipv6) {
		in->packet_type |= RXD_P_IPV6;
	}
	if (!h->l4 || h->fragment || !(tcp || udp))
		return;
	in->packet_type |= tcp ? RXD_P_TCP : RXD_P_UDP;
	if (udp && !get16(in->data + h->l4 + 6)) /* the sender did not sum */
		return;
	in->status |= RXD_L4CS | (udp ? RXD_UDPCS : 0);
	if (sum_fold(sum16(sum_pseudo(ip, h->ipv6, h->protocol, h->l4_bytes), in->data + h->l4,
	                   h->l4_bytes)) != 0xffff)
		in->status |= RXD_TCPE;
}

/* Moves a VLAN tag from the frame into the descriptor; buffer is for the frame without it. */
static void strip_vlan(IxgbeState *s, struct incoming *in, uint8_t *buffer)
{
	if (get16(in->data + 12) != ETHERTYPE_VLAN || in->bytes < FRAME_HEADER_BYTES + 4 ||
	    !(REG(s, rx_ring_at(in->queue) + RING_CTL) & RXDCTL_VME))
		return;
	in->status |= RXD_VP;
	in->vlan = get16(in->data + 14);
	memcpy(buffer, in->data, 12);
	memcpy(buffer + 12, in->data + 16, in->bytes - 16);
	in->data = buffer;
	in->bytes -= 4;
}

/* Status and length go last: the driver polls the length. */
static void write_descriptor(IxgbeState *s, uint64_t address, const struct incoming *in, uint32_t bytes,
                             bool last)
{
	PCIDevice *d = PCI_DEVICE(s);
	uint8_t out[16];

	stl_le_p(out, in->rss | in->packet_type << 4);
	stl_le_p(out + 4, in->hash);
	stl_le_p(out + 8, RXD_DD | (last ? RXD_EOP | in->status : 0));
	stw_le_p(out + 12, bytes);
	stw_le_p(out + 14, last ? in->vlan : 0);
	pci_dma_write(d, address, out, 8);
	smp_wmb();
	pci_dma_write(d, address + 8, out + 8, 8);
}

static void fill_ring(IxgbeState *s, unsigned ring, struct incoming *in, uint32_t buffer_bytes)
{
	PCIDevice *d = PCI_DEVICE(s);
	uint32_t count = ring_count(s, ring);

	while (in->bytes) {
		uint32_t head = REG(s, ring + RING_HEAD);
		uint64_t address = ring_base(s, ring) + head * RING_DESCRIPTOR_BYTES;
		uint32_t part = MIN(in->bytes, buffer_bytes);
		uint64_t buffer;

		pci_dma_read(d, address, &buffer, sizeof(buffer));
		pci_dma_write(d, le64_to_cpu(buffer), in->data, part);
		in->data += part;
		in->bytes -= part;
		write_descriptor(s, address, in, part, !in->bytes);
		REG(s, ring + RING_HEAD) = ring_next(head, count);
	}
}

/* Returns false if the frame has to wait until the driver offers buffers. */
static bool deliver(IxgbeState *s, struct incoming *in)
{
	unsigned ring = rx_ring_at(in->queue);
	uint32_t count = ring_count(s, ring);
	uint32_t srrctl = REG(s, in->queue < 16 ? SRRCTL0 + in->queue * 4 : ring + RING_SRRCTL);
	uint32_t buffer_bytes = (srrctl & 0x7f) * 1024;
	uint32_t needed, ready;

	if (!(REG(s, ring + RING_CTL) & RING_ENABLE) || !count || !buffer_bytes)
		return true;
	needed = ring_buffers(in->bytes, buffer_bytes);
	ready = s->fault.rx_stall ? 0 : ring_ready(REG(s, ring + RING_HEAD), REG(s, ring + RING_TAIL), count);
	if (ready < needed) {
		if (needed < count && !(srrctl & SRRCTL_DROP_EN))
			return false;
		count_rx_queue_drop(s->reg, in->queue);
		return true;
	}
	count_rx_queue(s->reg, in->queue, in->bytes);
	fill_ring(s, ring, in, buffer_bytes);
	irq_queue(s, in->queue, false);
	return true;
}

/* A frame that passed the filters, into its ring; false as above. */
static bool place(IxgbeState *s, const uint8_t *frame, uint32_t bytes)
{
	struct incoming in = {.data = frame, .bytes = bytes};
	uint8_t stripped[FRAME_MAX_BYTES];
	struct headers h;

	headers_find(in.data, in.bytes, &h);
	choose_queue(s, &h, &in);
	check_sums(&h, &in);
	strip_vlan(s, &in, stripped);
	return deliver(s, &in);
}

void rx_drain(IxgbeState *s)
{
	const uint8_t *frame;
	uint32_t bytes;

	if (!s->buffer.first)
		return;
	while ((frame = buffer_first(&s->buffer, &bytes)) && place(s, frame, bytes))
		buffer_remove(&s->buffer);
	pause_update(s);
}

/* Without pause frames a full buffer means loss; with them, what was under way when the XOFF went out is
 * kept. */
static void keep(IxgbeState *s, const uint8_t *frame, uint32_t bytes)
{
	uint64_t room = (REG(s, RXPBSIZE0) & RXPBSIZE_BYTES) + (s->xoff ? WIRE_BYTES : 0);

	if (s->buffer.bytes + bytes > room || buffer_add(&s->buffer, frame, bytes))
		count(s->reg, MPC0);
	else
		pause_update(s);
}

static bool too_long(IxgbeState *s, const uint8_t *frame, uint32_t bytes)
{
	uint32_t limit = REG(s, HLREG0) & HLREG0_JUMBOEN ? REG(s, MAXFRS) >> 16 : 1518;

	return bytes + FRAME_FCS_BYTES > limit + (get16(frame + 12) == ETHERTYPE_VLAN ? 4 : 0);
}

void rx_frame(IxgbeState *s, const uint8_t *frame, uint32_t bytes)
{
	uint8_t padded[FRAME_MIN_BYTES];

	if (!(REG(s, RXCTRL) & RXCTRL_RXEN) || bytes < FRAME_HEADER_BYTES || bytes > FRAME_MAX_BYTES)
		return;
	if (bytes < FRAME_MIN_BYTES) {
		memcpy(padded, frame, bytes);
		memset(padded + bytes, 0, sizeof(padded) - bytes);
		frame = padded;
		bytes = sizeof(padded);
	}
	count_arrived(s->reg, bytes);
	if (too_long(s, frame, bytes)) {
		count(s->reg, ROC);
		return;
	}
	if (pause_received(s, frame, bytes) || !accepted(s, frame, bytes))
		return;
	count_received(s->reg, frame, bytes);
	if (REG(s, FDIRCTRL) & FDIRCTRL_PBALLOC)
		count(s->reg, FDIRMISS);
	if (s->buffer.first || !place(s, frame, bytes))
		keep(s, frame, bytes);
}
