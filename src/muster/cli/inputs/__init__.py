"""Where commands get their objects from, and the options that say so."""
