"""What URL rules save, on generated sites whose truth is known."""
