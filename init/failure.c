/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "failure.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* musl has no strerrorname_np(). */
static const struct {
	int number;
	const char *name;
} errno_names[] = {
#define NAME(e)                                                                                              \
	{                                                                                                    \
		e, #e                                                                                        \
	}
    NAME(EPERM),         NAME(ENOENT),          NAME(ESRCH),       NAME(EINTR),        NAME(EIO),
    NAME(ENXIO),         NAME(E2BIG),           NAME(ENOEXEC),     NAME(EBADF),        NAME(ECHILD),
    NAME(EAGAIN),        NAME(ENOMEM),          NAME(EACCES),      NAME(EFAULT),       NAME(ENOTBLK),
    NAME(EBUSY),         NAME(EEXIST),          NAME(EXDEV),       NAME(ENODEV),       NAME(ENOTDIR),
    NAME(EISDIR),        NAME(EINVAL),          NAME(ENFILE),      NAME(EMFILE),       NAME(ENOTTY),
    NAME(ETXTBSY),       NAME(EFBIG),           NAME(ENOSPC),      NAME(ESPIPE),       NAME(EROFS),
    NAME(EMLINK),        NAME(EPIPE),           NAME(EDOM),        NAME(ERANGE),       NAME(EDEADLK),
    NAME(ENAMETOOLONG),  NAME(ENOSYS),          NAME(ENOTEMPTY),   NAME(ELOOP),        NAME(ENODATA),
    NAME(ETIME),         NAME(EPROTO),          NAME(EBADMSG),     NAME(EOVERFLOW),    NAME(EILSEQ),
    NAME(EMSGSIZE),      NAME(EPROTONOSUPPORT), NAME(EOPNOTSUPP),  NAME(EAFNOSUPPORT), NAME(EADDRINUSE),
    NAME(EADDRNOTAVAIL), NAME(ENETDOWN),        NAME(ENETUNREACH), NAME(ECONNABORTED), NAME(ECONNRESET),
    NAME(ENOBUFS),       NAME(EISCONN),         NAME(ENOTCONN),    NAME(ETIMEDOUT),    NAME(ECONNREFUSED),
    NAME(EHOSTDOWN),     NAME(EHOSTUNREACH),    NAME(EALREADY),    NAME(EINPROGRESS),  NAME(ESTALE),
    NAME(EREMOTEIO),     NAME(ENOMEDIUM),       NAME(EMEDIUMTYPE), NAME(ECANCELED),    NAME(ENOKEY),
#undef NAME
};

static const char *const scope_names[] = {
    [FAILURE_SAMPLE] = "sample",
    [FAILURE_CELL] = "cell",
    [FAILURE_RUN] = "run",
    [FAILURE_UNSUPPORTED] = "unsupported",
};

enum failure_scope failure_refusal(int r)
{
	static const int refusals[] = {EOPNOTSUPP,  EINVAL,       ENOENT,          ENODEV,
	                               ENXIO,       ENOSYS,       ENOTTY,          ERANGE,
	                               EDOM,        EACCES,       EPERM,           E2BIG,
	                               ENOPROTOOPT, EAFNOSUPPORT, EPROTONOSUPPORT, EOVERFLOW};

	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++)
		if (r == -refusals[i])
			return FAILURE_UNSUPPORTED;
	return FAILURE_CELL;
}

const char *errno_name(int error)
{
	for (size_t i = 0; i < sizeof(errno_names) / sizeof(*errno_names); i++)
		if (errno_names[i].number == error)
			return errno_names[i].name;
	return "";
}

int fail(struct failure *why, int r, enum failure_scope scope, const char *step, const char *object,
         const char *remedy, const char *format, ...)
{
	va_list args;

	memset(why, 0, sizeof(*why));
	why->error = r < 0 ? -r : 0;
	why->scope = scope;
	snprintf(why->step, sizeof(why->step), "%s", step && *step ? step : "unknown");
	snprintf(why->object, sizeof(why->object), "%s", object ? object : "");
	snprintf(why->remedy, sizeof(why->remedy), "%s", remedy ? remedy : "");
	va_start(args, format);
	vsnprintf(why->message, sizeof(why->message), format, args);
	va_end(args);
	return r < 0 ? r : -EIO;
}

#define TEXT_MAX 65535

/* Tools and devices may say bytes that are not UTF-8, which jansson refuses; part of a message is better than
 * none. */
json_t *json_text(const char *text)
{
	size_t length = strnlen(text, TEXT_MAX);
	json_t *value = json_stringn(text, length);
	char *ascii;

	if (value)
		return value;
	ascii = malloc(length);
	for (size_t i = 0; ascii && i < length; i++)
		ascii[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
	value = ascii ? json_stringn(ascii, length) : NULL;
	free(ascii);
	return value;
}

json_t *failure_json(const struct failure *why, const char *node)
{
	json_t *object = json_object();
	char message[sizeof(why->message) + 128];
	int r = 0;

	if (why->error)
		snprintf(message, sizeof(message), "%s: %s", why->message, strerror(why->error));
	else
		snprintf(message, sizeof(message), "%s", *why->message ? why->message : "no message");
	r |= json_object_set_new(object, "node", json_text(node));
	r |= json_object_set_new(object, "step", json_text(*why->step ? why->step : "unknown"));
	r |= json_object_set_new(object, "object", json_text(why->object));
	if (why->error) {
		r |= json_object_set_new(object, "errno", json_integer(why->error));
		r |= json_object_set_new(object, "errno_name", json_string(errno_name(why->error)));
	}
	r |= json_object_set_new(object, "message", json_text(message));
	r |= json_object_set_new(object, "remedy", json_text(why->remedy));
	r |= json_object_set_new(object, "scope", json_string(scope_names[why->scope]));
	if (*why->log)
		r |= json_object_set_new(object, "log", json_text(why->log));
	if (r) {
		json_decref(object);
		return NULL;
	}
	return object;
}
