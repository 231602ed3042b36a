"""The recorder's parts: a suite's session in a sandbox, the logs of its calls, and what makes cases of them."""
