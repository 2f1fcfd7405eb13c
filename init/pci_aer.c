/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pci_aer.h"

#include "file.h"

#include <stdlib.h>
#include <string.h>

const char *const pci_aer_kinds[PCI_AER_KINDS] = {"correctable", "nonfatal", "fatal"};

long long pci_aer_errors(const char *device, unsigned int kind)
{
	char text[1024];
	const char *sum;

	/* "RxErr 3\n…\nTOTAL_ERR_COR 3\n": the last line has the sum. */
	read_file_at(text, sizeof(text), "%s/aer_dev_%s", device, pci_aer_kinds[kind]);
	sum = strstr(text, "TOTAL_ERR_");
	return sum ? strtoll(sum + strcspn(sum, " "), NULL, 10) : -1;
}
