"""The model gateway: the one way from a sandbox to a model.

A process of ours on the host, one per trial, on a unix socket. It adds the key, lets through what rules/gateway.yaml
lists and nothing else, counts tokens and dollars by rules/models.yaml, stops at the trial's budget and records every
call before it is sent. What runs in a sandbox sees neither the key nor a route to anything else.
"""
