"""What pages and claims take of a store."""
