# Everything as it was handed out.
