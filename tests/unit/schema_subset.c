/* SPDX-License-Identifier: GPL-2.0-or-later
 * The checker itself: what it refuses to load, which branch it tells of, limits of depth and path. */
#include "schema_internal.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static int load(const char *text, struct schema_set **set, struct schema_error *error)
{
	static const char other[] = "{\"$defs\": {\"n\": {\"type\": \"integer\"}}}";
	struct schema_text texts[] = {{"s.json", text, strlen(text)}, {"other.json", other, strlen(other)}};

	return schema_set_load(texts, 2, set, error);
}

static void refuses(const char *text, const char *why)
{
	struct schema_set *set;
	struct schema_error error;

	assert_int_equal(load(text, &set, &error), -EINVAL);
	assert_null(set);
	assert_string_equal(error.path, "s.json");
	if (!strstr(error.message, why))
		fail_msg("%s: \"%s\" does not tell of \"%s\"", text, error.message, why);
}

static void test_refused_schemas(void **state)
{
	(void)state;
	refuses("{\"patternProperties\": {}}", "patternProperties");
	refuses("{\"properties\": {\"a\": {\"format\": \"date\"}}}", "format");
	refuses("{\"$defs\": {\"unused\": {\"uniqueItems\": true}}}", "uniqueItems");
	refuses("{\"type\": \"text\"}", "unknown type");
	refuses("{\"type\": [\"string\", 3]}", "unknown type");
	refuses("{\"pattern\": \"(\"}", "pattern");
	refuses("{\"pattern\": 3}", "pattern");
	refuses("{\"enum\": []}", "enum");
	refuses("{\"minimum\": 0.5}", "minimum");
	refuses("{\"minLength\": -1}", "minLength");
	refuses("{\"oneOf\": []}", "oneOf");
	refuses("{\"items\": 3}", "a schema is");
	refuses("{\"$ref\": \"#/$defs/none\"}", "leads nowhere");
	refuses("{\"$ref\": \"none.json\"}", "leads nowhere");
	refuses("{\"$ref\": \"other.json#/$defs/m\"}", "leads nowhere");
	refuses("{\"required\": \"a\"}", "required");
	refuses("{\"properties\": []}", "properties");
	refuses("{\"type\": \"string\", \"type\": \"null\"}", "duplicate");
	refuses("{", "line 1");
}

static void keep_first(void *context, const struct schema_error *error)
{
	struct schema_error *first = context;

	if (!first->message[0])
		*first = *error;
}

/* VALUE (JSON text) against SCHEMA: NULL path, it fits; else the first error's path, and part of its message.
 */
static void judge(const char *schema, const char *value, const char *path, const char *message)
{
	struct schema_error error;
	struct schema_set *set;
	json_t *json = json_loads(value, JSON_DECODE_ANY, NULL);
	int r;

	assert_non_null(json);
	if (load(schema, &set, &error))
		fail_msg("%s: %s", schema, error.message);
	error = (struct schema_error){0};
	r = schema_walk(schema_set_find(set, "s.json"), json, keep_first, &error);
	if (r != (path ? -EINVAL : 0))
		fail_msg("%s against %s: %d, %s", value, schema, r, error.message);
	if (path) {
		assert_string_equal(error.path, path);
		if (!strstr(error.message, message))
			fail_msg("%s: \"%s\" lacks \"%s\"", value, error.message, message);
	}
	json_decref(json);
	schema_set_free(set);
}

