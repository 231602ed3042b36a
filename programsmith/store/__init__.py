"""What all specs share by content: the action cache and its objects, leases, slots, the ledger of what was spent."""
