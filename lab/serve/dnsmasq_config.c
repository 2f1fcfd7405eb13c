/* SPDX-License-Identifier: GPL-2.0-or-later
 * The configuration that dnsmasq is started with. */
#include "server.h"
#include "log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* A client that sends UUID (RFC 4578, option 97) is listed. Firmware sends its first three fields as SMBIOS
 * has them, last byte first; others as they are read: both are taken. */
static void write_uuid(const char *uuid, FILE *out)
{
	static const unsigned char orders[2][16] = {
	    {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15},
	    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	};
	char digits[33] = "";
	size_t n = 0;

	for (const char *c = uuid; *c && n < 32; c++)
		if (*c != '-')
			digits[n++] = *c;
	for (size_t o = 0; o < 2; o++) {
		fputs("dhcp-match=set:listed,97,00", out);
		for (size_t i = 0; i < 16; i++)
			fprintf(out, ":%.2s", digits + 2 * (size_t)orders[o][i]);
		fputc('\n', out);
	}
}

/* Nobody is answered but the nodes of the lab file: the office must not boot from here. */
static void write_hosts(const struct server *s, FILE *out)
{
	json_t *nodes = json_object_get(s->lab, "nodes"), *node;
	const char *name;

	json_object_foreach (nodes, name, node) {
		const char *mac = json_string_value(json_object_get(node, "mac"));
		const char *uuid = json_string_value(json_object_get(node, "uuid"));

		if (mac)
			fprintf(out, "dhcp-host=%s\n", mac);
		else if (uuid)
			write_uuid(uuid, out);
	}
	fputs("dhcp-ignore=tag:!known,tag:!listed\n", out);
}

static void write_boot(const struct server *s, FILE *out, bool proxy)
{
	char tftp[4096];
	struct stat st;

	snprintf(tftp, sizeof(tftp), "%s/ipxe", s->image_dir);
	bool have_tftp = !stat(tftp, &st) && S_ISDIR(st.st_mode);
	if (have_tftp)
		fprintf(out, "enable-tftp\ntftp-root=%s\ntftp-no-fail\n", tftp);
	else
		log_event(NULL, "dnsmasq", "%s is missing: only nodes with an iPXE of their own can boot",
		          tftp);
	fputs("dhcp-match=set:ipxe,175\n"
	      "dhcp-match=set:efi,option:client-arch,7\n"
	      "dhcp-match=set:efi,option:client-arch,9\n"
	      "dhcp-match=set:http,option:client-arch,16\n"
	      /* iPXE shall not wait for a PXE boot server */
	      "dhcp-option=tag:ipxe,encap:175,176,1b\n",
	      out);
	if (proxy) {
		fprintf(out, "pxe-service=tag:ipxe,x86PC,Assay,%s/boot.ipxe\n", s->url);
		fprintf(out, "pxe-service=tag:ipxe,X86-64_EFI,Assay,%s/boot.ipxe\n", s->url);
		if (have_tftp)
			fputs("pxe-service=tag:!ipxe,x86PC,Assay,undionly.kpxe\n"
			      "pxe-service=tag:!ipxe,X86-64_EFI,Assay,ipxe.efi\n"
			      "pxe-service=tag:!ipxe,BC_EFI,Assay,ipxe.efi\n",
			      out);
	}
	fprintf(out, "dhcp-boot=tag:ipxe,%s/boot.ipxe\n", s->url);
	if (have_tftp && !proxy)
		fprintf(
		    out,
		    "dhcp-boot=tag:!ipxe,tag:!efi,tag:!http,undionly.kpxe\n"
		    "dhcp-boot=tag:!ipxe,tag:efi,ipxe.efi\n"
		    /* UEFI 2.10, 24.7: HTTP boot takes an answer that names its vendor class, and a URL. */
		    "dhcp-option-force=tag:http,option:vendor-class,HTTPClient\n"
		    "dhcp-boot=tag:!ipxe,tag:http,%s/image/ipxe/ipxe.efi\n",
		    s->url);
}

int dnsmasq_config(const struct server *s, const char *path, bool proxy)
{
	const json_t *server = json_object_get(s->lab, "server");
	const json_t *range = json_object_get(server, "dhcp_range");
	struct in_addr address, mask = {.s_addr = htonl(s->prefix ? ~(uint32_t)0 << (32 - s->prefix) : 0)};
	char netmask[INET_ADDRSTRLEN], network[INET_ADDRSTRLEN];
	FILE *out = fopen(path, "we");

	if (!out) {
		fprintf(stderr, "assay serve: %s: %s\n", path, strerror(errno));
		return -EIO;
	}
	inet_pton(AF_INET, s->address, &address);
	address.s_addr &= mask.s_addr;
	inet_ntop(AF_INET, &mask, netmask, sizeof(netmask));
	inet_ntop(AF_INET, &address, network, sizeof(network));
	fprintf(out,
	        "# Written by assay serve; changes are lost.\n"
	        "port=0\n"
	        "interface=%s\n"
	        "except-interface=lo\n"
	        "bind-interfaces\n"
	        "no-ping\n"
	        "no-resolv\n"
	        "no-hosts\n"
	        "log-facility=-\n"
	        "dhcp-leasefile=%s/dnsmasq.leases\n"
	        "pid-file=\n"
	        /* Its files may lie where only root can read; it is bound to the lab's interface. */
	        "user=root\n"
	        "group=root\n"
	        "dhcp-option=3\n"
	        "dhcp-option=6\n",
	        json_string_value(json_object_get(server, "interface")), s->run_dir);
	if (proxy)
		fprintf(out, "dhcp-range=%s,proxy,%s\n", network, netmask);
	else
		fprintf(out, "dhcp-authoritative\ndhcp-range=%s,%s,%s,168h\n",
		        json_string_value(json_array_get(range, 0)),
		        json_string_value(json_array_get(range, 1)), netmask);
	write_hosts(s, out);
	write_boot(s, out, proxy);
	if (fclose(out)) {
		fprintf(stderr, "assay serve: %s: %s\n", path, strerror(errno));
		return -EIO;
	}
	return 0;
}
