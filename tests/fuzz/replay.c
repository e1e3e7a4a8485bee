// SPDX-License-Identifier: Apache-2.0
/* Feeds every file of the folders and files named on the command line to a fuzz target: the
 * corpus as a plain test, under any compiler and any sanitizer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned replayed;

static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	if (file == NULL) {
		perror(path);
		return 1;
	}
	static uint8_t bytes[1 << 20];
	size_t size = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	/* an exact heap copy, so that one byte too far is seen */
	uint8_t *copy = malloc(size ? size : 1);
	if (copy == NULL)
		return 1;
	for (size_t i = 0; i < size; i++)
		copy[i] = bytes[i];
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	replayed++;
	return 0;
}

static int replay(const char *path)
{
	struct stat st;
	if (stat(path, &st) != 0) {
		perror(path);
		return 1;
	}
	if (!S_ISDIR(st.st_mode))
		return replay_file(path);
	DIR *dir = opendir(path);
	if (dir == NULL) {
		perror(path);
		return 1;
	}
	int failed = 0;
	for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
		if (entry->d_name[0] == '.')
			continue;
		char child[4096];
		snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
		failed |= replay(child);
	}
	closedir(dir);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;
	for (int i = 1; i < argc; i++)
		failed |= replay(argv[i]);
	if (replayed == 0) {
		fprintf(stderr, "no corpus file found\n");
		return 1;
	}
	printf("%u inputs replayed\n", replayed);
	return failed;
}
