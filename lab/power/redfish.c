/* SPDX-License-Identifier: GPL-2.0-or-later
 * Redfish (DMTF DSP0266, resource ComputerSystem): JSON over HTTPS. */
#include "power_internal.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_BYTES (1 << 20)
#define SYSTEMS      "/redfish/v1/Systems"

struct redfish {
	struct power *p;
	CURL *curl;
	char password[256];
	char system[512]; /* the system's path */
};

struct body {
	char *text;
	size_t length;
};

static size_t take(char *data, size_t size, size_t count, void *to)
{
	struct body *body = to;
	size_t length = size * count;
	char *more;

	if (body->length + length > ANSWER_BYTES)
		return 0;
	more = realloc(body->text, body->length + length + 1);
	if (!more)
		return 0;
	memcpy(more + body->length, data, length);
	body->text = more;
	body->length += length;
	more[body->length] = '\0';
	return length;
}

/* Basic authentication shows the password to whoever listens: in clear text only to this machine itself. */
static bool secret_stays(const char *url)
{
	return !strncmp(url, "https://", 8) || !strncmp(url, "http://127.", 11);
}

static void set_options(struct redfish *r, const char *url, struct body *body, struct curl_slist *headers)
{
	const char *pin = power_text(r->p, "pinned_key"), *ca = power_text(r->p, "ca_file");
	int64_t left_ms = (r->p->deadline_ns - power_now_ns()) / 1000000;

	curl_easy_reset(r->curl);
	curl_easy_setopt(r->curl, CURLOPT_URL, url);
	curl_easy_setopt(r->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(r->curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(r->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(r->curl, CURLOPT_TIMEOUT_MS, (long)(left_ms > 1 ? left_ms : 1));
	curl_easy_setopt(r->curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
	curl_easy_setopt(r->curl, CURLOPT_USERNAME, power_text(r->p, "user"));
	curl_easy_setopt(r->curl, CURLOPT_PASSWORD, r->password);
	curl_easy_setopt(r->curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(r->curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(r->curl, CURLOPT_WRITEDATA, body);
	if (*ca)
		curl_easy_setopt(r->curl, CURLOPT_CAINFO, ca);
	if (*pin) { /* the key itself is known: who signed it does not matter */
		curl_easy_setopt(r->curl, CURLOPT_PINNEDPUBLICKEY, pin);
		curl_easy_setopt(r->curl, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(r->curl, CURLOPT_SSL_VERIFYHOST, 0L);
	}
}

/* What a Redfish error says, or "". */
static const char *complaint(const json_t *answer)
{
	const json_t *error = json_object_get(answer, "error");
	const json_t *info = json_array_get(json_object_get(error, "@Message.ExtendedInfo"), 0);
	const char *text = json_string_value(json_object_get(info, "Message"));

	if (!text)
		text = json_string_value(json_object_get(error, "message"));
	return text ? text : "";
}

/* METHOD on PATH, with CONTENT (stolen; NULL: none). The answer to *OUT (NULL where it has no body), which
 * the caller owns; OUT may be NULL. 0, or -errno with a message. */
static int ask(struct redfish *r, const char *method, const char *path, json_t *content, json_t **out)
{
	struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
	char *text = content ? json_dumps(content, JSON_COMPACT) : NULL, url[1024];
	json_t *answer = NULL;
	struct body body = {0};
	long status = 0;
	CURLcode code;
	int result = 0;

	snprintf(url, sizeof(url), "%s%s", power_text(r->p, "url"), path);
	set_options(r, url, &body, headers);
	curl_easy_setopt(r->curl, CURLOPT_CUSTOMREQUEST, method);
	if (text)
		curl_easy_setopt(r->curl, CURLOPT_POSTFIELDS, text);
	code = curl_easy_perform(r->curl);
	curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &status);
	if (body.text)
		answer = json_loads(body.text, 0, NULL);
	if (code)
		result = power_says(r->p, -EIO, "%s: %s%s", url, curl_easy_strerror(code),
		                    code == CURLE_PEER_FAILED_VERIFICATION
		                        ? " (ca_file or pinned_key in the lab file say whom to trust)"
		                        : "");
	else if (status == 401 || status == 403)
		result = power_says(r->p, -EACCES,
		                    "%s: the BMC refuses user %s (status %ld); check user and password_file",
		                    url, power_text(r->p, "user"), status);
	else if (status < 200 || status >= 300)
		result = power_says(r->p, -EIO, "%s %s: status %ld %.300s", method, url, status,
		                    complaint(answer));
	else if (out && !json_is_object(answer))
		result = power_says(r->p, -EPROTO, "%s: the answer is no JSON object", url);
	if (out && !result)
		*out = json_incref(answer);
	json_decref(answer);
	json_decref(content);
	free(text);
	free(body.text);
	curl_slist_free_all(headers);
	return result;
}

/* The system's path: that of `system`, or of the only one there is. */
static int find_system(struct redfish *r)
{
	const char *wanted = power_text(r->p, "system"), *path = "";
	const json_t *members, *member;
	char names[300] = "";
	json_t *systems = NULL;
	size_t i, found = 0;
	int result = ask(r, "GET", SYSTEMS, NULL, &systems);

	members = json_object_get(systems, "Members");
	json_array_foreach (members, i, member) {
		const char *id = json_string_value(json_object_get(member, "@odata.id"));
		const char *name = id && strrchr(id, '/') ? strrchr(id, '/') + 1 : "";
		size_t used = strlen(names);

		snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "", name);
		if (id && (!*wanted || !strcmp(wanted, name))) {
			path = id;
			found++;
		}
	}
	if (!result && found != 1)
		result = power_says(r->p, -ENOENT, "%s%s: %s (it has: %s); `system` in the lab file names it",
		                    power_text(r->p, "url"), SYSTEMS,
		                    *wanted ? "there is no such system" : "not exactly one system", names);
	if (!result && snprintf(r->system, sizeof(r->system), "%s", path) >= (int)sizeof(r->system))
		result = power_says(r->p, -ENAMETOOLONG, "the system's path is too long");
	json_decref(systems);
	return result;
}

static int redfish_open(struct redfish *r, struct power *p)
{
	int result;

	*r = (struct redfish){.p = p};
	if (!secret_stays(power_text(p, "url")))
		return power_says(p, -EINVAL, "%s: the password would go in clear text; use https://",
		                  power_text(p, "url"));
	result = power_password(p, r->password, sizeof(r->password));
	if (result)
		return result;
	r->curl = curl_easy_init();
	if (!r->curl)
		return power_says(p, -ENOMEM, "out of memory");
	return find_system(r);
}

static void redfish_close(struct redfish *r)
{
	curl_easy_cleanup(r->curl);
	explicit_bzero(r->password, sizeof(r->password));
}

static int redfish_state(struct power *p, bool *on)
{
	struct redfish r;
	json_t *system = NULL;
	int result = redfish_open(&r, p);

	if (!result)
		result = ask(&r, "GET", r.system, NULL, &system);
	const char *state = json_string_value(json_object_get(system, "PowerState"));
	if (!result && !state)
		result = power_says(p, -EPROTO, "%s has no PowerState", r.system);
	else if (!result)
		*on = strcmp(state, "Off") && strcmp(state, "PoweringOff");
	json_decref(system);
	redfish_close(&r);
	return result;
}

/* The first of WISHES that the list ALLOWED has; without a list, the first. NULL: none. */
static const char *choose(const json_t *allowed, const char *const wishes[])
{
	const json_t *value;
	size_t k;

	if (!json_is_array(allowed))
		return wishes[0];
	for (size_t i = 0; wishes[i]; i++)
		json_array_foreach (allowed, k, value) {
			if (!strcmp(wishes[i], json_string_value(value) ? json_string_value(value) : ""))
				return wishes[i];
		}
	return NULL;
}

/* What a BMC may call it, the hardest first: a hung node hears nothing else. */
static const char *const resets[][4] = {
    [POWER_ON] = {"On", "ForceOn"},
    [POWER_OFF] = {"ForceOff"},
    [POWER_CYCLE] = {"PowerCycle", "ForceRestart"},
};

static int redfish_act(struct power *p, enum power_action action)
{
	const char *target, *type;
	const json_t *reset;
	struct redfish r;
	json_t *system = NULL;
	int result = redfish_open(&r, p);

	if (!result)
		result = ask(&r, "GET", r.system, NULL, &system);
	reset = json_object_get(json_object_get(system, "Actions"), "#ComputerSystem.Reset");
	target = json_string_value(json_object_get(reset, "target"));
	type = choose(json_object_get(reset, "ResetType@Redfish.AllowableValues"), resets[action]);
	if (!result && !target)
		result = power_says(p, -ENOTSUP, "%s has no action #ComputerSystem.Reset", r.system);
	if (!result && !type)
		result = power_says(p, -ENOTSUP, "%s: the BMC allows no %s for #ComputerSystem.Reset",
		                    r.system, resets[action][0]);
	if (!result)
		result = ask(&r, "POST", target, json_pack("{ss}", "ResetType", type), NULL);
	json_decref(system);
	redfish_close(&r);
	return result;
}

static int redfish_boot_network(struct power *p)
{
	struct redfish r;
	int result = redfish_open(&r, p);

	if (!result)
		result = ask(&r, "PATCH", r.system,
		             json_pack("{s{ss ss}}", "Boot", "BootSourceOverrideEnabled", "Once",
		                       "BootSourceOverrideTarget", "Pxe"),
		             NULL);
	redfish_close(&r);
	return result;
}

const struct power_driver power_redfish = {.name = "redfish",
                                           .state = redfish_state,
                                           .act = redfish_act,
                                           .boot_network = redfish_boot_network};
