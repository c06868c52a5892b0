"""What is sent to GraphQL, judged by the part of GitHub's own schema that it concerns."""

from __future__ import annotations

import pytest

pytest.importorskip("graphql", reason="graphql-core is not installed (make test-clients installs it)")
from graphql import build_schema, parse, validate

from shared.github.merge_queue import ENQUEUE, LOOK

SCHEMA = """
scalar GitObjectID

interface Node { id: ID! }

enum MergeQueueEntryState { AWAITING_CHECKS LOCKED MERGEABLE QUEUED UNMERGEABLE }

type MergeQueueEntry implements Node { id: ID! position: Int! state: MergeQueueEntryState! }

type PullRequest implements Node { id: ID! isInMergeQueue: Boolean! mergeQueueEntry: MergeQueueEntry }

input EnqueuePullRequestInput {
  clientMutationId: String
  expectedHeadOid: GitObjectID
  jump: Boolean
  pullRequestId: ID!
}

type EnqueuePullRequestPayload { clientMutationId: String mergeQueueEntry: MergeQueueEntry }

type Query { node(id: ID!): Node }

type Mutation { enqueuePullRequest(input: EnqueuePullRequestInput!): EnqueuePullRequestPayload }
"""
"""The types of https://docs.github.com/graphql that the merge queue needs, as they are published there."""


@pytest.mark.parametrize("document", [ENQUEUE, LOOK])
def test_a_document_is_valid_by_githubs_schema(document: str) -> None:
    assert validate(build_schema(SCHEMA), parse(document)) == []


def test_a_wrong_one_would_be_noticed() -> None:
    assert validate(build_schema(SCHEMA), parse(ENQUEUE.replace("expectedHeadOid", "headOid"))) != []
