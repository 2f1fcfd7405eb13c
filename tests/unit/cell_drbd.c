/* SPDX-License-Identifier: GPL-2.0-or-later
 * DRBD's commands for every level of every factor, and what is read back. */
#include "drbd.h"
#include "drbd_argv.h"
#include "drbd_state.h"

#include "command.h"
#include "evidence.h"
#include "factor.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct drbd_setup setup_of(const json_t *state)
{
	return (struct drbd_setup){
	    .disk = "/dev/vda",
	    .node = "alpha",
	    .peer = "beta",
	    .address = "10.99.0.1",
	    .peer_address = "10.99.0.2",
	    .port = 7788,
	    .mark = 0xabcdef,
	    .state = state,
	};
}

static json_t *drbd_state_of(void)
{
	json_t *part = json_pack("{s:s}", "stack", "drbd"), *state = factor_complete_state(part);

	json_decref(part);
	return state;
}

static void expect(enum drbd_step step, const struct drbd_setup *setup, const char *text)
{
	struct drbd_argv argv;
	char got[2048];

	assert_int_equal(drbd_argv(step, setup, &argv), 0);
	command_text(argv.argv, got, sizeof(got));
	assert_string_equal(got, text);
}

static void test_commands(void **state)
{
	json_t *cell = drbd_state_of();
	struct drbd_setup setup = setup_of(cell);

	(void)state;
	expect(DRBD_CREATE_MD, &setup, "drbdmeta --force 0 v08 /dev/vda internal create-md");
	expect(DRBD_MARK_MD, &setup,
	       "drbdmeta --force 0 v08 /dev/vda internal write-dev-uuid 4153534159ABCDEF");
	expect(DRBD_NEW_RESOURCE, &setup, "drbdsetup-84 new-resource assay");
	expect(DRBD_NEW_MINOR, &setup, "drbdsetup-84 new-minor assay 0 0");
	expect(DRBD_ATTACH, &setup,
	       "drbdsetup-84 attach 0 /dev/vda /dev/vda internal --disk-barrier=no --disk-flushes=yes "
	       "--disk-drain=yes --md-flushes=yes --al-extents=1237");
	expect(DRBD_CONNECT, &setup,
	       "drbdsetup-84 connect assay ipv4:10.99.0.1:7788 ipv4:10.99.0.2:7788 --socket-check-timeout=1 "
	       "--protocol=C "
	       "--max-buffers=2048 --max-epoch-size=2048 --sndbuf-size=0 --rcvbuf-size=0 "
	       "--unplug-watermark=128 --tcp-cork=yes");
	expect(DRBD_SKIP_SYNC, &setup, "drbdsetup-84 new-current-uuid 0 --clear-bitmap");
	expect(DRBD_PRIMARY, &setup, "drbdsetup-84 primary 0");
	expect(DRBD_PRIMARY_FORCE, &setup, "drbdsetup-84 primary 0 --force");
	expect(DRBD_DISCONNECT, &setup, "drbdsetup-84 disconnect ipv4:10.99.0.1:7788 ipv4:10.99.0.2:7788");
	expect(DRBD_DOWN, &setup, "drbdsetup-84 down assay");
	expect(DRBD_SHOW, &setup, "drbdsetup-84 show assay --show-defaults");
	expect(DRBD_GENERATION, &setup, "drbdsetup-84 get-gi 0");
	json_decref(cell);
}

/* LEVEL of F must appear as its option in the right command, in drbd.conf, and nowhere else; "default"
 * nowhere at all. */
static void check_level(const struct factor *f, const char *level)
{
	json_t *cell = drbd_state_of();
	struct drbd_setup setup = setup_of(cell);
	bool disk = !strncmp(f->name, "drbd.disk.", 10), given = strcmp(level, "default") != 0;
	char option[128], line[128], attach[2048], connect[2048], conf[4096];
	struct drbd_argv argv;

	json_object_set_new(cell, f->name, f->levels ? json_string(level) : json_integer(atoll(level)));
	assert_int_equal(drbd_argv(DRBD_ATTACH, &setup, &argv), 0);
	command_text(argv.argv, attach, sizeof(attach));
	assert_int_equal(drbd_argv(DRBD_CONNECT, &setup, &argv), 0);
	command_text(argv.argv, connect, sizeof(connect));
	drbd_conf(&setup, DRBD_8_4, conf, sizeof(conf));
	snprintf(option, sizeof(option), " --%s=%s", f->drbdsetup_option, level);
	snprintf(line, sizeof(line), "\t%s %s;\n", f->drbdsetup_option, level);
	strcat(attach, " ");
	strcat(connect, " ");
	strcat(option, " ");
	assert_int_equal(!!strstr(attach, option), given && disk);
	assert_int_equal(!!strstr(connect, option), given && !disk);
	assert_int_equal(!!strstr(conf, line), given);
	json_decref(cell);
}

