/* A plain reader of a fio latency log, the measure of benchmarks/log_windows.py: maps the file, parses time, value
 * and direction, sorts the values of each second by radix and prints the nearest ranks. No checks at all. */
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { MOST = 1 << 24 }; /* lines of one second and direction */
static const double percentiles[] = {50, 95, 99, 99.9};

static uint32_t *values[2], *spare;
static long counts[2];

static void sort(uint32_t *from, uint32_t *to, long n) {
    for (int shift = 0; shift < 32; shift += 8) {
        long places[257] = {0};
        for (long i = 0; i < n; i++) places[((from[i] >> shift) & 255) + 1]++;
        for (int i = 0; i < 256; i++) places[i + 1] += places[i];
        for (long i = 0; i < n; i++) to[places[(from[i] >> shift) & 255]++] = from[i];
        uint32_t *other = from;
        from = to;
        to = other;
    }
}

static void settle(long second) {
    for (int ddir = 0; ddir < 2; ddir++) {
        long n = counts[ddir];
        if (!n) continue;
        sort(values[ddir], spare, n);
        printf("%ld,%d,%ld", second, ddir, n);
        for (int i = 0; i < 4; i++) {
            long rank = (long)ceill((long double)percentiles[i] / 100 * n);
            printf(",%u", values[ddir][rank - 1]);
        }
        printf("\n");
        counts[ddir] = 0;
    }
}

static const char *number(const char *at, uint64_t *value) {
    for (*value = 0; *at >= '0'; at++) *value = *value * 10 + (uint64_t)(*at - '0');
    return at + 2; /* a comma and a space */
}

int main(int argc, char **argv) {
    int file = argc > 1 ? open(argv[1], O_RDONLY) : -1;
    struct stat status;
    if (file < 0 || fstat(file, &status)) return 2;
    const char *at = mmap(0, (size_t)status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    const char *end = at + status.st_size;
    for (int i = 0; i < 2; i++) values[i] = malloc(MOST * sizeof(uint32_t));
    spare = malloc(MOST * sizeof(uint32_t));
    long second = 0;
    while (at < end) {
        uint64_t t_ms, value;
        at = number(number(at, &t_ms), &value);
        int ddir = *at - '0';
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        at = line_end ? line_end + 1 : end;
        if ((long)(t_ms / 1000) != second) {
            settle(second);
            second = (long)(t_ms / 1000);
        }
        values[ddir][counts[ddir]++] = (uint32_t)value;
    }
    settle(second);
    return 0;
}
