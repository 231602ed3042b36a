"""The solution of a bundle: what opens it anywhere, and the wrapper that carries an oracle of another language."""
