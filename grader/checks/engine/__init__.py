"""The machinery behind `check`: it draws inputs, calls, compares and names the mistake."""
