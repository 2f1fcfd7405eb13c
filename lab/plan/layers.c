/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layers.h"

#include "factor.h"

#include <errno.h>
#include <string.h>

/* dm-linear needs none: init talks to the device mapper itself. */
static const struct {
	enum stack_layer stacked;
	const char *layer;
} of_stack[] = {
    {STACK_LVM, "lvm2"},
    {STACK_LUKS, "cryptsetup"},
    {STACK_EXT4, "filesystems"},
    {STACK_XFS, "filesystems"},
};

static const struct {
	enum factor_id factor;
	const char *level, *layer;
} of_level[] = {
    {FACTOR_IRQ_AFFINITY, "irqbalance", "irqbalance"},
};

/* Levels of boot.kernel; the layer has the kernel's modules, and NAME.vmlinuz lies beside it. */
static const struct {
	const char *level, *layer;
} kernels[] = {
    {"debian", "kernel-debian"},
};

static bool has(const json_t *layers, const char *name)
{
	const json_t *one;
	size_t i;

	json_array_foreach ((json_t *)layers, i, one) {
		if (!strcmp(json_string_value(one), name))
			return true;
	}
	return false;
}

static int add(json_t *layers, const char *name)
{
	return has(layers, name) || !json_array_append_new(layers, json_string(name)) ? 0 : -ENOMEM;
}

int layers_of_state(const json_t *state, json_t *layers)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(of_stack) / sizeof(*of_stack) && !r; i++)
		if (factor_stack_has(state, of_stack[i].stacked))
			r = add(layers, of_stack[i].layer);
	for (size_t i = 0; i < sizeof(of_level) / sizeof(*of_level) && !r; i++)
		if (!strcmp(factor_string(state, of_level[i].factor), of_level[i].level))
			r = add(layers, of_level[i].layer);
	return r;
}

const char *layers_kernel_of_state(const json_t *state)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
		if (!strcmp(factor_string(state, FACTOR_BOOT_KERNEL), kernels[i].level))
			return kernels[i].layer;
	return "";
}

const char *layers_kernel(const json_t *loaded)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
		if (has(loaded, kernels[i].layer))
			return kernels[i].layer;
	return "";
}

const char *layers_missing(const json_t *wanted, const json_t *loaded)
{
	const json_t *one;
	size_t i;

	json_array_foreach ((json_t *)wanted, i, one) {
		if (!has(loaded, json_string_value(one)))
			return json_string_value(one);
	}
	return NULL;
}
