/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers and bits of the 82599 that the model knows by name (Intel 82599 datasheet, section 8). */
#ifndef NIC_REGS_H
#define NIC_REGS_H

#define REG_BYTES 0x20000
#define QUEUES    128
#define VECTORS   64

enum {
	CTRL = 0x0,
	STATUS = 0x8,
	ESDP = 0x20,
	I2CCTL = 0x28,
	LEDCTL = 0x200,
	EICR = 0x800,
	EICS = 0x808,
	EIAC = 0x810,
	EITR0 = 0x820,
	EIMS = 0x880,
	EIMC = 0x888,
	EIAM = 0x890,
	GPIE = 0x898,
	IVAR0 = 0x900,
	IVAR_MISC = 0xa00,
	EICS_EX = 0xa90,
	EIMS_EX = 0xaa0,
	EIMC_EX = 0xab0,
	EIAM_EX = 0xad0,
	RX_RINGS = 0x1000,
	QPRDC0 = 0x1430,
	SRRCTL0 = 0x2100,
	RQSMR0 = 0x2300,
	RDRXCTL = 0x2f00,
	RXCTRL = 0x3000,
	FCTTV0 = 0x3200,
	FCRTL0 = 0x3220,
	FCRTH0 = 0x3260,
	FCRTV = 0x32a0,
	RXPBSIZE0 = 0x3c00,
	FCCFG = 0x3d00,
	FLOW_STATISTICS = 0x3f00,
	LXONTXC = 0x3f60,
	LXOFFTXC = 0x3f68,
	MPC0 = 0x3fa0,
	STATISTICS = 0x4000,
	CRCERRS = 0x4000,
	RLEC = 0x4040,
	PRC64 = 0x405c,
	GPRC = 0x4074,
	BPRC = 0x4078,
	MPRC = 0x407c,
	GPTC = 0x4080,
	GORCL = 0x4088,
	GOTCL = 0x4090,
	RUC = 0x40a4,
	ROC = 0x40ac,
	RJC = 0x40b0,
	TORL = 0x40c0,
	TPR = 0x40d0,
	TPT = 0x40d4,
	PTC64 = 0x40d8,
	MPTC = 0x40f0,
	BPTC = 0x40f4,
	LXONRXCNT = 0x41a4,
	LXOFFRXCNT = 0x41a8,
	HLREG0 = 0x4240,
	MSCA = 0x425c,
	MSRWD = 0x4260,
	MAXFRS = 0x4268,
	MFLCN = 0x4294,
	AUTOC = 0x42a0,
	LINKS = 0x42a4,
	AUTOC2 = 0x42a8,
	ANLP1 = 0x42b0,
	DMATXCTL = 0x4a80,
	FCTRL = 0x5080,
	VLNCTRL = 0x5088,
	MCSTCTRL = 0x5090,
	MTA = 0x5200,
	RAL0 = 0x5400,
	MRQC = 0x5818,
	RETA = 0x5c00,
	RSSRK = 0x5c80,
	TX_RINGS = 0x6000,
	TQSMR0 = 0x8600,
	QBTC0 = 0x8700,
	SECTXSTAT = 0x8804,
	SECRXSTAT = 0x8d04,
	VFTA = 0xa000,
	RAL16 = 0xa200,
	TFCS = 0xce00,
	RX_RINGS_HIGH = 0xd000,
	FDIRCTRL = 0xee00,
	FDIRCMD = 0xee2c,
	FDIRMATCH = 0xee58,
	FDIRMISS = 0xee5c,
	EEC = 0x10010,
	EERD = 0x10014,
	SWSM = 0x10140,
	FWSM = 0x10148,
	GSSR = 0x10160,
	EITR24 = 0x12300,
};

/* Offsets within a ring's 0x40 bytes. */
enum {
	RING_BAL = 0x00,
	RING_BAH = 0x04,
	RING_LEN = 0x08,
	RING_HEAD = 0x10,
	RING_SRRCTL = 0x14,
	RING_TAIL = 0x18,
	RING_CTL = 0x28,
	RING_PACKETS = 0x30,
	RING_BYTES = 0x34,
	RING_STRIDE = 0x40,
};

