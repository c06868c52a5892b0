"""A public name that is gone needs a person's merge, whatever the model says of it."""

from __future__ import annotations

import pytest
from fakes.reviewer_forge import auto, tick
from fakes.reviewer_world import BASE, HEAD, World, answer

from reviewer_agent.review.patch import read
from shared.workflow import Stage

BEFORE = "def search(text): ...\n\ndef count(text): ...\n"
LESS = """\
diff --git a/directory/search.py b/directory/search.py
--- a/directory/search.py
+++ b/directory/search.py
@@ -1,2 +1,2 @@
-def search(text): ...
+def find(text): ...
 def count(text): ...
"""
MOVED = """\
diff --git a/directory/search.py b/directory/finding.py
similarity index 100%
rename from directory/search.py
rename to directory/finding.py
"""
GONE = """\
diff --git a/directory/search.py b/directory/search.py
deleted file mode 100644
--- a/directory/search.py
+++ /dev/null
@@ -1,3 +0,0 @@
-def search(text): ...
-
-def count(text): ...
"""
MORE = LESS.replace("-def search(text): ...\n", "").replace("-1,2 +1,2", "-1,1 +1,2")


@pytest.mark.parametrize(
    ("diff", "after", "named"),
    [
        (LESS, BEFORE.replace("search", "find"), "`directory/search.py: search`"),
        (MOVED, "", "`directory/search.py: count`, `directory/search.py: search`"),
        (GONE, "", "`directory/search.py: count`, `directory/search.py: search`"),
        (LESS, f"from find import find as search\n{BEFORE}", ""),
        (MORE, "", ""),
    ],
    ids=["renamed", "file moved", "file deleted", "still there", "nothing taken away"],
)
async def test_names_that_are_gone_are_found_by_comparing_files(diff: str, after: str, named: str) -> None:
    files = {(BASE, "directory/search.py"): BEFORE.encode()} | (
        {(HEAD, "directory/search.py"): after.encode()} if after else {}
    )
    world = World(answers=[answer()], diff=diff, files=files)
    (ended,) = await tick(world, **auto())
    merged = [done for done in world.done if done.startswith("merge")]
    assert bool(merged) is not bool(named)
    assert ("breaking change" in ended.sentence) is bool(named)
    body = world.reviews[0].body
    assert (f"**Removed public names:** {named}. A maintainer has to merge this." in body) is bool(named)
    assert world.stage is (Stage.APPROVED if named else Stage.DONE)


def test_which_files_lose_something() -> None:
    assert read(LESS, 9999).lessened == read(MOVED, 9999).lessened == read(GONE, 9999).lessened
    assert read(LESS, 1).lessened == {"directory/search.py"}
    assert read(MORE, 9999).lessened == set()
