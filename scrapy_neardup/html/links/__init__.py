"""What the addresses in a page lead to."""
