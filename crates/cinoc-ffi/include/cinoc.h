// Environments, policies and gradients of cinoc. Functions that can fail return a code; cinoc_message explains it.

#ifndef CINOC_H
#define CINOC_H

#include <stddef.h>
#include <stdint.h>

// The numbers of the library; double for cinoc-ffi-f64.
#ifndef CINOC_REAL
#define CINOC_REAL float
#endif

// Result of a call.
typedef enum cinoc_code {
    // Success.
    CINOC_CODE_OK = 0,
    // An argument is not valid; cinoc_message says which, and what would be.
    CINOC_CODE_MISTAKE = 1,
    // A fault of the library; please report what cinoc_message says. Handles of the call can then only be closed.
    CINOC_CODE_FAULT = 2,
} cinoc_code;

// Parallel episodes of one problem.
typedef struct cinoc_env cinoc_env;

// A trained policy and the problem that it was trained on.
typedef struct cinoc_policy cinoc_policy;

// Sizes of an environment.
typedef struct cinoc_env_sizes_t {
    // Parallel episodes.
    size_t episodes;
    // Agents of each.
    size_t agents;
    // Ticks of an episode.
    size_t ticks;
    // Numbers of a state: nodes, times the number of fields.
    size_t nodes;
    // Space dimensions of a position.
    size_t dimensions;
    // Readings of an agent's sensors.
    size_t readings;
    // Numbers of an action.
    size_t actions;
} cinoc_env_sizes_t;

// Numbers of inputs and outputs of a policy, for one agent.
typedef struct cinoc_policy_sizes_t {
    // Readings of an agent's sensors.
    size_t readings;
    // Numbers that an agent keeps from tick to tick: the memory of the network, then the last valid reading of each
    // sensor.
    size_t memory;
    // Numbers of an action.
    size_t actions;
} cinoc_policy_sizes_t;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the sentence about the last call of this thread that failed; valid until the next such call.
const char *cinoc_message(void);

// Returns the version of the library.
const char *cinoc_version(void);

// Opens an environment of a problem by name (heat1d). `changes` are settings to change, one `key=value` per line, or
// NULL. 0 agents: the number in training; 0 threads: one per core. `*env` is NULL after a failure.
//
// # Safety
// Strings end with a zero; `env` points to a pointer.
enum cinoc_code cinoc_env_open(const char *problem,
                               const char *changes,
                               size_t episodes,
                               size_t agents,
                               size_t threads,
                               struct cinoc_env **env);

// Opens an environment of the problem of a policy, in the same way.
//
// # Safety
// `policy` was opened; `env` points to a pointer.
enum cinoc_code cinoc_env_open_for(struct cinoc_policy *policy,
                                   size_t episodes,
                                   size_t agents,
                                   size_t threads,
                                   struct cinoc_env **env);

// Closes an environment; NULL is allowed.
//
// # Safety
// `env` is NULL, or was opened and is not used again.
void cinoc_env_close(struct cinoc_env *env);

// Writes the sizes of an environment.
//
// # Safety
// `env` was opened; `sizes` points to one.
enum cinoc_code cinoc_env_sizes(struct cinoc_env *env, struct cinoc_env_sizes_t *sizes);

// Starts all episodes, with the held-out instances of a seed from number `first` on. On chaotic problems the first
// call for a seed makes long uncontrolled runs, which are cached on disk.
//
// # Safety
// `env` was opened, and no other thread uses it.
enum cinoc_code cinoc_env_reset(struct cinoc_env *env, uint64_t seed, size_t first);

// Writes the readings of all agents, `[episodes, agents, readings]`.
//
// # Safety
// `env` was opened, and no other thread uses it; `readings` has `count` numbers.
enum cinoc_code cinoc_env_observe(struct cinoc_env *env, CINOC_REAL *readings, size_t count);

// Makes one tick with given actions, `[episodes, agents, actions]`, in the units of the actuators, within their limits
// and after the safety layer. All actions must be finite. `cost` receives the cost of the tick in each episode, `done`
// 1 where an episode is over; either may be NULL.
//
// # Safety
// `env` was opened, and no other thread uses it; `actions` has `count` numbers, `cost` and `done` one per episode.
enum cinoc_code cinoc_env_step(struct cinoc_env *env, const CINOC_REAL *actions, size_t count, double *cost, uint8_t *done);