#define CTRL_GIO_DISABLE 0x00000004u
#define CTRL_RESET       0x04000008u
#define STATUS_GIO_ON    0x00080000u
#define ESDP_SDP2        0x00000004u /* an SFP module is present */
#define EICR_QUEUES      0x0000ffffu
#define EICR_OTHER       0x7fff0000u
#define EICR_LSC         0x00100000u
#define EICR_ANY_OTHER   0x80000000u
#define GPIE_OCD         0x00000020u /* reads of EICR clear only other causes */
#define GPIE_EIAME       0x40000000u
#define IVAR_VALID       0x80u
#define RDRXCTL_DMAIDONE 0x00000008u
#define RXCTRL_RXEN      0x00000001u
#define FCRT_MASK        0x8007fff0u
#define FCRT_BYTES       0x0007ffe0u
#define FCRTH_FCEN       0x80000000u /* XOFF is sent above the mark, */
#define FCRTL_XONE       0x80000000u /* XON below the other */
#define FCCFG_TFCE       0x00000008u
#define MFLCN_PMCF       0x00000001u /* control frames go to the driver, */
#define MFLCN_DPF        0x00000002u /* but not pause frames */
#define MFLCN_RFCE       0x00000008u
#define TFCS_TXON        0x00000001u
#define RXPBSIZE_BYTES   0x000ffc00u
#define EITR_INTERVAL    0x00000ff8u /* units of 2 us, from bit 3 on */
#define EITR_CNT_WDIS    0x80000000u /* a write leaves the running interval alone */
#define FDIRCTRL_PBALLOC 0x00000003u
#define HLREG0_TXCRCEN   0x00000001u
#define HLREG0_RXCRCSTRP 0x00000002u
#define HLREG0_JUMBOEN   0x00000004u
#define HLREG0_TXPADEN   0x00000400u
#define HLREG0_LPBK      0x00008000u
#define MSCA_COMMAND     0x40000000u
#define MSRWD_NO_PHY     0xffff0000u
#define AUTOC_AN_RESTART 0x00001000u
#define AUTOC_10G_SERIAL (3u << 13)
#define AUTOC2_10G_SFI   (2u << 16)
#define LINKS_UP_10G     0x70000000u
#define ANLP1_AN_STATE   0x00010000u
#define DMATXCTL_TE      0x00000001u
#define FCTRL_MPE        0x00000100u
#define FCTRL_UPE        0x00000200u
#define FCTRL_BAM        0x00000400u
#define VLNCTRL_VFE      0x40000000u
#define MCSTCTRL_MFE     0x00000004u
#define RAH_AV           0x80000000u
#define RAH_MASK         0x8000ffffu
#define MRQC_RSSEN       0x00000001u
#define MRQC_TCP4        0x00010000u
#define MRQC_IP4         0x00020000u
#define MRQC_IP6         0x00100000u
#define MRQC_TCP6        0x00200000u
#define MRQC_UDP4        0x00400000u
#define MRQC_UDP6        0x00800000u
#define SEC_READY_FUSED  0x00000003u /* ready, and IPsec fused off */
#define FDIRCTRL_DONE    0x00000008u
#define FDIRCMD_BUSY     0x00000003u
#define EEC_PRESENT      (0x100u | 0x200u | 0x400u | 4u << 11) /* granted, present, auto-read, size */
#define EERD_DONE        0x00000002u
#define SWSM_SMBI        0x00000001u
#define FWSM_VALID       0x00008000u
#define RING_ENABLE      0x02000000u
#define RING_FLUSH       0x04000000u
#define RXDCTL_VME       0x40000000u
#define SRRCTL_DROP_EN   0x10000000u

/* Advanced transmit descriptors. */
#define TXD_TYPE         0x00f00000u
#define TXD_TYPE_CONTEXT 0x00200000u
#define TXD_EOP          0x01000000u
#define TXD_RS           0x08000000u
#define TXD_VLE          0x40000000u
#define TXD_TSE          0x80000000u
#define TXD_IXSM         0x00000100u
#define TXD_TXSM         0x00000200u
#define TXD_DD           0x00000001u

/* Advanced receive descriptors, write-back: extended status and errors; packet types (shifted left by 4 on
 * the wire). */
#define RXD_DD     0x00000001u
#define RXD_EOP    0x00000002u
#define RXD_VP     0x00000008u
#define RXD_UDPCS  0x00000010u
#define RXD_L4CS   0x00000020u
#define RXD_IPCS   0x00000040u
#define RXD_TCPE   0x40000000u
#define RXD_IPE    0x80000000u
#define RXD_P_IPV4 0x010u
#define RXD_P_IPV6 0x040u
#define RXD_P_TCP  0x100u
#define RXD_P_UDP  0x200u

/* Where the registers of a queue's ring begin. */
static inline unsigned rx_ring_at(unsigned q)
{
	return q < 64 ? RX_RINGS + q * RING_STRIDE : RX_RINGS_HIGH + (q - 64) * RING_STRIDE;
}

static inline unsigned tx_ring_at(unsigned q)
{
	return TX_RINGS + q * RING_STRIDE;
}

#endif
