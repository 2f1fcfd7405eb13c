/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "power_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const struct power_driver *const drivers[] = {&power_ipmi, &power_redfish, &power_command,
                                                     &power_qemu};

static const char *const words[] = {
    [POWER_STATUS] = "status", [POWER_ON] = "on", [POWER_OFF] = "off", [POWER_CYCLE] = "cycle"};

static const char *const done[] = {
    [POWER_ON] = "is switched on", [POWER_OFF] = "is switched off", [POWER_CYCLE] = "is power-cycled"};

int power_action_named(const char *word)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i]))
			return (int)i;
	return -1;
}

const char *power_action_word(enum power_action action)
{
	return words[action];
}

int64_t power_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

int power_says(struct power *p, int r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(p->message, sizeof(p->message), format, args);
	va_end(args);
	return r;
}

const char *power_text(const struct power *p, const char *key)
{
	const char *text = json_string_value(json_object_get(p->entry, key));

	return text ? text : "";
}

int64_t power_number(const struct power *p, const char *key)
{
	return json_integer_value(json_object_get(p->entry, key));
}

int power_password(struct power *p, char *password, size_t size)
{
	const char *path = power_text(p, "password_file");
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	char text[256];
	ssize_t length;

	if (fd < 0 || fstat(fd, &status)) {
		int error = errno;

		if (fd >= 0)
			close(fd);
		return power_says(p, -error, "password_file %s: %s", path, strerror(error));
	}
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (status.st_mode & S_IRWXO)
		return power_says(p, -EACCES, "password_file %s: everybody can read it; chmod o= %s", path,
		                  path);
	text[length > 0 ? length : 0] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	if (!*text)
		return power_says(p, -EINVAL, "password_file %s: its first line is empty", path);
	if (password)
		snprintf(password, size, "%s", text);
	explicit_bzero(text, sizeof(text));
	return 0;
}

const char *power_last_line(char *text)
{
	char *end = text + strlen(text), *line;

	while (end > text && strchr(" \r\n\t", end[-1]))
		*--end = '\0';
	line = strrchr(text, '\n');
	return line ? line + 1 : text;
}

/* What the driver can't say of the boot device is no reason to leave a hung node alone. */
static void boot_network(struct power *p, const struct power_driver *driver)
{
	if (!p->network || !driver->boot_network || !driver->boot_network(p))
		return;
	snprintf(p->boot_note, sizeof(p->boot_note), "%.255s", p->message);
}

static int act(struct power *p, const struct power_driver *driver, enum power_action action)
{
	bool on;
	int r;

	if (!driver->state)
		return driver->act(p, action);
	r = driver->state(p, &on);
	if (r)
		return r;
	if (action == POWER_STATUS)
		return power_says(p, 0, "%s", on ? "on" : "off");
	if ((action == POWER_ON && on) || (action == POWER_OFF && !on))
		return power_says(p, 0, "is %s already", on ? "on" : "off");
	if (action != POWER_OFF)
		boot_network(p, driver);
	if (action == POWER_CYCLE && !on) {
		r = driver->act(p, POWER_ON);
		return r ? r : power_says(p, 0, "was off, and is switched on");
	}
	r = driver->act(p, action);
	return r ? r : power_says(p, 0, "%s", done[action]);
}

int power_do(struct power *p, enum power_action action)
{
	const char *name = power_text(p, "driver");

	p->message[0] = p->boot_note[0] = '\0';
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (!strcmp(name, drivers[i]->name))
			return act(p, drivers[i], action);
	return power_says(p, -EINVAL, "there is no power driver \"%s\"", name);
}
