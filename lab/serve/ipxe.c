/* SPDX-License-Identifier: GPL-2.0-or-later
 * iPXE scripts. */
#include "server.h"
#include "log.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STRANGER_TRIES 60 /* of 10 s */

/* aa:bb:cc:dd:ee:ff from what iPXE or an operator writes: either case, ':' or '-'. */
static bool parse_mac(const char *text, char mac[18])
{
	for (size_t i = 0; i < 17; i++) {
		char c = (char)tolower((unsigned char)text[i]);

		if (i % 3 == 2 ? c != ':' && c != '-' : !isxdigit((unsigned char)c))
			return false;
		mac[i] = i % 3 == 2 ? ':' : c;
	}
	mac[17] = '\0';
	return text[17] == '\0';
}

static bool parse_uuid(const char *text, char uuid[37])
{
	for (size_t i = 0; i < 36; i++) {
		char c = (char)tolower((unsigned char)text[i]);

		if (i == 8 || i == 13 || i == 18 || i == 23 ? c != '-' : !isxdigit((unsigned char)c))
			return false;
		uuid[i] = c;
	}
	uuid[36] = '\0';
	return text[36] == '\0';
}

static void script_chain(const struct server *s, FILE *out)
{
	fprintf(out,
	        "#!ipxe\n"
	        ":again\n"
	        "chain --replace --autofree %s/boot.ipxe?mac=${netX/mac}&uuid=${uuid} || goto failed\n"
	        ":failed\n"
	        "echo assay: %s does not answer; trying again in 5 s\n"
	        "sleep 5\n"
	        "goto again\n",
	        s->url, s->url);
}

static void script_stranger(const struct server *s, FILE *out, const char *mac, const char *uuid,
                            unsigned int try)
{
	fprintf(out,
	        "#!ipxe\n"
	        "echo\n"
	        "echo assay: this machine is not in the lab file of %s.\n"
	        "echo   MAC %s  UUID %s\n"
	        "echo To let it take part, add to nodes in the lab file, and its name to a group:\n"
	        "echo   NAME:\n"
	        "echo     mac: %s\n"
	        "echo     storage_nics: [...]\n"
	        "echo     disk: {serial: ..., consent: wipe, min_bytes: ..., max_bytes: ...}\n"
	        "echo and restart assay serve.\n",
	        s->url, mac, *uuid ? uuid : "unknown", mac);
	if (try >= STRANGER_TRIES) {
		fprintf(out,
		        "echo assay: gives up; the firmware goes on with its next boot device.\nexit 1\n");
		return;
	}
	fprintf(out,
	        "echo Asking again in 10 s (%u of %u).\n"
	        "sleep 10\n"
	        ":again\n"
	        "chain --replace --autofree %s/boot.ipxe?mac=%s&uuid=%s&try=%u || sleep 10 && goto again\n"
	        "goto again\n",
	        try + 1, STRANGER_TRIES, s->url, mac, uuid, try + 1);
}

static void write_console(FILE *out, const json_t *node)
{
	const json_t *consoles = json_object_get(node, "console");
	json_t *console;
	size_t i;

	if (!json_array_size(consoles)) {
		fputs(" console=tty0 console=ttyS0,115200", out);
		return;
	}
	json_array_foreach (consoles, i, console) {
		const char *name = json_string_value(console);

		fprintf(out, " console=%s%s", name,
		        !strncmp(name, "ttyS", 4) && !strchr(name, ',') ? ",115200" : "");
	}
}

static void script_boot(const struct server *s, FILE *out, const char *name, const char *mac,
                        const char *uuid, const char *token, const struct boot_wish *wish,
                        const char *initramfs)
{
	const json_t *node = json_object_get(json_object_get(s->lab, "nodes"), name);
	const json_t *arguments = json_object_get(node, "kernel_arguments");
	char dashes[18];
	const json_t *argument, *layer;
	size_t i;

	strcpy(dashes, mac);
	for (char *c = dashes; *c; c++)
		if (*c == ':')
			*c = '-';
	fprintf(out,
	        "#!ipxe\n"
	        "echo assay: this is node %s (%s)\n"
	        "set gateway-argument\n"
	        "isset ${netX/gateway} && set gateway-argument ,${netX/gateway} ||\n"
	        "kernel %s/image/%s%s%s initrd=%s",
	        name, mac, s->url, *wish->kernel ? "layers/" : "", wish->kernel,
	        *wish->kernel ? ".vmlinuz" : "vmlinuz", initramfs);
	if (*wish->kernel)
		fprintf(out, " initrd=%s.cpio.zst", wish->kernel);
	/* What the kernel's EFI stub needs, which knows initrds by their names. */
	json_array_foreach ((json_t *)wish->layers, i, layer) {
		fprintf(out, " initrd=%s.cpio.zst", json_string_value(layer));
	}
	write_console(out, node);
	fprintf(out,
	        " panic=10 quiet loglevel=3 assay.server=%s assay.token=%s "
	        "assay.ip=${netX/ip}/%u${gateway-argument} "
	        "BOOTIF=01-%s",
	        s->url, token, s->prefix, dashes);
	json_array_foreach ((json_t *)arguments, i, argument)
		fprintf(out, " %s", json_string_value(argument));
	if (*wish->arguments)
		fprintf(out, " %s", wish->arguments);
	fprintf(out, " || goto failed\ninitrd %s/image/%s || goto failed\n", s->url, initramfs);
	if (*wish->kernel)
		fprintf(out, "initrd %s/image/layers/%s.cpio.zst || goto failed\n", s->url, wish->kernel);
	json_array_foreach ((json_t *)wish->layers, i, layer) {
		fprintf(out, "initrd %s/image/layers/%s.cpio.zst || goto failed\n", s->url,
		        json_string_value(layer));
	}
	fprintf(out,
	        "boot || goto failed\n"
	        ":failed\n"
	        "echo assay: kernel or initramfs of %s cannot be loaded; trying again in 5 s\n"
	        "imgfree ||\n"
	        "sleep 5\n"
	        "chain --replace --autofree %s/boot.ipxe?mac=%s&uuid=%s || goto failed\n",
	        s->url, s->url, mac, uuid);
}