static void test_every_level(void **state)
{
	unsigned int checked = 0;

	(void)state;
	for (size_t i = 0; i < FACTOR_COUNT; i++) {
		const struct factor *f = &factors[i];
		char levels[256], number[32], *save = NULL;

		if (!f->drbdsetup_option[0])
			continue;
		if (!f->levels) {
			snprintf(number, sizeof(number), "%lld", f->min);
			check_level(f, number);
			snprintf(number, sizeof(number), "%lld", f->max);
			check_level(f, number);
			checked += 2;
			continue;
		}
		snprintf(levels, sizeof(levels), "%s", f->levels);
		for (char *l = strtok_r(levels, "|", &save); l; l = strtok_r(NULL, "|", &save)) {
			check_level(f, l);
			checked++;
		}
	}
	assert_true(checked >= 25);
}

/* Every option at its first level (LAST: its last). */
static json_t *all_options(bool last)
{
	json_t *cell = drbd_state_of();

	for (size_t i = 0; i < FACTOR_COUNT; i++) {
		const struct factor *f = &factors[i];
		const char *bar = f->levels ? strrchr(f->levels, '|') : NULL;
		json_t *level;

		if (!f->drbdsetup_option[0])
			continue;
		if (!bar)
			level = json_integer(last ? f->max : f->min);
		else
			level =
			    last ? json_string(bar + 1) : json_stringn(f->levels, strcspn(f->levels, "|"));
		json_object_set_new(cell, f->name, level);
	}
	json_object_set_new(cell, "cpu.drbd-mask", json_integer(0x3e));
	return cell;
}

/* What `drbdadm -d up` of drbd-utils would do with the conf written for VERSION, to OUT. */
static void drbdadm(const struct drbd_setup *setup, enum drbd_version version, struct command_result *out)
{
	static const char *const versions[] = {[DRBD_8_4] = "8.4.11", [DRBD_9] = "9.1.0"};
	const char *argv[] = {"drbdadm", "-c", NULL, "-d", "up", "assay", NULL};
	char path[] = "/tmp/assay-drbd-conf-XXXXXX", conf[8192];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	argv[2] = path;
	drbd_conf(setup, version, conf, sizeof(conf));
	assert_int_equal(write(fd, conf, strlen(conf)), strlen(conf));
	close(fd);
	setenv("DRBD_DRIVER_VERSION_OVERRIDE", versions[version], 1);
	setenv("__DRBD_NODE__", "alpha", 1);
	if (command_run(argv, 30000, out))
		fail_msg("drbdadm of DRBD %s does not take this:\n%s%s", versions[version], conf,
		         out->output);
	unlink(path);
}

/* drbdadm of both versions takes what is written for people, and makes of it the options that the node gives.
 */
static void test_conf_is_taken(void **state)
{
	static struct command_result out;

	(void)state;
	for (int last = 0; last < 2; last++) {
		json_t *cell = all_options(last);
		struct drbd_setup setup = setup_of(cell);
		unsigned int options = 0;

		for (int version = DRBD_8_4; version <= DRBD_9; version++) {
			drbdadm(&setup, (enum drbd_version)version, &out);
			for (int step = DRBD_NEW_RESOURCE; step <= DRBD_CONNECT; step++) {
				struct drbd_argv argv;

				assert_int_equal(drbd_argv((enum drbd_step)step, &setup, &argv), 0);
				for (size_t i = 0; argv.argv[i]; i++) {
					bool gone =
					    version == DRBD_9 && strstr(argv.argv[i], "unplug-watermark");

					if (strncmp(argv.argv[i], "--", 2) != 0)
						continue;
					if (!strstr(out.output, argv.argv[i]) != gone)
						fail_msg("%s: %s", argv.argv[i], out.output);
					options++;
				}
			}
		}
		assert_true(options >= 2 * 19);
		json_decref(cell);
	}
}

