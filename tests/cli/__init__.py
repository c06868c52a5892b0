"""The ring in which the real coding CLIs run, against a scripted model server."""