// Makes up to `ticks` ticks driven by a policy, which decides for all agents, and returns earlier once all episodes
// are over. `cost` receives the cost of the last tick, `done` as in cinoc_env_step.
//
// # Safety
// `env` and `policy` were opened, and no other thread uses them; `cost` and `done` are NULL or have one number per
// episode.
enum cinoc_code cinoc_env_run(struct cinoc_env *env, struct cinoc_policy *policy, size_t ticks, double *cost, uint8_t *done);

// Copies the field of an episode, `[nodes]`.
//
// # Safety
// `env` was opened, and no other thread uses it; `out` has `count` numbers.
enum cinoc_code cinoc_env_field(struct cinoc_env *env, size_t episode, CINOC_REAL *out, size_t count);

// Copies the target of an episode, `[nodes]`.
//
// # Safety
// `env` was opened, and no other thread uses it; `out` has `count` numbers.
enum cinoc_code cinoc_env_target(struct cinoc_env *env, size_t episode, CINOC_REAL *out, size_t count);

// Copies the positions of the agents of an episode, `[agents, dimensions]`.
//
// # Safety
// `env` was opened, and no other thread uses it; `out` has `count` numbers.
enum cinoc_code cinoc_env_positions(struct cinoc_env *env, size_t episode, CINOC_REAL *out, size_t count);

// Copies the actions of the last tick of an episode, `[agents, actions]`.
//
// # Safety
// `env` was opened, and no other thread uses it; `out` has `count` numbers.
enum cinoc_code cinoc_env_actions(struct cinoc_env *env, size_t episode, CINOC_REAL *out, size_t count);

// Writes the score of an episode that is over: the first measure of its problem.
//
// # Safety
// `env` was opened, and no other thread uses it; `score` points to a number.
enum cinoc_code cinoc_env_score(struct cinoc_env *env, size_t episode, double *score);

// Computes the cost of given actions over the next `ticks` ticks, from the present state of the episodes, and its
// gradient with respect to the actions. `actions` and `gradient` are `[ticks, episodes, agents, actions]`, `cost` is
// `[episodes]`. The environment does not change. Actuator noise, which cannot be known in advance, is zero here.
//
// # Safety
// `env` was opened, and no other thread uses it; arrays have the given lengths and do not overlap.
enum cinoc_code cinoc_env_gradient(struct cinoc_env *env,
                                   size_t ticks,
                                   const CINOC_REAL *actions,
                                   size_t count,
                                   double *cost,
                                   CINOC_REAL *gradient);

// Opens a model: the name of a shipped one (heat1d), a .safetensors file, or a run folder. `changes` are settings of
// its problem to change, one `key=value` per line, or NULL. `*policy` is NULL after a failure.
//
// # Safety
// Strings end with a zero; `policy` points to a pointer.
enum cinoc_code cinoc_policy_open(const char *model, const char *changes, struct cinoc_policy **policy);

// Closes a policy; NULL is allowed.
//
// # Safety
// `policy` is NULL, or was opened and is not used again.
void cinoc_policy_close(struct cinoc_policy *policy);

// Writes the numbers of inputs and outputs of a policy.
//
// # Safety
// `policy` was opened; `sizes` points to one.
enum cinoc_code cinoc_policy_sizes(struct cinoc_policy *policy, struct cinoc_policy_sizes_t *sizes);

// Decides once for one agent, as an exported controller does: from its readings (cinoc_env_observe) and its memory
// (zeros before the first tick; updated) to its action, in the units of the actuators, always finite and within their
// limits.
//
// A reading that is NaN, infinite or beyond 1e6 in magnitude counts as missing: the last valid reading of that sensor,
// kept in `memory`, is held (0 before the first). The strength is limited to [0, 1], a missing one is 0. An agent of
// strength 0 is inactive: action 0, memory of the network 0. A memory of the network with a number that is not finite
// or beyond 1e6 is reset to 0.
//
// # Safety
// `policy` was opened, and no other thread uses it; arrays have the given lengths and do not overlap.
enum cinoc_code cinoc_policy_act(struct cinoc_policy *policy,
                                 const CINOC_REAL *readings,
                                 size_t reading_count,
                                 CINOC_REAL *memory,
                                 size_t memory_count,
                                 CINOC_REAL *action,
                                 size_t action_count);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CINOC_H */