static void test_refused_levels(void **state)
{
	(void)state;
	assert_true(drbd_refuses_level(DRBD_ATTACH, "drbdsetup-84 attach: al-extents: out of range\n"));
	assert_true(
	    drbd_refuses_level(DRBD_ATTACH, "Option --read-balancing: invalid argument '2M-striping'\n"));
	assert_true(
	    drbd_refuses_level(DRBD_CONNECT, "drbdsetup-84: unrecognized option: load-balance-paths\n"));
	assert_true(drbd_refuses_level(DRBD_CONNECT, "assay: Failure: (126) UnknownMandatoryTag\n"));
	assert_true(drbd_refuses_level(DRBD_NEW_RESOURCE, "assay: Failure: (143) Invalid cpu-mask.\n"));
	assert_false(drbd_refuses_level(DRBD_ATTACH, "0: Failure: (104) Can not open backing device.\n"));
	assert_false(
	    drbd_refuses_level(DRBD_CONNECT, "assay: Failure: (102) Local address(port) already in use.\n"));
	assert_false(drbd_refuses_level(DRBD_PRIMARY, "x: out of range\n"));
}

static void test_cpu_mask(void **state)
{
	static const char show[] =
	    "resource assay {\n    options {\n        cpu-mask        \t\"3e\";\n    }\n"
	    "    _this_host {\n        volume 0 {\n            disk {\n"
	    "                resync-rate     \t250k; # bytes/second\n"
	    "                c-fill-target   \t100s; # bytes\n            }\n";
	json_t *cell = drbd_state_of(), *in_force = json_object(), *wanted;
	struct drbd_setup setup = setup_of(cell);

	(void)state;
	json_object_set_new(cell, "cpu.drbd-mask", json_integer(0x3e));
	expect(DRBD_NEW_RESOURCE, &setup, "drbdsetup-84 new-resource assay --cpu-mask=3e");
	assert_int_equal(drbd_show_levels(show, in_force), 0);
	wanted = json_pack("{s:i, s:i, s:i}", "cpu.drbd-mask", 0x3e, "drbd.disk.resync-rate", 250,
	                   "drbd.disk.c-fill-target", 100);
	assert_true(json_equal(in_force, wanted));
	json_decref(wanted);
	json_decref(in_force);
	json_decref(cell);
}

static const char connected[] =
    "version: 8.4.11 (api:1/proto:86-101)\nsrcversion: 211FB288A383ED945B83420\n"
    " 0: cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate C r-----\n"
    "    ns:81920 nr:0 dw:81920 dr:912 al:20 bm:0 lo:0 pe:0 ua:0 ap:0 ep:1 wo:f oos:0\n";

static const char syncing[] =
    "version: 8.4.11 (api:1/proto:86-101)\nsrcversion: 211FB288A383ED945B83420\n\n"
    " 1: cs:SyncTarget ro:Secondary/Primary ds:Inconsistent/UpToDate A r-----\n"
    "    ns:0 nr:1024 dw:1024 dr:0 al:0 bm:0 lo:0 pe:0 ua:0 ap:0 ep:1 wo:d oos:261084\n"
    "\t[>....................] sync'ed:  0.8% (261084/262108)K\n"
    "\tfinish: 0:04:14 speed: 1,024 (1,024) want: 102,400 K/sec\n"
    "12: cs:Unconfigured\n";

