/* Reads a grid and agents from standard input, all as double: nodes along each axis, lengths, which of them are periodic, the error z - z* at the nodes,
 * the number of agents, of each its position and whether it is active. Writes what the helpers work out of that for each agent: error, slope, and gap
 * and crowd where there are helpers for them. */
#include "policy.c"
#include <stdio.h>
#include <stdlib.h>

static double nodes[3], lengths[3], ring[3], *field;

static double take(void)
{
    double x;
    if (fread(&x, sizeof x, 1, stdin) != 1) exit(1);
    return x;
}

/* The interpolated field; the last axis is the fastest. */
static double error(const double *at, void *context)
{
    int low[3] = {0, 0, 0}, corner, c;
    double part[3] = {0, 0, 0}, sum = 0;
    (void)context;
    for (c = 0; c < AXES; c++) {
        double cells = ring[c] != 0 ? nodes[c] : nodes[c] - 1, t = at[c] / lengths[c] * cells;
        int most = ring[c] != 0 ? (int)nodes[c] - 1 : (int)nodes[c] - 2;
        low[c] = t < 0 ? 0 : t > most ? most : (int)t;
        part[c] = t - low[c];
    }
    for (corner = 0; corner < 1 << AXES; corner++) {
        double weight = 1;
        int node = 0;
        for (c = 0; c < AXES; c++) {
            int side = corner >> c & 1;
            weight *= side ? part[c] : 1 - part[c];
            node = node * (int)nodes[c] + (low[c] + side) % (int)nodes[c];
        }
        sum += weight * field[node];
    }
    return sum;
}

int main(void)
{
    int count = 1, agents, i, j, c;
    double (*place)[AXES], (*others)[AXES], *active;
    for (c = 0; c < AXES; c++) count *= (int)(nodes[c] = take());
    for (c = 0; c < AXES; c++) lengths[c] = take();
    for (c = 0; c < AXES; c++) ring[c] = take();
    field = calloc((size_t)count, sizeof *field);
    for (i = 0; i < count; i++) field[i] = take();
    agents = (int)take();
    place = calloc((size_t)agents, sizeof *place);
    others = calloc((size_t)agents, sizeof *others);
    active = calloc((size_t)agents, sizeof *active);
    if (!field || !place || !others || !active) return 1;
    for (i = 0; i < agents; i++) {
        for (c = 0; c < AXES; c++) place[i][c] = take();
        active[i] = take();
    }
    for (i = 0; i < agents; i++) {
        cinoc_observation seen;
        int known = 0;
        cinoc_sample(&seen, place[i], error, NULL);
        for (j = 0; j < agents; j++) {
            if (j == i || active[j] == 0) continue;
            for (c = 0; c < AXES; c++) {
                double d = place[j][c] - place[i][c];
                if (ring[c] != 0) d -= lengths[c] * floor(d / lengths[c] + 0.5);
                others[known][c] = d;
            }
            known++;
        }
#ifdef ALONE
        (void)known;
#elif defined WALLS
        cinoc_neighbours(&seen, place[i], (const double (*)[AXES])others, known);
#else
        cinoc_neighbours(&seen, (const double (*)[AXES])others, known);
#endif
        fwrite(seen.error, sizeof seen.error, 1, stdout);
        fwrite(seen.slope, sizeof seen.slope, 1, stdout);
#ifndef ALONE
        fwrite(seen.gap, sizeof seen.gap, 1, stdout);
#endif
#ifdef CROWD
        fwrite(&seen.crowd, sizeof seen.crowd, 1, stdout);
#endif
    }
    free(field);
    free(place);
    free(others);
    free(active);
    return 0;
}
