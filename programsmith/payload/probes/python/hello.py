"""Says hello: proves that a program builds and runs."""

print("hello from the run stage")
