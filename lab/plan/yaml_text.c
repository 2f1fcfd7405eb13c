/* SPDX-License-Identifier: GPL-2.0-or-later
 * What is refused before the YAML parser sees it: libfyaml 0.7.12 does not come back from a directive that is
 * not UTF-8, and nothing here needs directives. */
#include "yaml_scalar.h"

#include <stdint.h>
#include <string.h>

/* Bytes of the character at TEXT, of which N follow; 0: not UTF-8 (RFC 3629). */
static size_t character(const unsigned char *t, size_t n)
{
	static const struct {
		unsigned char first, last, low, high; /* first byte's range, second's */
		size_t length;
	} forms[] = {
	    {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
	    {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
	    {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	if (t[0] < 0x80)
		return 1;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (t[0] < forms[i].first || t[0] > forms[i].last)
			continue;
		if (n < forms[i].length || t[1] < forms[i].low || t[1] > forms[i].high)
			return 0;
		for (size_t k = 2; k < forms[i].length; k++)
			if ((t[k] & 0xc0) != 0x80)
				return 0;
		return forms[i].length;
	}
	return 0;
}

const char *yaml_refuse_text(const char *text, size_t size, int *line, int *column)
{
	static const char version[] = "%YAML 1.2\n";

	*line = *column = 1;
	for (size_t i = 0; i < size;) {
		size_t n = character((const unsigned char *)text + i, size - i);

		if (!n)
			return "the file is not UTF-8 here";
		if (text[i] == '\0' || (text[i] > 0 && text[i] < 0x20 && !strchr("\t\n\r", text[i])) ||
		    text[i] == 0x7f)
			return "a control character, which YAML does not allow";
		if (text[i] == '%' && *column == 1 &&
		    (size - i < sizeof(version) - 1 || memcmp(text + i, version, sizeof(version) - 1) != 0))
			return "a directive (a line that begins with %) is not used here";
		++*column;
		if (text[i] == '\n') {
			++*line;
			*column = 1;
		}
		i += n;
	}
	return NULL;
}
