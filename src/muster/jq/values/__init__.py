"""What queries compute with: order, arithmetic, paths, text forms, dates, patterns."""
