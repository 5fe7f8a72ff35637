"""What compiling and evaluating may take: estimates, runtime costs, meters and budgets."""