static void test_proc_drbd(void **state)
{
	struct drbd_state s;
	json_t *json;

	(void)state;
	assert_int_equal(drbd_state_parse(connected, 0, &s), 0);
	assert_string_equal(s.connection, "Connected");
	assert_string_equal(s.role, "Primary");
	assert_string_equal(s.peer_role, "Secondary");
	assert_string_equal(s.disk, "UpToDate");
	assert_string_equal(s.peer_disk, "UpToDate");
	assert_int_equal(s.protocol, 'C');
	assert_int_equal(s.write_ordering, 'f');
	assert_int_equal(s.out_of_sync_bytes, 0);
	json = drbd_state_json(&s, connected);
	assert_string_equal(json_string_value(json_object_get(json, "proc_drbd")), connected);
	json_decref(json);
	assert_int_equal(drbd_state_parse(syncing, 1, &s), 0);
	assert_string_equal(s.connection, "SyncTarget");
	assert_int_equal(s.out_of_sync_bytes, 261084LL * 1024);
	assert_int_equal(s.protocol, 'A');
	assert_int_equal(drbd_state_parse(syncing, 12, &s), 0);
	assert_string_equal(s.connection, "Unconfigured");
	assert_int_equal(drbd_state_parse(syncing, 2, &s), -ENOENT);
	assert_int_equal(drbd_state_parse("version: 8.4.11\n", 0, &s), -ENOENT);
	assert_int_equal(drbd_state_parse("", 0, &s), -ENOENT);
}

/* A text cut anywhere is told, not taken for a state. */
static void test_proc_drbd_cut(void **state)
{
	const char *oos = strstr(connected, "oos:") + 4;
	struct drbd_state s;

	(void)state;
	for (size_t n = 0; n < (size_t)(oos - connected); n++) {
		char *cut = strndup(connected, n);

		assert_int_not_equal(drbd_state_parse(cut, 0, &s), 0);
		free(cut);
	}
}

static const char show[] = "resource assay {\n"
                           "    options {\n        cpu-mask        \t\"\"; # default\n    }\n"
                           "    net {\n"
                           "        transport       \t\"\"; # default\n"
                           "        protocol        \tC; # default\n"
                           "        max-epoch-size  \t156;\n"
                           "        max-buffers     \t4096;\n"
                           "        sndbuf-size     \t0; # bytes, default\n"
                           "        tcp-cork        \tyes; # default\n"
                           "        verify-alg      \t\"crc32c\";\n"
                           "        csums-alg       \t\"\"; # default\n"
                           "    }\n"
                           "    _remote_host {\n        address\t\t\tipv4 10.99.0.2:7788;\n    }\n"
                           "    _this_host {\n        address\t\t\tipv4 10.99.0.1:7788;\n"
                           "        volume 0 {\n            device\t\t\tminor 0;\n"
                           "            disk\t\t\t\"/dev/vda\";\n            meta-disk\t\t\tinternal;\n"
                           "            disk {\n"
                           "                disk-flushes    \tno;\n"
                           "                al-extents      \t6433;\n"
                           "            }\n        }\n    }\n}\n";

static void test_show(void **state)
{
	json_t *in_force = json_object();
	char value[32];

	(void)state;
	assert_int_equal(drbd_show_option(show, "net", "max-buffers", value, sizeof(value)), 0);
	assert_string_equal(value, "4096");
	assert_int_equal(drbd_show_option(show, "disk", "disk-flushes", value, sizeof(value)), 0);
	assert_string_equal(value, "no");
	/* Of another section, or a part of a name, it is not. */
	assert_int_equal(drbd_show_option(show, "disk", "max-buffers", value, sizeof(value)), -ENOENT);
	assert_int_equal(drbd_show_option(show, "net", "max", value, sizeof(value)), -ENOENT);
	assert_int_equal(drbd_show_option(show, "net", "address", value, sizeof(value)), -ENOENT);
	assert_int_equal(drbd_show_option(show, "disk", "disk-flushes", value, 2), -EBADMSG);
	assert_int_equal(drbd_show_levels(show, in_force), 0);
	assert_int_equal(json_integer_value(json_object_get(in_force, "drbd.net.max-buffers")), 4096);
	assert_int_equal(json_integer_value(json_object_get(in_force, "drbd.net.sndbuf-size")), 0);
	assert_string_equal(json_string_value(json_object_get(in_force, "drbd.net.protocol")), "C");
	assert_string_equal(json_string_value(json_object_get(in_force, "drbd.disk.disk-flushes")), "no");
	assert_string_equal(json_string_value(json_object_get(in_force, "drbd.net.verify-alg")), "crc32c");
	assert_int_equal(json_object_size(in_force), 8);
	json_decref(in_force);
}

