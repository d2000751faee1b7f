/* What callgrind is told from inside the process that it counts. */
#include <valgrind/callgrind.h>

void begin(void) { CALLGRIND_START_INSTRUMENTATION; }
void zero(void) { CALLGRIND_ZERO_STATS; }
void dump(const char *name) { CALLGRIND_DUMP_STATS_AT(name); }
