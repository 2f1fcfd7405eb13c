/* SPDX-License-Identifier: GPL-2.0-or-later
 * Power drivers against machines and BMCs that say what they should not. What they do when all is well is in
 * tests/power/. */
#include "../../lab/power/power.h"

#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/assay-power-XXXXXX";

/* What ACTION on a node with this ENTRY (stolen) gives, within LIMIT_S; its message to SAID. */
static int do_power(json_t *entry, enum power_action action, int limit_s, char said[512])
{
	struct power p = {.node = "n1",
	                  .entry = entry,
	                  .network = true,
	                  .deadline_ns = power_now_ns() + limit_s * INT64_C(1000000000)};
	int r = power_do(&p, action);

	strcpy(said, p.message);
	json_decref(entry);
	assert_true(*said);
	return r;
}

/* A QEMU whose QMP says LINES to whoever connects, whatever is asked of it; then it closes, or is silent. */
static pid_t start_qemu(const char *path, const char *lines, size_t length, bool closes)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), client;
	pid_t pid;

	unlink(path);
	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	pid = fork();
	if (pid == 0) {
		client = accept(fd, NULL, NULL);
		for (ssize_t n; length > 0; lines += n, length -= (size_t)n)
			if ((n = send(client, lines, length, MSG_NOSIGNAL)) <= 0)
				_exit(0);
		if (closes)
			shutdown(client, SHUT_RDWR);
		pause();
		_exit(0);
	}
	close(fd);
	return pid;
}

static void qmp(const char *lines, size_t length, bool closes, int wanted, const char *words)
{
	char path[64], said[512];
	pid_t pid;
	int r;

	snprintf(path, sizeof(path), "%s/qmp", folder);
	pid = start_qemu(path, lines, length, closes);
	r = do_power(json_pack("{ss ss}", "driver", "qemu", "socket", path), POWER_STATUS,
	             wanted == -ETIMEDOUT ? 1 : 30, said);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (r != wanted || !strstr(said, words))
		fail_msg("%.80s: %d (%s), wanted %d (%s)", lines, r, said, wanted, words);
}

