"""From a request to clauses, and the rule of decision over them."""
