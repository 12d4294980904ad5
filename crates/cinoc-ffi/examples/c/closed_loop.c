/* A swarm on an interval, driven from C: each agent decides separately, the environment makes the ticks. Then a step
 * against the gradient reduces the cost of the next ticks. Returns 0 on success. */
#include <cinoc.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program with the library's message after a failure. */
static void must(cinoc_code code)
{
    if (code != CINOC_CODE_OK) {
        fprintf(stderr, "%s\n", cinoc_message());
        exit(1);
    }
}

static CINOC_REAL *zeros(size_t count)
{
    CINOC_REAL *numbers = calloc(count, sizeof *numbers);
    if (!numbers) exit(1);
    return numbers;
}

/* Runs one episode, its agents deciding one by one; returns its score. */
static double episode(cinoc_env *env, cinoc_policy *policy)
{
    cinoc_env_sizes_t sizes;
    cinoc_policy_sizes_t own;
    size_t tick, m, agents;
    double score;
    CINOC_REAL *readings, *memory, *actions;
    must(cinoc_env_sizes(env, &sizes));
    must(cinoc_policy_sizes(policy, &own));
    agents = sizes.episodes * sizes.agents;
    readings = zeros(agents * own.readings);
    memory = zeros(agents * own.memory);
    actions = zeros(agents * own.actions);
    must(cinoc_env_reset(env, 3000, 0));
    for (tick = 0; tick < sizes.ticks; tick++) {
        must(cinoc_env_observe(env, readings, agents * own.readings));
        for (m = 0; m < agents; m++)
            must(cinoc_policy_act(policy, readings + m * own.readings, own.readings, memory + m * own.memory,
                                  own.memory, actions + m * own.actions, own.actions));
        must(cinoc_env_step(env, actions, agents * own.actions, NULL, NULL));
    }
    must(cinoc_env_score(env, 0, &score));
    free(readings);
    free(memory);
    free(actions);
    return score;
}

/* Takes a step against the gradient with respect to the actions of some ticks; returns their cost before and after. */
static void descend(cinoc_env *env, size_t ticks, double cost[2])
{
    cinoc_env_sizes_t sizes;
    size_t count, i;
    CINOC_REAL *actions, *gradient;
    double largest = 0;
    must(cinoc_env_sizes(env, &sizes));
    count = ticks * sizes.episodes * sizes.agents * sizes.actions;
    actions = zeros(count);
    gradient = zeros(count);
    must(cinoc_env_reset(env, 3000, 0));
    must(cinoc_env_gradient(env, ticks, actions, count, &cost[0], gradient));
    for (i = 0; i < count; i++) {
        double size = gradient[i] < 0 ? -gradient[i] : gradient[i];
        largest = size > largest ? size : largest;
    }
    for (i = 0; i < count; i++) actions[i] -= (CINOC_REAL)(gradient[i] / largest);
    must(cinoc_env_gradient(env, ticks, actions, count, &cost[1], gradient));
    free(actions);
    free(gradient);
}

int main(void)
{
    cinoc_policy *policy = NULL;
    cinoc_env *env = NULL, *none = NULL;
    double score, cost[2];
    must(cinoc_policy_open("heat1d", NULL, &policy));
    must(cinoc_env_open_for(policy, 1, 0, 1, &env));
    score = episode(env, policy);
    descend(env, 20, cost);
    printf("cinoc %s: score %.2e; cost of 20 ticks %.6f, after a step against its gradient %.6f\n", cinoc_version(),
           score, cost[0], cost[1]);
    if (cinoc_env_open("heat3d", NULL, 1, 0, 1, &none) != CINOC_CODE_MISTAKE || none != NULL) return 1;
    printf("a failure is explained: %s\n", cinoc_message());
    cinoc_env_close(env);
    cinoc_policy_close(policy);
    return !(score < 1e-5 && cost[1] < cost[0]);
}
