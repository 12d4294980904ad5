// Environments, policies and gradients of cinoc. Every function that can go wrong returns a code; cinoc_message says the rest.

#ifndef CINOC_H
#define CINOC_H

#include <stddef.h>
#include <stdint.h>

// The numbers of the library; double if it was built with its feature f64.
#ifndef CINOC_REAL
#define CINOC_REAL float
#endif

// How a call went.
typedef enum cinoc_code {
    // As asked.
    CINOC_CODE_OK = 0,
    // Something that was given cannot be; cinoc_message says what would be right.
    CINOC_CODE_MISTAKE = 1,
    // A fault of the library; please report what cinoc_message says.
    CINOC_CODE_FAULT = 2,
} cinoc_code;

// Episodes of one problem side by side.
typedef struct cinoc_env cinoc_env;

// A trained policy and the problem that it was trained on.
typedef struct cinoc_policy cinoc_policy;

// How many numbers there are of everything.
typedef struct cinoc_env_sizes_t {
    // Episodes side by side.
    size_t episodes;
    // Agents of each.
    size_t agents;
    // Ticks of an episode.
    size_t ticks;
    // Nodes of a field.
    size_t nodes;
    // Space dimensions of a position.
    size_t dimensions;
    // Numbers that the instruments of an agent read.
    size_t readings;
    // Numbers of an agent's action.
    size_t actions;
} cinoc_env_sizes_t;

// How many numbers a policy takes and gives, for one agent.
typedef struct cinoc_policy_sizes_t {
    // Numbers that the instruments of an agent read.
    size_t readings;
    // Numbers that it remembers from tick to tick.
    size_t memory;
    // Numbers of its action.
    size_t actions;
} cinoc_policy_sizes_t;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// What the last call of this thread that did not go well has to say; valid until the next such call.
const char *cinoc_message(void);

// The version of the library.
const char *cinoc_version(void);

// Opens an environment of a problem by name (heat1d). `changes` are settings to change, a line `key=value` each, or NULL; 0 agents are as many as in
// training, 0 threads as many as there are cores.
//
// # Safety
// Strings end with a zero; `env` points to room for a pointer.
enum cinoc_code cinoc_env_open(const char *problem,
                               const char *changes,
                               size_t episodes,
                               size_t agents,
                               size_t threads,
                               struct cinoc_env **env);

// Opens an environment of the problem of a policy, likewise.
//
// # Safety
// `policy` was opened; `env` points to room for a pointer.
enum cinoc_code cinoc_env_open_for(struct cinoc_policy *policy,
                                   size_t episodes,
                                   size_t agents,
                                   size_t threads,
                                   struct cinoc_env **env);

// Closes an environment; NULL is none.
//
// # Safety
// `env` is NULL, or was opened and is not used again.
void cinoc_env_close(struct cinoc_env *env);

// How many numbers there are of everything.
//
// # Safety
// `env` was opened; `sizes` points to one.
enum cinoc_code cinoc_env_sizes(struct cinoc_env *env, struct cinoc_env_sizes_t *sizes);

// Begins all episodes anew, with the held-out instances of a seed from number `first` on. On problems of chaos the first call for a seed makes
// long free runs, which are kept on the disk.
//
// # Safety
// `env` was opened, and no other thread uses it.
enum cinoc_code cinoc_env_reset(struct cinoc_env *env,
                                uint64_t seed,
                                size_t first);

// What the instruments of all agents read, `[episodes, agents, readings]`.
//
// # Safety
// `env` was opened, and no other thread uses it; `readings` has room for `count` numbers.
enum cinoc_code cinoc_env_observe(struct cinoc_env *env, CINOC_REAL *readings, size_t count);

// One tick with given actions, `[episodes, agents, actions]`, in the units of the actuators; limits and safety hold for them. `cost` receives what
// the tick cost in each episode, `done` 1 where an episode is over; either may be NULL.
//
// # Safety
// `env` was opened, and no other thread uses it; `actions` has `count` numbers, `cost` and `done` room for one per episode.
enum cinoc_code cinoc_env_step(struct cinoc_env *env,
                               const CINOC_REAL *actions,
                               size_t count,
                               double *cost,
                               uint8_t *done);

// So many ticks driven by a policy, which decides for all agents; `cost` receives that of the last one, `done` as in cinoc_env_step.
//
// # Safety
// `env` and `policy` were opened, and no other thread uses them; `cost` and `done` are NULL or have room for one per episode.
enum cinoc_code cinoc_env_run(struct cinoc_env *env,
                              struct cinoc_policy *policy,
                              size_t ticks,
                              double *cost,
                              uint8_t *done);

// The field of an episode, `[nodes]`.
//
// # Safety
// `env` was opened, and no other thread uses it; `out` has room for `count` numbers.
enum cinoc_code cinoc_env_field(struct cinoc_env *env, size_t episode, CINOC_REAL *out, size_t count);

// The field that an episode should reach, `[nodes]`.
//
// # Safety
// `env` was opened, and no other thread uses it; `out` has room for `count` numbers.
enum cinoc_code cinoc_env_target(struct cinoc_env *env, size_t episode, CINOC_REAL *out, size_t count);

// Where the agents of an episode are, `[agents, dimensions]`.
//
// # Safety
// `env` was opened, and no other thread uses it; `out` has room for `count` numbers.
enum cinoc_code cinoc_env_positions(struct cinoc_env *env, size_t episode, CINOC_REAL *out, size_t count);

// What the agents of an episode did in the last tick, `[agents, actions]`.
//
// # Safety
// `env` was opened, and no other thread uses it; `out` has room for `count` numbers.
enum cinoc_code cinoc_env_actions(struct cinoc_env *env, size_t episode, CINOC_REAL *out, size_t count);

// The score of an episode, once it is over: the first measure of its problem.
//
// # Safety
// `env` was opened, and no other thread uses it; `score` points to a number.
enum cinoc_code cinoc_env_score(struct cinoc_env *env, size_t episode, double *score);

// What given actions would cost in the next `ticks` ticks, from where episodes are now, and the gradient of that by the actions. Both are
// `[ticks, episodes, agents, actions]`; `cost` has room for one number per episode. The environment stays as it is.
//
// # Safety
// `env` was opened, and no other thread uses it; arrays are as long as said.
enum cinoc_code cinoc_env_gradient(struct cinoc_env *env,
                                   size_t ticks,
                                   const CINOC_REAL *actions,
                                   size_t count,
                                   double *cost,
                                   CINOC_REAL *gradient);

// Opens a model: the name of one that comes with the library (heat1d), a .safetensors file, or a run folder. `changes` are settings of its problem to
// change, a line `key=value` each, or NULL.
//
// # Safety
// Strings end with a zero; `policy` points to room for a pointer.
enum cinoc_code cinoc_policy_open(const char *model,
                                  const char *changes,
                                  struct cinoc_policy **policy);

// Closes a policy; NULL is none.
//
// # Safety
// `policy` is NULL, or was opened and is not used again.
void cinoc_policy_close(struct cinoc_policy *policy);

// How many numbers a policy takes and gives.
//
// # Safety
// `policy` was opened; `sizes` points to one.
enum cinoc_code cinoc_policy_sizes(struct cinoc_policy *policy, struct cinoc_policy_sizes_t *sizes);

// One decision for one agent, as an exported controller makes it: from what its instruments read (cinoc_env_observe) and what it remembers
// (zeros at first; written anew) to its action, in the units of the actuators and within their limits.
//
// # Safety
// `policy` was opened, and no other thread uses it; arrays are as long as said.
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
