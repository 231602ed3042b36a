"""What runs on the agent's side, before anything is handed in."""
