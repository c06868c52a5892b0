"""The part of GitHub's GraphQL schema that the lab serves, word for word as GitHub publishes it."""

from __future__ import annotations

SCHEMA = """
scalar BigInt
scalar GitObjectID

interface Node { id: ID! }

enum MergeQueueEntryState { AWAITING_CHECKS LOCKED MERGEABLE QUEUED UNMERGEABLE }

type MergeQueueEntry implements Node { id: ID! state: MergeQueueEntryState! }

type PageInfo { endCursor: String hasNextPage: Boolean! }

type PullRequestReviewComment implements Node { id: ID! fullDatabaseId: BigInt }

type PullRequestReviewCommentConnection { nodes: [PullRequestReviewComment] totalCount: Int! }

type PullRequestReviewThread implements Node {
  id: ID!
  isResolved: Boolean!
  comments(first: Int, after: String): PullRequestReviewCommentConnection!
}

type PullRequestReviewThreadConnection { nodes: [PullRequestReviewThread] pageInfo: PageInfo! totalCount: Int! }

type PullRequest implements Node {
  id: ID!
  mergeQueueEntry: MergeQueueEntry
  reviewThreads(first: Int, after: String): PullRequestReviewThreadConnection!
}

type Repository implements Node { id: ID! pullRequest(number: Int!): PullRequest }

input EnqueuePullRequestInput {
  clientMutationId: String
  expectedHeadOid: GitObjectID
  jump: Boolean
  pullRequestId: ID!
}

type EnqueuePullRequestPayload { clientMutationId: String mergeQueueEntry: MergeQueueEntry }

input ResolveReviewThreadInput { clientMutationId: String threadId: ID! }

type ResolveReviewThreadPayload { clientMutationId: String thread: PullRequestReviewThread }

type Query {
  node(id: ID!): Node
  repository(owner: String!, name: String!, followRenames: Boolean): Repository
}

type Mutation {
  enqueuePullRequest(input: EnqueuePullRequestInput!): EnqueuePullRequestPayload
  resolveReviewThread(input: ResolveReviewThreadInput!): ResolveReviewThreadPayload
}
"""