static void test_differences(void **state)
{
	json_t *asked = json_pack("{s:i, s:s, s:s, s:i}", "drbd.net.max-buffers", 2048, "drbd.net.protocol",
	                          "C", "drbd.net.tcp-cork", "yes", "nic.mtu", 9000);
	json_t *in_force = json_pack("{s:i, s:s, s:i}", "drbd.net.max-buffers", 4096, "drbd.net.protocol",
	                             "C", "nic.mtu", 9000);
	json_t *differences = evidence_differences(asked, in_force);
	char fault[256];

	(void)state;
	evidence_differences_fault(differences, fault, sizeof(fault));
	assert_string_equal(fault, "drbd.net.max-buffers: asked 2048, in force 4096; "
	                           "drbd.net.tcp-cork: asked yes, in force unknown");
	json_decref(differences);
	differences = evidence_differences(in_force, in_force);
	evidence_differences_fault(differences, fault, sizeof(fault));
	assert_string_equal(fault, "");
	json_decref(differences);
	json_decref(asked);
	json_decref(in_force);
}

static void fault_of(const char *link, bool measure, const char *line, const char *expected)
{
	json_t *cell = drbd_state_of();
	struct drbd_setup setup = setup_of(cell);
	struct drbd_state s;
	char text[512], fault[256];

	json_object_set_new(cell, "drbd.link", json_string(link));
	snprintf(text, sizeof(text), " 0: %s C r-----\n    ns:0 wo:f oos:0\n", line);
	assert_int_equal(drbd_state_parse(text, 0, &s), 0);
	drbd_state_fault(&setup, measure, &s, fault, sizeof(fault));
	assert_string_equal(fault, expected);
	json_decref(cell);
}

static void test_state_fault(void **state)
{
	(void)state;
	fault_of("connected", true, "cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate", "");
	fault_of("connected", false, "cs:Connected ro:Secondary/Primary ds:UpToDate/UpToDate", "");
	fault_of("connected", true, "cs:Connected ro:Primary/Secondary ds:UpToDate/Diskless",
	         "DRBD is Connected Primary UpToDate/Diskless, not Connected Primary UpToDate/UpToDate");
	fault_of("connected", true, "cs:SyncSource ro:Primary/Secondary ds:UpToDate/Inconsistent",
	         "DRBD is SyncSource Primary UpToDate/Inconsistent, not Connected Primary UpToDate/UpToDate");
	fault_of("connected", true, "cs:WFConnection ro:Primary/Unknown ds:UpToDate/DUnknown",
	         "DRBD is WFConnection Primary UpToDate/DUnknown, not Connected Primary UpToDate/UpToDate");
	fault_of("connected", true, "cs:Connected ro:Secondary/Secondary ds:UpToDate/UpToDate",
	         "DRBD is Connected Secondary UpToDate/UpToDate, not Connected Primary UpToDate/UpToDate");
	fault_of("disconnected", true, "cs:StandAlone ro:Primary/Unknown ds:UpToDate/DUnknown", "");
	fault_of("disconnected", true, "cs:Connected ro:Primary/Secondary ds:UpToDate/UpToDate",
	         "DRBD is Connected Primary UpToDate/UpToDate, not StandAlone Primary UpToDate");
	fault_of("never-connected", true, "cs:StandAlone ro:Primary/Unknown ds:UpToDate/DUnknown", "");
	fault_of("never-connected", false, "cs:StandAlone ro:Secondary/Unknown ds:Inconsistent/DUnknown", "");
	fault_of("never-connected", true, "cs:StandAlone ro:Primary/Unknown ds:Inconsistent/DUnknown",
	         "DRBD is StandAlone Primary Inconsistent/DUnknown, not StandAlone Primary UpToDate");
}

static void test_transient(void **state)
{
	(void)state;
	assert_true(drbd_is_transient(
	    "??: State change failed: (-18) In transient state, retry after next state change\n"));
	assert_false(drbd_is_transient("??: State change failed: (-2) Need access to UpToDate data\n"));
	assert_false(drbd_is_transient(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_transient),      cmocka_unit_test(test_commands),
	    cmocka_unit_test(test_every_level),    cmocka_unit_test(test_conf_is_taken),
	    cmocka_unit_test(test_refused_levels), cmocka_unit_test(test_cpu_mask),
	    cmocka_unit_test(test_proc_drbd),      cmocka_unit_test(test_proc_drbd_cut),
	    cmocka_unit_test(test_show),           cmocka_unit_test(test_differences),
	    cmocka_unit_test(test_state_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
