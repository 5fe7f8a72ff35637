"""The guards of placements, as the controllers keep them: judged and remembered, recorded, foreseen for plans."""
