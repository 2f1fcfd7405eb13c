/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "yaml_scalar.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_any(const char *text, size_t n, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == n && !memcmp(*words, text, n))
			return true;
	return false;
}

static size_t digits(const char *text, const char *set)
{
	return strspn(text, set);
}

/* 10, 0o7, 0x1f, with a sign only for decimal. */
static int integer_base(const char *t)
{
	const char *d = t + (*t == '-' || *t == '+');
	size_t n = digits(d, "0123456789");

	if (n && !d[n])
		return 10;
	if (!strncmp(t, "0o", 2) && t[2] && !t[2 + digits(t + 2, "01234567")])
		return 8;
	if (!strncmp(t, "0x", 2) && t[2] && !t[2 + digits(t + 2, "0123456789abcdefABCDEF")])
		return 16;
	return 0;
}

/* [-+]? ( . [0-9]+ | [0-9]+ ( . [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static bool is_float(const char *t)
{
	size_t whole, part = 0;

	t += *t == '-' || *t == '+';
	whole = digits(t, "0123456789");
	t += whole;
	if (*t == '.') {
		part = digits(++t, "0123456789");
		t += part;
	}
	if (!whole && !part)
		return false;
	if (*t == 'e' || *t == 'E') {
		t++;
		t += *t == '-' || *t == '+';
		if (!digits(t, "0123456789"))
			return false;
		t += digits(t, "0123456789");
	}
	return !*t;
}

static json_t *number(const char *t, const char **why)
{
	int base = integer_base(t);
	json_t *out = NULL;

	errno = 0;
	if (base) {
		long long value = strtoll(base == 10 ? t : t + 2, NULL, base);

		if (!errno)
			out = json_integer(value);
	} else {
		out = json_real(strtod(t, NULL));
	}
	if (!out)
		*why = "the number is too large";
	return out;
}

json_t *yaml_scalar(const char *text, size_t n, bool plain, const char **why)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
	static const char *const trues[] = {"true", "True", "TRUE", NULL};
	static const char *const falses[] = {"false", "False", "FALSE", NULL};
	static const char *const specials[] = {".nan",  ".NaN",  ".NAN",  ".inf",  ".Inf",  ".INF", "-.inf",
	                                       "-.Inf", "-.INF", "+.inf", "+.Inf", "+.INF", NULL};
	char number_text[64];
	json_t *out;

	if (n && memchr(text, '\0', n)) {
		*why = "text must not contain a NUL";
		return NULL;
	}
	if (plain && is_any(text, n, nulls))
		return json_null();
	if (plain && is_any(text, n, trues))
		return json_true();
	if (plain && is_any(text, n, falses))
		return json_false();
	if (plain && is_any(text, n, specials)) {
		*why = "infinity and not-a-number are no values here; put text in quotes";
		return NULL;
	}
	if (plain && n < sizeof(number_text)) {
		memcpy(number_text, text, n);
		number_text[n] = '\0';
		if (integer_base(number_text) || is_float(number_text))
			return number(number_text, why);
	}
	out = json_stringn(text, n);
	if (!out)
		*why = "the text is not UTF-8";
	return out;
}
