/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "factor_text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

const char *const stack_layer_names[STACK_LAYER_COUNT] = {
    [STACK_DM_LINEAR] = "dm-linear", [STACK_LVM] = "lvm",   [STACK_LUKS] = "luks",
    [STACK_DRBD] = "drbd",           [STACK_EXT4] = "ext4", [STACK_XFS] = "xfs",
};

static bool is_file_system(enum stack_layer layer)
{
	return layer == STACK_EXT4 || layer == STACK_XFS;
}

/* The layer whose name is the first LENGTH bytes of NAME, or -EINVAL. */
static int layer_named(const char *name, size_t length)
{
	for (int i = 0; i < STACK_LAYER_COUNT; i++)
		if (strlen(stack_layer_names[i]) == length && !memcmp(stack_layer_names[i], name, length))
			return i;
	return -EINVAL;
}

int factor_stack_layers(const char *stack, enum stack_layer layers[STACK_LAYER_COUNT])
{
	const char *end = stack + strlen(stack);
	unsigned int seen = 0;
	int count = 0;

	if (!strcmp(stack, "raw"))
		return 0;
	while (end >= stack) {
		const char *start = end;
		int layer;

		while (start > stack && start[-1] != '/')
			start--;
		layer = layer_named(start, (size_t)(end - start));
		if (layer < 0 || seen & 1u << layer || (count && is_file_system(layers[count - 1])))
			return -EINVAL;
		seen |= 1u << layer;
		layers[count++] = (enum stack_layer)layer;
		/* Before a first name there is no "/". */
		end = start == stack ? stack - 1 : start - 1;
	}
	return count;
}

unsigned int factor_stack_bits(const char *stack)
{
	enum stack_layer layers[STACK_LAYER_COUNT];
	int count = factor_stack_layers(stack, layers);
	unsigned int bits = 0;

	for (int i = 0; i < count; i++)
		bits |= 1u << layers[i];
	return bits;
}

bool factor_stack_has(const json_t *state, enum stack_layer layer)
{
	return factor_stack_bits(factor_string(state, FACTOR_STACK)) & 1u << layer;
}

bool factor_stack_is_files(const char *stack)
{
	return factor_stack_bits(stack) & (1u << STACK_EXT4 | 1u << STACK_XFS);
}

/* Three whole numbers with one space between them, none smaller than the one before it: what the kernel's
 * files for them say, when tabs are spaces. */
static bool is_triple(const char *text)
{
	char again[96];
	long long a, b, c;

	if (sscanf(text, "%lld %lld %lld", &a, &b, &c) != 3 || a < 1 || b < a || c < b || c > INT_MAX)
		return false;
	snprintf(again, sizeof(again), "%lld %lld %lld", a, b, c);
	return !strcmp(text, again);
}

/* Kernel arguments go into a boot script as they are, and the lab's own must stay what they are. Why they
 * cannot, or NULL. */
static const char *arguments_fault(const char *text)
{
	static const char *const ours[] = {"assay.",  "initrd=", "BOOTIF=", "console=", "init=",
	                                   "rdinit=", "root=",   "panic=",  "quiet",    "loglevel="};

	if (!*text || *text == ' ' || text[strlen(text) - 1] == ' ' || strstr(text, "  "))
		return "takes kernel arguments with one space between them, or default";
	if (strlen(text) >= FACTOR_ARGUMENTS_SIZE)
		return "takes at most 255 bytes";
	if (text[strspn(text, LETTERS " _.,:=+-/@*^~%")])
		return "takes letters, digits, spaces and _.,:=+-/@*^~%";
	for (const char *word = text; *word; word += strcspn(word, " "), word += *word == ' ')
		for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
			if (!strncmp(word, ours[i], strlen(ours[i])))
				return "cannot set what the lab sets itself (assay., console=, panic=, "
				       "init=, "
				       "quiet and so on); consoles belong in the lab file";
	return NULL;
}

static const char *triple_fault(const char *text)
{
	return is_triple(text) ? NULL
	                       : "takes three rising whole numbers with one space between, as \"4096 87380 "
	                         "4194304\", or default";
}

static const char *stack_fault(const char *text)
{
	enum stack_layer layers[STACK_LAYER_COUNT];

	return factor_stack_layers(text, layers) >= 0
	           ? NULL
	           : "takes raw, or layers from the top down with / between, as ext4/drbd/lvm: each of "
	             "dm-linear, lvm, luks, drbd at most once, and ext4 or xfs on top";
}

static const char *cipher_fault(const char *text)
{
	return *text && *text != '-' && strlen(text) < 64 && !text[strspn(text, LETTERS "-_:()")]
	           ? NULL
	           : "takes a cipher as cryptsetup names it: aes-xts-plain64";
}

static const char *mount_fault(const char *text)
{
	static const char *const ours[] = {"ro", "remount", "loop", "bind", "nouuid", "norecovery"};

	if (!*text || strlen(text) >= FACTOR_ARGUMENTS_SIZE || text[strspn(text, LETTERS "_=,.-")] ||
	    strchr(",", text[0]) || text[strlen(text) - 1] == ',' || strstr(text, ",,"))
		return "takes mount options with a comma between, as noatime,commit=30, or default";
	for (const char *word = text; *word; word += strcspn(word, ","), word += *word == ',')
		for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
			if (strcspn(word, ",") == strlen(ours[i]) && !strncmp(word, ours[i], strlen(ours[i])))
				return "cannot take ro, remount, loop, bind, nouuid or norecovery: the file "
				       "system "
				       "is new and is written to";
	return NULL;
}

/* Nothing in it can name a file or another device, nor the UUID that tells our file systems from others'. */
static const char *mkfs_fault(const char *text)
{
	if (*text != '-' || strlen(text) >= FACTOR_ARGUMENTS_SIZE || text[strspn(text, LETTERS " _=,.^-")] ||
	    text[strlen(text) - 1] == ' ' || strstr(text, "  "))
		return "takes options of mkfs with one space between, without paths, as \"-b 4096 -O "
		       "^has_journal\", or default";
	if (strstr(text, "-U") || strstr(text, "uuid="))
		return "cannot set the UUID: Assay's own tells that the file system is nobody's data";
	return NULL;
}

static const char *(*const faults[])(const char *text) = {
    [FACTOR_TEXT_TRIPLE] = triple_fault, [FACTOR_TEXT_ARGUMENTS] = arguments_fault,
    [FACTOR_TEXT_STACK] = stack_fault,   [FACTOR_TEXT_CIPHER] = cipher_fault,
    [FACTOR_TEXT_MOUNT] = mount_fault,   [FACTOR_TEXT_MKFS] = mkfs_fault,
};

int factor_check_text(const struct factor *f, const json_t *level, char *why, size_t why_size)
{
	const char *fault = "takes text";

	if (factor_left_alone(f, level))
		return 0;
	if (json_is_string(level))
		fault = faults[f->form](json_string_value(level));
	if (fault)
		snprintf(why, why_size, "%s %s", f->name, fault);
	return fault ? -EINVAL : 0;
}
