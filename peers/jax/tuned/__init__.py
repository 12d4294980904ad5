"""The tuned problems and their policy: agents with memory that observe their neighbours and share their pushes.

`problem.make(name)` creates them."""