static void test_keywords(void **state)
{
	(void)state;
	judge("true", "[1]", NULL, NULL);
	judge("false", "1", "", "not allowed");
	judge("{\"$ref\": \"other.json#/$defs/n\"}", "1", NULL, NULL);
	judge("{\"$ref\": \"other.json#/$defs/n\"}", "\"1\"", "", "whole number");
	judge("{\"type\": \"integer\"}", "1.0", "", "must be a whole number, not a number");
	judge("{\"type\": \"number\"}", "1", NULL, NULL);
	judge("{\"type\": [\"null\", \"boolean\"]}", "0", "", "true or false or null");
	judge("{\"maximum\": 3}", "3.5", "", "at most 3");
	judge("{\"minimum\": 3}", "\"text\"", NULL, NULL);
	judge("{\"minimum\": 9007199254740993}", "9007199254740992", "", "at least");
	judge("{\"minLength\": 2}", "\"\xc3\xb6\"", "", "too short");
	judge("{\"maxLength\": 1}", "\"\xc3\xb6\"", NULL, NULL);
	judge("{\"pattern\": \"b+\"}", "\"abc\"", NULL, NULL);
	judge("{\"pattern\": \"^b+$\"}", "\"abc\"", "", "does not match");
	judge("{\"pattern\": \"^b+$\", \"description\": \"some b\"}", "\"abc\"", "", "is not some b");
	judge("{\"maxItems\": 1}", "[1, 2]", "", "at most 1");
	judge("{\"maxProperties\": 1}", "{\"a\": 1, \"b\": 2}", "", "at most 1");
	judge("{\"items\": {\"items\": {\"const\": 3}}}", "[[3], [3, 4]]", "/1/1", "must be 3");
	judge("{\"propertyNames\": {\"maxLength\": 1}}", "{\"ab\": 1}", "/ab", "longer");
	judge("{\"additionalProperties\": {\"const\": 1}}", "{\"a/b~c\": 2}", "/a~1b~0c", "must be 1");
	judge("{\"anyOf\": [{\"required\": [\"a\"]}, {\"required\": [\"b\"]}]}", "{\"a\": 1, \"b\": 2}", NULL,
	      NULL);
	judge("{\"anyOf\": [{\"required\": [\"a\"]}, {\"required\": [\"b\"]}]}", "{}", "",
	      "one of \"a\", \"b\"");
	judge("{\"if\": {\"const\": 1}, \"then\": false, \"else\": {\"type\": \"string\"}}", "1", "",
	      "not allowed");
	judge("{\"if\": {\"const\": 1}, \"then\": false, \"else\": {\"type\": \"string\"}}", "2", "",
	      "a string");
	judge("{\"if\": {\"const\": 1}, \"then\": false}", "2", NULL, NULL);
	judge("{\"allOf\": [{\"minimum\": 1}, {\"maximum\": 2}]}", "3", "", "at most");
	judge("{\"properties\": {\"colour\": true}, \"additionalProperties\": false}", "{\"color\": 1}",
	      "/color", "nearest valid key is \"colour\"");
}

static void test_branches(void **state)
{
	static const char kinds[] =
	    "{\"oneOf\": [{\"properties\": {\"k\": {\"enum\": [\"x\", \"y\"]}}, \"required\": [\"k\"], "
	    "\"additionalProperties\": false}, {\"properties\": {\"k\": {\"const\": \"z\"}, \"n\": "
	    "{\"type\": \"integer\"}}, \"required\": [\"k\", \"n\"]}]}";
	static const char types[] =
	    "{\"oneOf\": [{\"enum\": [\"as-written\", \"shuffled\"]}, {\"type\": \"object\", "
	    "\"properties\": {\"seed\": {\"type\": \"integer\"}}}]}";

	(void)state;
	judge(kinds, "{\"k\": \"z\"}", "", "lacks \"n\"");
	judge(kinds, "{\"k\": \"z\", \"n\": \"1\"}", "/n", "whole number");
	judge(kinds, "{\"k\": \"x\", \"n\": 1}", "/n", "unknown key");
	judge(types, "\"shufled\"", "", "did you mean shuffled?");
	judge(types, "{\"seed\": \"1\"}", "/seed", "whole number");
	judge("{\"oneOf\": [{\"minimum\": 1}, {\"minimum\": 2}]}", "3", "", "fits 2");
}

static void test_depth(void **state)
{
	static const char recursive[] = "{\"items\": {\"$ref\": \"#\"}}";
	static const char endless[] = "{\"$ref\": \"#\"}";
	char value[801];

	(void)state;
	judge(recursive, "[[[[]]]]", NULL, NULL);
	judge(endless, "1", "", "too deeply");
	memset(value, '[', 400);
	memset(value + 400, ']', 400);
	value[800] = '\0';
	char wanted[512];
	size_t n = 0;

	/* Each level of the value is two of the walk: itself and the $ref. */
	for (size_t i = 0; i < 64; i++)
		n += (size_t)snprintf(wanted + n, sizeof(wanted) - n, "/0");
	judge(recursive, value, wanted, "too deeply");
}

static void test_long_path(void **state)
{
	char value[1400], name[601];
	json_t *json;
	struct schema_error error = {0};
	struct schema_set *set;

	(void)state;
	memset(name, '~', 600);
	name[600] = '\0';
	snprintf(value, sizeof(value), "{\"a\": {\"%s\": 1}}", name);
	json = json_loads(value, 0, NULL);
	assert_int_equal(load("{\"additionalProperties\": {\"additionalProperties\": false}}", &set, &error),
	                 0);
	assert_int_equal(schema_walk(schema_set_find(set, "s.json"), json, keep_first, &error), -EINVAL);
	assert_string_equal(error.path, "/a");
	json_decref(json);
	schema_set_free(set);
}

static void test_own(void **state)
{
	struct schema_error error;
	json_t *value = json_object();

	(void)state;
	assert_int_equal(schema_check("none.json", value, &error), -ENOENT);
	assert_int_equal(schema_check("step.json", value, &error), -EINVAL);
	assert_string_equal(error.message, "lacks \"step\"");
	json_decref(value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_refused_schemas), cmocka_unit_test(test_keywords),
	    cmocka_unit_test(test_branches),        cmocka_unit_test(test_depth),
	    cmocka_unit_test(test_long_path),       cmocka_unit_test(test_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
