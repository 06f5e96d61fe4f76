"""The grading engine: students' code in a sandbox, the master's tests outside of it."""
