"""The grading engine: students' code in a sandbox, the master's tests outside of it.

In the order of the work: `masters` are read from the course folder; `reading` and `aligning` lay a
submission beside its `master`; `stage`, `withheld` and `jail` put up the sandbox, where `far` runs
the student's cells; `link` talks with it, `carrying` says which functions go over to it as text,
`student` keeps the notebook alive; `testing` runs the graded cells here, as `habits` found out on
the master and `remembering` kept; `marking` makes the record, `composing` the autograded notebook;
`worker` and `pool` do so for a class. `attacks` and `doctor` try the walls.
"""
