"""Reinforcement learning by the field's own libraries on our environments."""
