"""The AHDB register: what a session may hold as asserted, open, wanted, believed, and out of sight.

ASSERT, HYPOTHESIZE, DRIVE, BELIEVE and HYPERTHESIS are registers of one hash-chained journal (`journal`) of
typed entries (`entries`), folded without a clock (`view`). After each verification the director compiles the
entries (`director`); into ASSERT there is one way, `admission.assert_from`, and `proof` walks it again
whenever an ASSERT is appended or shown.
"""
