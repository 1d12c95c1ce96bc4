"""What the decisions of docs/design.md rest on: their alternatives, measured."""