static void script_trouble(const struct server *s, FILE *out, const char *what)
{
	fprintf(out,
	        "#!ipxe\n"
	        "echo assay: the server cannot give this node an image: %s\n"
	        ":again\n"
	        "sleep 5\n"
	        "chain --replace --autofree %s/boot.ipxe || goto again\n",
	        what, s->url);
}

/* What NODE shall boot with, to *WISH; the first of its layers that the image folder lacks, or NULL. */
static const char *missing_layer(const struct server *s, const char *node, struct boot_wish *wish)
{
	const json_t *layer;
	size_t i;

	*wish = conductor_wish(s->conductor, node);
	if (*wish->kernel &&
	    (!image_has_layer(s, wish->kernel, ".vmlinuz") || !image_has_layer(s, wish->kernel, ".cpio.zst")))
		return wish->kernel;
	json_array_foreach ((json_t *)wish->layers, i, layer) {
		if (!image_has_layer(s, json_string_value(layer), ".cpio.zst"))
			return json_string_value(layer);
	}
	return NULL;
}

static void write_script(struct server *s, struct request *rq, FILE *out, const char *mac, const char *uuid)
{
	const char *initramfs = image_initramfs(s), *try = request_argument(rq, "try"), *missing;
	struct boot_wish wish;
	char token[33];
	int r;

	pthread_mutex_lock(&s->lock);
	const char *name = conductor_who(s->conductor, mac, *uuid ? uuid : NULL);
	if (!name) {
		conductor_stranger(s->conductor, moment_now(), mac, uuid);
		if (!try)
			log_seldom(NULL, "boot", "%s (UUID %s) asked to boot; it is not in the lab file", mac,
			           *uuid ? uuid : "unknown");
		script_stranger(s, out, mac, uuid, try ? (unsigned int)strtoul(try, NULL, 10) : 0);
	} else if ((r = neighbour_check(s, rq->address, mac))) {
		log_seldom(name, "boot", "%s asked for its script in the name of %s and %s: it gets no token",
		           inet_ntoa(rq->address), mac,
		           r == -EPERM ? "has another MAC" : "is not known on the lab's interface");
		script_trouble(s, out,
		               "the request did not come by the NIC that it names, or not through the "
		               "interface that server.interface of the lab file names");
	} else if (!initramfs) {
		log_event(name, "boot", "no initramfs.cpio.* in %s", s->image_dir);
		script_trouble(s, out, "no initramfs in its image folder (run make image)");
	} else if ((missing = missing_layer(s, name, &wish))) {
		log_event(name, "boot", "no layer %s in %s", missing, s->image_dir);
		script_trouble(s, out, "no such layer in its image folder (run make layers)");
		conductor_no_layer(s->conductor, moment_now(), name, missing);
	} else if (conductor_token(s->conductor, moment_now(), name, mac, &wish, token)) {
		log_seldom(name, "boot", "no token: %s", store_message(s->store));
		script_trouble(s, out, "its database cannot be written");
	} else {
		log_event(name, "boot", "%s fetches its boot script%s%s", mac,
		          *wish.arguments ? " with " : "", wish.arguments);
		script_boot(s, out, name, mac, uuid, token, &wish, initramfs);
	}
	pthread_mutex_unlock(&s->lock);
}

void ipxe_boot(struct server *s, struct request *rq)
{
	const char *mac_text = request_argument(rq, "mac"), *uuid_text = request_argument(rq, "uuid");
	char mac[18], uuid[37];
	size_t size;
	FILE *out;

	if (mac_text && !parse_mac(mac_text, mac)) {
		request_error(rq, 400, "mac is not a MAC address");
		return;
	}
	if (!uuid_text || !parse_uuid(uuid_text, uuid))
		uuid[0] = '\0';
	out = open_memstream(&rq->text, &size);
	if (!out) {
		request_error(rq, 500, "out of memory");
		return;
	}
	if (mac_text)
		write_script(s, rq, out, mac, uuid);
	else
		script_chain(s, out);
	fclose(out);
	rq->status = 200;
}
