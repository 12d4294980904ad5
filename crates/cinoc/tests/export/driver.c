/* Reads decisions from standard input, all as double: 1 where the memory is set, that memory, and the readings. Writes the
 * actions and, with -DWITH_MEMORY, the memory after each decision. */
#include "policy.c"
#include <stdio.h>

int main(void)
{
    double row[1 + CINOC_MEMORY + CINOC_READINGS], done[CINOC_ACTIONS];
    cinoc_observation seen;
    cinoc_agent agent;
    cinoc_real action[CINOC_ACTIONS], *reading = (cinoc_real *)&seen;
    int i;
    if (sizeof seen != CINOC_READINGS * sizeof(cinoc_real)) return 1;
    cinoc_reset(&agent);
    while (fread(row, sizeof row, 1, stdin) == 1) {
        if (row[0] != 0) {
            cinoc_reset(&agent);
#if CINOC_MEMORY > 0
            for (i = 0; i < CINOC_MEMORY; i++) agent.memory[i] = (cinoc_real)row[1 + i];
#endif
        }
        for (i = 0; i < CINOC_READINGS; i++) reading[i] = (cinoc_real)row[1 + CINOC_MEMORY + i];
        cinoc_act(&agent, &seen, action);
        for (i = 0; i < CINOC_ACTIONS; i++) done[i] = action[i];
        if (fwrite(done, sizeof done, 1, stdout) != 1) return 1;
#if defined WITH_MEMORY && CINOC_MEMORY > 0
        for (i = 0; i < CINOC_MEMORY; i++) row[i] = agent.memory[i];
        if (fwrite(row, sizeof *row, CINOC_MEMORY, stdout) != CINOC_MEMORY) return 1;
#endif
    }
    return 0;
}
