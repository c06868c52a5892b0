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

enum OrderDirection { ASC DESC }

enum IssueOrderField { COMMENTS CREATED_AT UPDATED_AT }

input IssueOrder { direction: OrderDirection! field: IssueOrderField! }

enum PullRequestState { CLOSED MERGED OPEN }

interface RepositoryOwner { id: ID! login: String! }

type User implements Node & RepositoryOwner { id: ID! login: String! }

type PullRequestConnection { nodes: [PullRequest] pageInfo: PageInfo! totalCount: Int! }

type PullRequest implements Node {
  id: ID!
  headRefName: String!
  headRepository: Repository
  number: Int!
  state: PullRequestState!
  title: String!
  mergeQueueEntry: MergeQueueEntry
  reviewThreads(first: Int, after: String): PullRequestReviewThreadConnection!
}

type Repository implements Node {
  id: ID!
  name: String!
  owner: RepositoryOwner!
  pullRequest(number: Int!): PullRequest
  pullRequests(
    after: String
    baseRefName: String
    first: Int
    headRefName: String
    orderBy: IssueOrder
    states: [PullRequestState!]
  ): PullRequestConnection!
}

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
  viewer: User!
}

type Mutation {
  enqueuePullRequest(input: EnqueuePullRequestInput!): EnqueuePullRequestPayload
  resolveReviewThread(input: ResolveReviewThreadInput!): ResolveReviewThreadPayload
}
"""
