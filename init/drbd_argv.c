/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drbd_argv.h"

#include "disk_signature.h"
#include "factor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SOCKET_CHECK "socket-check-timeout"

__attribute__((format(printf, 2, 3))) static void put(struct drbd_argv *out, const char *format, ...)
{
	size_t room = sizeof(out->text) - out->used;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(out->text + out->used, room, format, args);
	va_end(args);
	/* One too many: count stays beyond the end, which drbd_argv() tells. */
	if (n < 0 || (size_t)n >= room || out->count + 1 >= sizeof(out->argv) / sizeof(*out->argv)) {
		out->count = sizeof(out->argv) / sizeof(*out->argv);
		return;
	}
	out->argv[out->count++] = out->text + out->used;
	out->used += (size_t)n + 1;
}

/* "--max-buffers=2048" for every factor whose name starts with PREFIX. */
static void put_options(struct drbd_argv *out, const struct drbd_setup *setup, const char *prefix)
{
	for (size_t i = 0; i < FACTOR_COUNT; i++) {
		const struct factor *f = &factors[i];

		if (!f->drbdsetup_option[0] || strncmp(f->name, prefix, strlen(prefix)) ||
		    factor_left_alone(f, json_object_get(setup->state, f->name)))
			continue;
		if (f->levels)
			put(out, "--%s=%s", f->drbdsetup_option,
			    factor_string(setup->state, (enum factor_id)i));
		else
			put(out, "--%s=%lld", f->drbdsetup_option,
			    factor_integer(setup->state, (enum factor_id)i));
	}
}

static void put_ends(struct drbd_argv *out, const struct drbd_setup *setup)
{
	put(out, "ipv4:%s:%u", setup->address, setup->port);
	put(out, "ipv4:%s:%u", setup->peer_address, setup->port);
}

static void put_meta(struct drbd_argv *out, const struct drbd_setup *setup)
{
	put(out, "drbdmeta");
	put(out, "--force");
	put(out, DRBD_MINOR);
	put(out, "v08");
	put(out, "%s", setup->disk);
	put(out, "internal");
}

static void create_md(const struct drbd_setup *setup, struct drbd_argv *out)
{
	put_meta(out, setup);
	put(out, "create-md");
}

static void mark_md(const struct drbd_setup *setup, struct drbd_argv *out)
{
	put_meta(out, setup);
	put(out, "write-dev-uuid");
	put(out, "%010llX%06X", ASSAY_DEVICE_UUID_PREFIX, setup->mark & 0xffffff);
}

/* "drbdsetup-84 VERB OBJECT [OPTION]", OBJECT and OPTION as given. */
static void put_simple(struct drbd_argv *out, const char *verb, const char *object, const char *option)
{
	put(out, "drbdsetup-84");
	put(out, "%s", verb);
	if (object)
		put(out, "%s", object);
	if (option)
		put(out, "%s", option);
}

static void new_resource(const struct drbd_setup *setup, struct drbd_argv *out)
{
	long long cpus = factor_integer(setup->state, FACTOR_CPU_DRBD);

	put_simple(out, "new-resource", DRBD_RESOURCE, NULL);
	if (cpus)
		put(out, "--cpu-mask=%llx", cpus);
}

static void new_minor(const struct drbd_setup *setup, struct drbd_argv *out)
{
	(void)setup;
	put_simple(out, "new-minor", DRBD_RESOURCE, DRBD_MINOR);
	put(out, "0");
}

static void attach(const struct drbd_setup *setup, struct drbd_argv *out)
{
	put_simple(out, "attach", DRBD_MINOR, setup->disk);
	put(out, "%s", setup->disk);
	put(out, "internal");
	put_options(out, setup, "drbd.disk.");
}

static void do_connect(const struct drbd_setup *setup, struct drbd_argv *out)
{
	put_simple(out, "connect", DRBD_RESOURCE, NULL);
	put_ends(out, setup);
	/* How long both sockets must have stood before they are used, in 0.1 s: by itself DRBD waits for its
	 * ping-timeout, half a second. */
	put(out, "--" SOCKET_CHECK "=1");
	put_options(out, setup, "drbd.net.");
}

static void skip_sync(const struct drbd_setup *setup, struct drbd_argv *out)
{
	(void)setup;
	put_simple(out, "new-current-uuid", DRBD_MINOR, "--clear-bitmap");
}

static void primary(const struct drbd_setup *setup, struct drbd_argv *out)
{
	(void)setup;
	put_simple(out, "primary", DRBD_MINOR, NULL);
}

static void primary_force(const struct drbd_setup *setup, struct drbd_argv *out)
{
	(void)setup;
	put_simple(out, "primary", DRBD_MINOR, "--force");
}

static void secondary(const struct drbd_setup *setup, struct drbd_argv *out)
{
	(void)setup;
	put_simple(out, "secondary", DRBD_MINOR, NULL);
}

static void invalidate_remote(const struct drbd_setup *setup, struct drbd_argv *out)
{
	(void)setup;
	put_simple(out, "invalidate-remote", DRBD_MINOR, NULL);
}

static void verify(const struct drbd_setup *setup, struct drbd_argv *out)
{
	(void)setup;
	put_simple(out, "verify", DRBD_MINOR, NULL);
}

