"""The far side: what runs next to a student's code, and what both sides need to talk.

These files alone are put into the sandbox. They may import the standard library, NumPy, IPython
and Matplotlib; nothing that they do is trusted by the side that marks.
"""
