/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The PCI Express function, and how it gets into an unmodified QEMU (LD_PRELOAD). */
#include "ixgbe.h"
#include "qapi/error.h"
#include "qemu/module.h"
#include "hw/pci/msi.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci_bus.h"
#include "hw/pci/pcie.h"
#include "hw/qdev-properties.h"

/*
 * LD_PRELOAD is inherited by programs that are no QEMU. They start unharmed if data symbols are weak and
 * functions are bound lazily (do not link with -z now).
 */
#pragma weak qdev_prop_bool
#pragma weak qdev_prop_macaddr
#pragma weak qdev_prop_netdev

/* A test builds the model with a skew, as if QEMU's structures had changed. */
#ifndef ABI_SKEW
#define ABI_SKEW 0
#endif

#define DEVICE_82599_SFP 0x10fb
#define SUBSYSTEM_X520_2 0x0003
#define LINK_5GT_X8      0x82

/* The driver has the capabilities' offsets wired in. */
enum {
	CAP_PM = 0x40,
	CAP_MSI = 0x50,
	CAP_MSIX = 0x70,
	CAP_EXPRESS = 0xa0,
	CAP_AER = 0x100,
	CAP_SERIAL = 0x140
};
enum { BAR_REGISTERS = 0, BAR_IO = 2, BAR_MSIX = 4, MSIX_PBA_AT = 0x2000, MSIX_BAR_BYTES = 0x4000 };

static void add_bars(PCIDevice *d, IxgbeState *s)
{
	int memory = PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH;

	memory_region_init_io(&s->bar0, OBJECT(d), &registers_ops, s, "ixgbe-registers", REG_BYTES);
	pci_register_bar(d, BAR_REGISTERS, memory, &s->bar0);
	memory_region_init(&s->io_bar, OBJECT(d), "ixgbe-io", 32);
	pci_register_bar(d, BAR_IO, PCI_BASE_ADDRESS_SPACE_IO, &s->io_bar);
	memory_region_init(&s->msix_bar, OBJECT(d), "ixgbe-msix", MSIX_BAR_BYTES);
	pci_register_bar(d, BAR_MSIX, memory, &s->msix_bar);
}

static bool add_interrupts(PCIDevice *d, IxgbeState *s, Error **errp)
{
	pci_set_byte(d->config + PCI_INTERRUPT_PIN, 1);
	if (s->fault.interrupts == INTERRUPTS_INTX)
		return true;
	if (msi_init(d, CAP_MSI, 1, true, true, errp) < 0)
		return false;
	if (s->fault.interrupts == INTERRUPTS_MSI)
		return true;
	if (msix_init(d, VECTORS, &s->msix_bar, BAR_MSIX, 0, &s->msix_bar, BAR_MSIX, MSIX_PBA_AT, CAP_MSIX,
	              errp) < 0)
		return false;
	for (int i = 0; i < VECTORS; i++)
		msix_vector_use(d, i);
	return true;
}

static bool add_capabilities(PCIDevice *d, Error **errp)
{
	if (pci_add_capability(d, PCI_CAP_ID_PM, CAP_PM, PCI_PM_SIZEOF, errp) < 0)
		return false;
	pci_set_word(d->config + CAP_PM + PCI_PM_PMC, 3 | PCI_PM_CAP_DSI);
	pci_set_word(d->wmask + CAP_PM + PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK);
	if (!pci_bus_is_express(pci_get_bus(d)))
		return true;
	pcie_endpoint_cap_init(d, CAP_EXPRESS);
	if (!pci_bus_is_root(pci_get_bus(d))) {
		pci_set_long(d->config + CAP_EXPRESS + PCI_EXP_LNKCAP, LINK_5GT_X8);
		pci_set_word(d->config + CAP_EXPRESS + PCI_EXP_LNKSTA, faults_pcie_link(IXGBE(d)));
	}
	/* The first extended capability has to be at 0x100. */
	if (pcie_aer_init(d, PCI_ERR_VER, CAP_AER, PCI_ERR_SIZEOF, errp) < 0)
		return false;
	pcie_dev_ser_num_init(d, CAP_SERIAL, 0x001b21ffff000001ull);
	return true;
}

static void realize(PCIDevice *d, Error **errp)
{
	IxgbeState *s = IXGBE(d);

	add_bars(d, s);
	if (!add_capabilities(d, errp) || !add_interrupts(d, s, errp))
		return;
	irq_init(s);
	pause_init(s);
	wire_init(s);
	eeprom_fill(s->eeprom);
	sfp_fill(&s->sfp, s->fault.sfp);
	registers_reset(s);
}

static void leave(PCIDevice *d)
{
	IxgbeState *s = IXGBE(d);

	wire_free(s);
	pause_free(s);
	irq_free(s);
	msix_uninit(d, &s->msix_bar, &s->msix_bar);
	msi_uninit(d);
	tx_free(s);
}

static void power_on_reset(DeviceState *dev)
{
	IxgbeState *s = IXGBE(dev);

	REG(s, SWSM) = REG(s, GSSR) = 0;
	registers_reset(s);
}

static Property properties[] = {
    DEFINE_NIC_PROPERTIES(IxgbeState, conf),
    DEFINE_PROP_BOOL("trace", IxgbeState, trace, false),
    DEFINE_PROP_END_OF_LIST(),
};

/* The headers this was built with have to be those of the QEMU it runs in: a security update may have changed
 * them. */
static void check_abi(void)
{
	static const struct {
		const char *type;
		size_t bytes;
	} checks[] = {
	    {TYPE_PCI_DEVICE, sizeof(PCIDevice) + ABI_SKEW},
	    {TYPE_DEVICE, sizeof(DeviceState)},
	    {TYPE_MEMORY_REGION, sizeof(MemoryRegion)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		size_t bytes = object_type_get_instance_size(checks[i].type);

		if (bytes == checks[i].bytes)
			continue;
		fprintf(stderr, "ixgbe82599: this QEMU's %s has %zu bytes, the model was built for %zu\n",
		        checks[i].type, bytes, checks[i].bytes);
		exit(1);
	}
}

static void class_init(ObjectClass *oc, void *data)
{
	DeviceClass *dc = DEVICE_CLASS(oc);
	PCIDeviceClass *k = PCI_DEVICE_CLASS(oc);

	check_abi();
	k->realize = realize;
	k->exit = leave;
	k->vendor_id = PCI_VENDOR_ID_INTEL;
	k->device_id = DEVICE_82599_SFP;
	k->subsystem_vendor_id = PCI_VENDOR_ID_INTEL;
	k->subsystem_id = SUBSYSTEM_X520_2;
	k->revision = 1;
	k->class_id = PCI_CLASS_NETWORK_ETHERNET;
	dc->reset = power_on_reset;
	dc->desc = "Intel 82599ES 10-Gigabit SFI/SFP+";
	device_class_set_props(dc, properties);
	faults_class_init(oc);
	set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
}

static const TypeInfo type = {
    .name = TYPE_IXGBE,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(IxgbeState),
    .class_init = class_init,
    .interfaces =
        (InterfaceInfo[]){
            {INTERFACE_PCIE_DEVICE},
            {},
        },
};

static void register_types(void)
{
	type_register_static(&type);
}

extern void register_module_init(void (*fn)(void), module_init_type type) __attribute__((weak));

/* Runs before QEMU's own constructors, which is fine: the list of modules sets itself up when first used. */
static void __attribute__((constructor)) preload(void)
{
	if (register_module_init)
		register_module_init(register_types, MODULE_INIT_QOM);
}
