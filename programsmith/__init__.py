"""ProgramSmith turns a code repository into a verified reinforcement-learning coding environment."""

__version__ = "0.1.0"
