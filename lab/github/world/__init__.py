"""The state of the lab's GitHub: frozen records with versions, and the verbs that change them. No I/O."""
