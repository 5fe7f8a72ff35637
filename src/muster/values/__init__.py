"""Small value types and grammars shared by the languages, the kinds and the selectors. Pure."""
