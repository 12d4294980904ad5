"""The tuned problems and their policy: agents that remember, know their neighbours and share their pushes. `problem.make(name)` has them all."""
