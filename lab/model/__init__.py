"""A scripted model behind two vendors' wire formats: what it answers, and how each vendor spells it."""
