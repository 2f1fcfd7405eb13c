/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "layers.h"

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
	const char *level, *layer;
} of_affinity[] = {
    {"irqbalance", "irqbalance"},
};

/* Levels of boot.kernel; the layer has the kernel's modules, and NAME.vmlinuz lies beside it. */
static const struct {
	const char *level, *layer;
} kernels[] = {
    {"debian", "kernel-debian"},
    {"operator", "kernel-operator"},
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

int layers_add(json_t *layers, const char *name)
{
	return has(layers, name) || !json_array_append_new(layers, json_string(name)) ? 0 : -ENOMEM;
}

const enum factor_id layers_factors[LAYERS_FACTORS] = {FACTOR_STACK, FACTOR_IRQ_AFFINITY, FACTOR_BOOT_KERNEL};

int layers_of_levels(const char *const levels[LAYERS_FACTORS], json_t *layers)
{
	unsigned int stack = factor_stack_bits(levels[0]);
	int r = 0;

	for (size_t i = 0; i < sizeof(of_stack) / sizeof(*of_stack) && !r; i++)
		if (stack & 1u << of_stack[i].stacked)
			r = layers_add(layers, of_stack[i].layer);
	for (size_t i = 0; i < sizeof(of_affinity) / sizeof(*of_affinity) && !r; i++)
		if (!strcmp(levels[1], of_affinity[i].level))
			r = layers_add(layers, of_affinity[i].layer);
	return r;
}

int layers_of_state(const json_t *state, json_t *layers)
{
	const char *levels[LAYERS_FACTORS];

	for (size_t i = 0; i < LAYERS_FACTORS; i++)
		levels[i] = factor_string(state, layers_factors[i]);
	return layers_of_levels(levels, layers);
}

const char *layers_kernel_of_level(const char *level)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
		if (!strcmp(level, kernels[i].level))
			return kernels[i].layer;
	return "";
}

const char *layers_kernel_of_state(const json_t *state)
{
	return layers_kernel_of_level(factor_string(state, FACTOR_BOOT_KERNEL));
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
