"""The part of GitHub's GraphQL schema that the lab serves, word for word as GitHub publishes it."""

from __future__ import annotations

SCHEMA = """
scalar BigInt
scalar DateTime
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

type Label implements Node { id: ID! name: String! }

type LabelConnection { nodes: [Label] pageInfo: PageInfo! totalCount: Int! }

interface Labelable { labels(after: String, first: Int): LabelConnection }

type Issue implements Node & Labelable {
  id: ID!
  number: Int!
  labels(after: String, first: Int): LabelConnection
}

enum OrderDirection { ASC DESC }

enum IssueOrderField { COMMENTS CREATED_AT UPDATED_AT }

input IssueOrder { direction: OrderDirection! field: IssueOrderField! }

enum PullRequestState { CLOSED MERGED OPEN }

interface Actor { login: String! }

type Bot implements Node & Actor { id: ID! login: String! }

interface RepositoryOwner { id: ID! login: String! }

type User implements Node & Actor & RepositoryOwner { id: ID! login: String! }

type PullRequestConnection { nodes: [PullRequest] pageInfo: PageInfo! totalCount: Int! }

enum PullRequestTimelineItemsItemType { REMOVED_FROM_MERGE_QUEUE_EVENT }

type RemovedFromMergeQueueEvent implements Node { id: ID! actor: Actor createdAt: DateTime! reason: String }

union PullRequestTimelineItems = RemovedFromMergeQueueEvent

type PullRequestTimelineItemsConnection { nodes: [PullRequestTimelineItems] }

enum PullRequestReviewState { APPROVED CHANGES_REQUESTED COMMENTED DISMISSED PENDING }

type PullRequestReviewConnection { nodes: [PullRequestReview] pageInfo: PageInfo! totalCount: Int! }

type PullRequest implements Node & Labelable {
  id: ID!
  labels(after: String, first: Int): LabelConnection
  headRefName: String!
  headRepository: Repository
  number: Int!
  state: PullRequestState!
  title: String!
  mergeQueueEntry: MergeQueueEntry
  reviewThreads(first: Int, after: String): PullRequestReviewThreadConnection!
  reviews(
    after: String
    author: String
    before: String
    first: Int
    last: Int
    states: [PullRequestReviewState!]
  ): PullRequestReviewConnection
  timelineItems(
    itemTypes: [PullRequestTimelineItemsItemType!]
    last: Int
  ): PullRequestTimelineItemsConnection!
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

enum ReportedContentClassifiers { ABUSE DUPLICATE OFF_TOPIC OUTDATED RESOLVED SPAM }

input MinimizeCommentInput { classifier: ReportedContentClassifiers! clientMutationId: String subjectId: ID! }

interface Minimizable { isMinimized: Boolean! minimizedReason: String }

type PullRequestReview implements Node & Minimizable { id: ID! isMinimized: Boolean! minimizedReason: String }

type MinimizeCommentPayload { clientMutationId: String minimizedComment: Minimizable }

input ResolveReviewThreadInput { clientMutationId: String threadId: ID! }

type ResolveReviewThreadPayload { clientMutationId: String thread: PullRequestReviewThread }

input AddLabelsToLabelableInput { clientMutationId: String labelIds: [ID!]! labelableId: ID! }

type AddLabelsToLabelablePayload { clientMutationId: String labelable: Labelable }

enum IssueClosedStateReason { COMPLETED DUPLICATE NOT_PLANNED }

input CloseIssueInput { clientMutationId: String issueId: ID! stateReason: IssueClosedStateReason }

type CloseIssuePayload { clientMutationId: String issue: Issue }

input UpdateIssueInput { body: String clientMutationId: String id: ID! }

type UpdateIssuePayload { clientMutationId: String issue: Issue }

input RemoveLabelsFromLabelableInput { clientMutationId: String labelIds: [ID!]! labelableId: ID! }

type RemoveLabelsFromLabelablePayload { clientMutationId: String labelable: Labelable }

type Query {
  node(id: ID!): Node
  repository(owner: String!, name: String!, followRenames: Boolean): Repository
  viewer: User!
}

type Mutation {
  addLabelsToLabelable(input: AddLabelsToLabelableInput!): AddLabelsToLabelablePayload
  closeIssue(input: CloseIssueInput!): CloseIssuePayload
  enqueuePullRequest(input: EnqueuePullRequestInput!): EnqueuePullRequestPayload
  minimizeComment(input: MinimizeCommentInput!): MinimizeCommentPayload
  resolveReviewThread(input: ResolveReviewThreadInput!): ResolveReviewThreadPayload
  removeLabelsFromLabelable(input: RemoveLabelsFromLabelableInput!): RemoveLabelsFromLabelablePayload
  updateIssue(input: UpdateIssueInput!): UpdateIssuePayload
}
"""
