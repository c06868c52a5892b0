"""From the world's records to GitHub's JSON; nothing here decides anything."""
