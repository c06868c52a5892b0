"""What the lab's GitHub knows: frozen records on shelves, and the verbs that change them. No I/O."""
