"""The plain evaluator, without recursion."""