static void test_qmp(void **state)
{
	char *endless = malloc(200000);
#define GREETING "{\"QMP\": {\"version\": {}}}\r\n"
#define DONE     "{\"return\": {}}\r\n"
#define RUNS     "{\"return\": {\"status\": \"running\"}}\r\n"
#define EVENT    "{\"event\": \"RESET\", \"data\": {}}\r\n"
	static const struct {
		const char *lines;
		bool closes;
		int wanted;
		const char *words;
	} cases[] = {
	    {GREETING DONE RUNS, false, 0, "on"},
	    {GREETING EVENT DONE EVENT EVENT RUNS, false, 0, "on"},
	    {GREETING DONE "{\"return\": {\"status\": \"shutdown\"}}\n", false, 0, "off"},
	    {GREETING DONE "{\"return\": 7}\n", false, 0, "on"},
	    {GREETING DONE "{\"error\": {\"class\": \"GenericError\", \"desc\": \"no\"}}\n", false,
	     -EREMOTEIO, "refuses query-status: no"},
	    {GREETING DONE "{\"error\": []}\n", false, -EREMOTEIO,
	     "refuses query-status: it does not say why"},
	    {GREETING DONE, true, -ECONNRESET, "qmp: "},
	    {GREETING DONE, false, -ETIMEDOUT, "does not answer in time"},
	    {"\xff\xfe not JSON\n[1,2\nnull\n\n", false, -ETIMEDOUT, "does not answer in time"},
	    {"", true, -ECONNRESET, "qmp: "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		qmp(cases[i].lines, strlen(cases[i].lines), cases[i].closes, cases[i].wanted, cases[i].words);
	memset(endless, 'x', 200000);
	qmp(endless, 200000, false, -EMSGSIZE, "qmp: ");
	free(endless);
}

/* A BMC that answers each path with what the test says. */
static struct {
	const char *systems, *system;
	unsigned int status, changes;
	size_t padding_bytes;
} bmc;

static enum MHD_Result answer(void *ctx, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data, size_t *size,
                              void **state)
{
	const char *text = strcmp(url, "/redfish/v1/Systems") ? bmc.system : bmc.systems;
	size_t length = strlen(text), total = length + bmc.padding_bytes;
	struct MHD_Response *response;
	enum MHD_Result r;
	char *body;

	(void)ctx;
	(void)version;
	(void)data;
	if (!*state || *size) {
		*state = &bmc;
		*size = 0;
		return MHD_YES;
	}
	bmc.changes += strcmp(method, "GET") != 0;
	body = malloc(total + 1);
	memcpy(body, text, length);
	memset(body + length, ' ', bmc.padding_bytes);
	response = MHD_create_response_from_buffer(total, body, MHD_RESPMEM_MUST_FREE);
	r = MHD_queue_response(connection, bmc.status, response);
	MHD_destroy_response(response);
	return r;
}

#define ONE    "{\"Members\": [{\"@odata.id\": \"/redfish/v1/Systems/1\"}]}"
#define SYSTEM "{\"PowerState\": \"On\", \"Actions\": {\"#ComputerSystem.Reset\": {\"target\": \"/reset\""

static void test_redfish(void **state)
{
	static const struct {
		const char *systems, *system;
		unsigned int status;
		size_t padding_bytes;
		enum power_action action;
		int wanted;
		const char *words;
	} cases[] = {
	    {ONE, "{\"PowerState\": \"On\"}", 200, 0, POWER_STATUS, 0, "on"},
	    {ONE, "{\"PowerState\": \"PoweringOff\"}", 200, 0, POWER_STATUS, 0, "off"},
	    {ONE, "{\"PowerState\": 1}", 200, 0, POWER_STATUS, -EPROTO, "has no PowerState"},
	    {ONE, "[]", 200, 0, POWER_STATUS, -EPROTO, "no JSON object"},
	    {"{\"Members\": {\"a\": 1}}", "{}", 200, 0, POWER_STATUS, -ENOENT, "not exactly one system"},
	    {"{\"Members\": [1, null, {\"@odata.id\": 7}, {}]}", "{}", 200, 0, POWER_STATUS, -ENOENT,
	     "not exactly one system"},
	    {"{\"Members\": [", "{}", 200, 0, POWER_STATUS, -EPROTO, "no JSON object"},
	    {"", "", 200, 0, POWER_STATUS, -EPROTO, "no JSON object"},
	    {ONE, "{\"PowerState\": \"On\"}", 200, 2 << 20, POWER_STATUS, -EIO, "http://127.0.0.1:"},
	    {"{\"error\": {\"message\": \"too busy\"}}", "{}", 503, 0, POWER_STATUS, -EIO,
	     "status 503 too busy"},
	    {"{\"error\": [1]}", "{}", 500, 0, POWER_STATUS, -EIO, "status 500"},
	    {ONE, "{\"PowerState\": \"On\"}", 200, 0, POWER_CYCLE, -ENOTSUP,
	     "has no action #ComputerSystem.Reset"},
	    {ONE, SYSTEM ", \"ResetType@Redfish.AllowableValues\": [\"Nmi\", 3]}}}", 200, 0, POWER_CYCLE,
	     -ENOTSUP, "allows no PowerCycle"},
	    {ONE, SYSTEM ", \"ResetType@Redfish.AllowableValues\": \"Nmi\"}}}", 200, 0, POWER_CYCLE, 0,
	     "is power-cycled"},
	    {ONE, SYSTEM "}}}", 200, 0, POWER_ON, 0, "is on already"},
	};
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct MHD_Daemon *daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD, 0, NULL, NULL, answer,
	                                             NULL, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_END);
	char url[64], password[64], said[512];
	FILE *out;

	(void)state;
	assert_non_null(daemon);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d",
	         MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
	snprintf(password, sizeof(password), "%s/password", folder);
	out = fopen(password, "w");
	assert_non_null(out);
	fputs("secret\n", out);
	fclose(out);
	chmod(password, 0600);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bmc.systems = cases[i].systems;
		bmc.system = cases[i].system;
		bmc.status = cases[i].status;
		bmc.padding_bytes = cases[i].padding_bytes;
		bmc.changes = 0;
		int r = do_power(json_pack("{ss ss ss ss}", "driver", "redfish", "url", url, "user", "root",
		                           "password_file", password),
		                 cases[i].action, 30, said);

		if (r != cases[i].wanted || !strstr(said, cases[i].words) || strstr(said, "secret"))
			fail_msg("case %zu: %d (%s), wanted %d (%s)", i, r, said, cases[i].wanted,
			         cases[i].words);
		if (cases[i].action != POWER_CYCLE)
			assert_int_equal(bmc.changes, 0);
	}
	MHD_stop_daemon(daemon);
}

static void test_words(void **state)
{
	char said[512];

	(void)state;
	assert_int_equal(power_action_named("cycle"), POWER_CYCLE);
	assert_int_equal(power_action_named("status"), POWER_STATUS);
	assert_int_equal(power_action_named(""), -1);
	assert_int_equal(power_action_named("Cycle"), -1);
	assert_int_equal(do_power(json_pack("{ss}", "driver", "steam"), POWER_ON, 30, said), -EINVAL);
	assert_non_null(strstr(said, "steam"));
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/qmp", folder);
	unlink(path);
	snprintf(path, sizeof(path), "%s/password", folder);
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_words),
	    cmocka_unit_test(test_qmp),
	    cmocka_unit_test(test_redfish),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
