"""How a delta reaches storage: one file per form, and the choice between them.

Nothing here rests on a declared key being true: what is found by a key is checked inside the commit
itself, and a violated key makes the commit refuse and take the form that counts duplicates.
"""