static void disconnect(const struct drbd_setup *setup, struct drbd_argv *out)
{
	put_simple(out, "disconnect", NULL, NULL);
	put_ends(out, setup);
}

static void down(const struct drbd_setup *setup, struct drbd_argv *out)
{
	(void)setup;
	put_simple(out, "down", DRBD_RESOURCE, NULL);
}

static void show(const struct drbd_setup *setup, struct drbd_argv *out)
{
	(void)setup;
	put_simple(out, "show", DRBD_RESOURCE, "--show-defaults");
}

static void generation(const struct drbd_setup *setup, struct drbd_argv *out)
{
	(void)setup;
	put_simple(out, "get-gi", DRBD_MINOR, NULL);
}

typedef void step_argv(const struct drbd_setup *setup, struct drbd_argv *out);

static step_argv *const steps[DRBD_STEP_COUNT] = {
    [DRBD_CREATE_MD] = create_md,
    [DRBD_MARK_MD] = mark_md,
    [DRBD_NEW_RESOURCE] = new_resource,
    [DRBD_NEW_MINOR] = new_minor,
    [DRBD_ATTACH] = attach,
    [DRBD_CONNECT] = do_connect,
    [DRBD_SKIP_SYNC] = skip_sync,
    [DRBD_PRIMARY] = primary,
    [DRBD_PRIMARY_FORCE] = primary_force,
    [DRBD_SECONDARY] = secondary,
    [DRBD_INVALIDATE_REMOTE] = invalidate_remote,
    [DRBD_VERIFY] = verify,
    [DRBD_DISCONNECT] = disconnect,
    [DRBD_DOWN] = down,
    [DRBD_SHOW] = show,
    [DRBD_GENERATION] = generation,
};

int drbd_argv(enum drbd_step step, const struct drbd_setup *setup, struct drbd_argv *out)
{
	memset(out, 0, sizeof(*out));
	steps[step](setup, out);
	return out->count >= sizeof(out->argv) / sizeof(*out->argv) ? -E2BIG : 0;
}

bool drbd_refuses_level(enum drbd_step step, const char *output)
{
	/* drbdsetup's own words, and those it has for the kernel's error codes (drbd_strings of drbd-utils).
	 */
	static const char *const words[] = {
	    "invalid argument '",  "out of range",     "unrecognized option", "is not a valid number",
	    "UnknownMandatoryTag", "Invalid cpu-mask", "only with prot",
	};

	if (step != DRBD_NEW_RESOURCE && step != DRBD_ATTACH && step != DRBD_CONNECT)
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(output, words[i]))
			return true;
	return false;
}

struct text {
	char *buf;
	size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->buf + t->used, t->size - t->used, format, args);
	va_end(args);
	if (n > 0)
		t->used += (size_t)n < t->size - t->used ? (size_t)n : t->size - t->used - 1;
}

static void add_section(struct text *t, const struct drbd_setup *setup, enum drbd_version version,
                        const char *name, const char *prefix)
{
	add(t, "\t%s {\n", name);
	if (!strcmp(name, "net"))
		add(t, "\t\t" SOCKET_CHECK " 1;\n");
	for (size_t i = 0; i < FACTOR_COUNT; i++) {
		const struct factor *f = &factors[i];

		if (!f->drbdsetup_option[0] || strncmp(f->name, prefix, strlen(prefix)) ||
		    factor_left_alone(f, json_object_get(setup->state, f->name)))
			continue;
		/* Gone with 9.0. */
		if (version == DRBD_9 && i == FACTOR_DRBD_UNPLUG)
			add(t, "\t\t# only in DRBD 8.4: ");
		else
			add(t, "\t\t");
		if (f->levels)
			add(t, "%s %s;\n", f->drbdsetup_option,
			    factor_string(setup->state, (enum factor_id)i));
		else
			add(t, "%s %lld;\n", f->drbdsetup_option,
			    factor_integer(setup->state, (enum factor_id)i));
	}
	add(t, "\t}\n");
}

void drbd_conf(const struct drbd_setup *setup, enum drbd_version version, char *buf, size_t size)
{
	struct text t = {.buf = buf, .size = size};

	buf[0] = '\0';
	add(&t, "resource " DRBD_RESOURCE " {\n");
	if (factor_relevant(&factors[FACTOR_DRBD_PROTOCOL], setup->state))
		add_section(&t, setup, version, "net", "drbd.net.");
	add_section(&t, setup, version, "disk", "drbd.disk.");
	if (factor_integer(setup->state, FACTOR_CPU_DRBD))
		add(&t, "\toptions {\n\t\tcpu-mask %llx;\n\t}\n",
		    factor_integer(setup->state, FACTOR_CPU_DRBD));
	add(&t, "\tdevice " DRBD_DEVICE " minor " DRBD_MINOR ";\n\tmeta-disk internal;\n");
	add(&t, "\ton %s { disk %s; address ipv4 %s:%u; }\n", setup->node, setup->disk, setup->address,
	    setup->port);
	if (setup->peer[0])
		add(&t, "\ton %s { disk %s; address ipv4 %s:%u; }\n", setup->peer, "/dev/DISK_OF_THE_PEER",
		    setup->peer_address, setup->port);
	add(&t, "}\n");
}
