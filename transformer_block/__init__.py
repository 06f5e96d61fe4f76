"""The transformer block in NumPy: every forward and backward pass of the course, one file each."""
