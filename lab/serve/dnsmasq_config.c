/* SPDX-License-Identifier: GPL-2.0-or-later
 * The configuration that dnsmasq is started with. */
#include "server.h"
#include "log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static void write_hosts(const struct server *s, FILE *out)
{
	json_t *nodes = json_object_get(s->lab, "nodes"), *node;
	bool all_have_mac = true;
	const char *name;

	json_object_foreach (nodes, name, node) {
		const char *mac = json_string_value(json_object_get(node, "mac"));

		if (mac)
			fprintf(out, "dhcp-host=%s\n", mac);
		else
			all_have_mac = false;
	}
	/* A node known by its UUID alone cannot be told apart before it runs iPXE. */
	if (all_have_mac)
		fputs("dhcp-ignore=tag:!known\n", out);
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
		fputs("dhcp-boot=tag:!ipxe,tag:!efi,undionly.kpxe\ndhcp-boot=tag:!ipxe,tag:efi,ipxe.efi\n",
		      out);
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
