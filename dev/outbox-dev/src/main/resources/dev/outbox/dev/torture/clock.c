/*
 * Shifts the wall clock of a process into which it is preloaded by the seconds in a file, 8 bytes,
 * that OUTBOX_CLOCK names. Time that is measured (CLOCK_MONOTONIC) is left as it is.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int (*real)(clockid_t, struct timespec *);
static const volatile int64_t *shift;

__attribute__((constructor)) static void begin(void) {
  if (real) return;
  const char *name = getenv("OUTBOX_CLOCK");
  int file = name ? open(name, O_RDONLY) : -1;
  if (file >= 0) {
    void *map = mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, file, 0);
    if (map != MAP_FAILED) shift = map;
    close(file);
  }
  real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
}

int clock_gettime(clockid_t id, struct timespec *now) {
  begin();
  int result = real(id, now);
  if (result == 0 && shift && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
    now->tv_sec += *shift;
  }
  return result;
}

int gettimeofday(struct timeval *now, void *zone) {
  (void)zone;
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *now) {
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  if (now) *now = exact.tv_sec;
  return exact.tv_sec;
}
