/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay import: what engineers already have. */
#include "import.h"

#include "../cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct format {
	const char *name;
	int (*read)(struct import *import, const char *text, size_t size, struct complaints *complaints);
} formats[] = {
    {"dd", import_transcript},
    {"fio", import_fio},
    {"csv", import_csv},
};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

struct options {
	const char *database, *name, *question, *format;
	bool boot_per_file;
};

static int parse(int argc, char **argv, struct options *o)
{
	const struct cli_row rows[] = {
	    {"db", "FILE", "the database, made where it is missing (default: assay.db)",
	     .text = &o->database},
	    {"format", "NAME", "dd, fio or csv (default: by the file)", .text = &o->format},
	    {"name", "NAME", "of the run (default: the first file's)", .text = &o->name},
	    {"question", "TEXT", "what the figures shall answer", .text = &o->question},
	    {"boot-per-file", NULL, "each file is of another boot", .set = &o->boot_per_file},
	    {0},
	};
	static const char after[] = "  dd   transcripts of GNU's and busybox' dd; the line above names the "
	                            "settings; a line \"reboot\" begins\n"
	                            "       another boot\n"
	                            "  fio  fio --output-format=json: a sample of each job and direction\n"
	                            "  csv  a line of names: mb_per_s, or bytes and seconds (or ns); other "
	                            "figures as in assay report --csv; boot,\n"
	                            "       node; every other column is a setting\n\n"
	                            "The run is marked as imported: nothing proves that it measured what it "
	                            "says. What is not told of boots counts\n"
	                            "as one boot.";
	const struct cli_command command = {
	    "FILE...", "Figures that were measured elsewhere, as a run: for assay report and assay compare.",
	    after, rows};
	int r = cli_parse(argc, argv, &command);

	if (r == CLI_GO && optind == argc)
		return cli_usage("import", "which file?");
	return r;
}

/* The whole of PATH, with a 0 behind; the caller frees. NULL: errno. */
static char *read_file(const char *path, size_t *size)
{
	FILE *in = !strcmp(path, "-") ? stdin : fopen(path, "re");
	char *text = in ? malloc(IMPORT_FILE_MAX_BYTES + 1) : NULL;

	if (text) {
		*size = fread(text, 1, IMPORT_FILE_MAX_BYTES + 1, in);
		if (ferror(in) || *size > IMPORT_FILE_MAX_BYTES) {
			errno = ferror(in) ? EIO : EFBIG;
			free(text);
			text = NULL;
		} else {
			text[*size] = '\0';
		}
	}
	if (in && in != stdin)
		fclose(in);
	return text;
}

/* JSON begins with a brace; a first line with commas and the name of a figure is CSV; the rest is dd. */
static const struct format *guess(const char *text)
{
	size_t line = strcspn(text, "\n");
	const char *brace = strchr(text, '{');

	if (text[strspn(text, " \t\r\n")] == '{' || (!strncmp(text, "fio", 3) && brace))
		return &formats[1];
	if (memchr(text, ',', line) &&
	    (memmem(text, line, "mb_per_s", 8) || memmem(text, line, "bytes", 5)) &&
	    !memmem(text, line, "copied", 6))
		return &formats[2];
	return &formats[0];
}

static const struct format *format_named(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static int read_one(const char *path, const struct options *o, struct import *import,
                    const struct format **format)
{
	struct complaints complaints = {0};
	size_t size, had = import->count;
	char *text = read_file(path, &size);
	int r;

	if (!text) {
		fprintf(stderr, "assay import: %s: %s\n", path, strerror(errno));
		return errno == ENOMEM ? ASSAY_SYSTEM : ASSAY_USAGE;
	}
	*format = o->format ? format_named(o->format) : guess(text);
	import->first_boot = o->boot_per_file && had ? import->last_boot + 1 : 0;
	r = (*format)->read(import, text, size, &complaints);
	free(text);
	complaints_print(&complaints, path, stderr);
	if (r && r != -EINVAL)
		fprintf(stderr, "assay import: %s: %s\n", path, strerror(-r));
	return r == -EINVAL || r == -E2BIG ? ASSAY_USAGE : r ? ASSAY_SYSTEM : ASSAY_OK;
}

static char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

	return strndup(base, strcspn(base, "."));
}

static int store(const struct options *o, const struct import *import, const char *first, const char *source)
{
	char run[64], *name = o->name ? strdup(o->name) : base_name(first);
	struct store *store = NULL;
	int r = ASSAY_SYSTEM;

	if (name && !store_open(o->database, STORE_CREATE, stderr, &store)) {
		r = import_store(store, import, name, o->question ? o->question : "Imported figures.", source,
		                 run);
		if (r)
			fprintf(stderr, "assay import: %s: %s\n", o->database,
			        *store_message(store) ? store_message(store) : strerror(-r));
		else
			printf("%s\n", run);
		r = r ? ASSAY_SYSTEM : ASSAY_OK;
	}
	store_close(store);
	free(name);
	return r;
}

int cmd_import(int argc, char **argv)
{
	struct options o = {.database = "assay.db"};
	const struct format *format = NULL;
	struct import import = {0};
	int r = parse(argc, argv, &o);

	if (r != CLI_GO)
		return r;
	if (o.format && !format_named(o.format))
		return cli_usage("import", "--format is dd, fio or csv, not \"%s\"", o.format);
	r = ASSAY_OK;
	for (int i = optind; i < argc && !r; i++) {
		const struct format *before = format;

		r = read_one(argv[i], &o, &import, &format);
		if (!r && before && before != format)
			r = cli_usage("import", "%s is %s, the files before are %s: import them apart",
			              argv[i], format->name, before->name);
	}
	if (!r)
		r = store(&o, &import, argv[optind], format->name);
	import_free(&import);
	return r;
}
