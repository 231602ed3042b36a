"""Models that decide what a block otherwise decides by rule: what is asked, who answers, what holds of an answer.

One seam: a Request goes in, a Reply comes out. Who answers is a provider through the gateway, or a replay of the
project. No answer is believed: it keeps to the block's schema and passes the block's own checks, or the rule decides.
"""
