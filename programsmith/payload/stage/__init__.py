"""One launch at a stage of the verifier's container, for checks that look at the stage itself."""
