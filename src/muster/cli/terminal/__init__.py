"""What every command says things with: tables, colour, progress, questions, exit codes."""
