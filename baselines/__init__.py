"""RL baselines: standard reinforcement-learning libraries on the environments of this project."""
