"""What joins the two sandboxes of a trial: the shim and the relay beside the agent, the server beside the task."""
