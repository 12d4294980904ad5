/* A clock that jumps, for LD_PRELOAD. CINOC_CLOCK says how; each call of the clock is one moment.
   back: a day back at every third moment. forward: ten years on at every third. old: before 1970. far: in the year 190,000. still: stopped.
   The time of day jumps so; the clock that only runs forward stops now and then, and with "still" for ever. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int moment;

int clock_gettime(clockid_t clock, struct timespec *time) {
  const char *how = getenv("CINOC_CLOCK");
  int failed = (int)syscall(SYS_clock_gettime, clock, time);
  if (failed || !how) return failed;
  int n = __atomic_add_fetch(&moment, 1, __ATOMIC_RELAXED);
  if (clock == CLOCK_REALTIME) {
    if (!strcmp(how, "back")) time->tv_sec -= 86400L * (n / 3);
    if (!strcmp(how, "forward")) time->tv_sec += 315360000L * (n / 3);
    if (!strcmp(how, "old")) time->tv_sec = -1000 - n;
    if (!strcmp(how, "far")) time->tv_sec = 6000000000000L + n;
    if (!strcmp(how, "still")) time->tv_sec = 1000000000, time->tv_nsec = 0;
  } else if (!strcmp(how, "still")) {
    time->tv_sec = 1000, time->tv_nsec = 0;
  }
  return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec time;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &time);
  now->tv_sec = time.tv_sec, now->tv_usec = time.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *now) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  if (now) *now = time.tv_sec;
  return time.tv_sec;
}
