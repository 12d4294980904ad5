"""First steps: list the problems, load a trained policy, run an episode, draw a figure."""

import cinoc

print(cinoc.list().to_string(index=False))
policy = cinoc.load("heat1d")
episode = cinoc.rollout(policy, seed=0, agents=8, deaths=[(100, 2), (150, 5)])
print(episode)
print(cinoc.evaluate(policy, agents=[4, 8, 16], instances=16)[["agents", "mean", "worst", "ratio"]].to_string(index=False))
cinoc.show(policy, seed=0, deaths=[(100, 2), (150, 5)]).savefig("heat1d.png", dpi=120)
print("drawn: heat1d.png")
