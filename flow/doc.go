// Package flow is the kernel of conversations between models: what holds for a debate, a deliberation, and any other
// kind. It does no I/O.
//
// docs/guides/flow.md says how to write a flow.
//
// A conversation is a log of events, numbered from 1. The [Record] is what the log adds up to, and a [Flow] is what
// differs between kinds of conversation. A [Core] holds one conversation: it takes inputs, and returns the events to
// append and the calls to make. A runtime around the core does both; package debate has one.
//
// Three words are used in one sense only. An actor is a participant, or another name that calls are made for: a judge,
// an evaluator, the summarizer. A working state is one in which calls are made. The conclusion is what a flow does in
// [StateCompleting]: a verdict, a synthesis.
//
// # For a host program
//
// These are set in configs and on an engine. The root package has aliases for most of them.
//
//   - defaults and context managers: [DefaultContext] and the constants beside it
//   - what configs ask of models beyond text: [Requirement], [Requirements]
//   - limits and prices: [Budget], [Money] ([USD]), [Model], [LookupModel], [KnownModels], [SplitModel], [Estimate]
//     ([PlannedCall], [MaxSteps]), [TypicalReply]
//   - failures: [Error], [WithMend], [Kind], [RetryPolicy], [FailureRule], [KindConfirm], [DefaultPatience], [ErrAwaitingInput]
//     ([AwaitingInputError]), [AnsweredError], [ErrClosed], [ErrNotFound], [ErrConflict], [ErrLeased], [ErrMissing],
//     [ErrUnsupported], [ErrUnpriced], [ErrPaused]
//   - tools: [Tool], [NewTool], [WithApproval], [ToolInfo], [ToolUse], [ToolPolicy]
//   - answers of persons: [Term], [Question] ([Passage]), [Inquiry], [InquiryCost], [FailedCall], [PendingUse], [Answer], [Option]
//   - what is said in between, and after the end: [Note], [Reopening], [ErrForked]
//   - which conversation a call is about: [Expecting], [Expected], [ExpectedOf]
//
// # For readers of a record
//
// A [Record] holds the contributions as a [Turn] each, and methods for all else. An [Event] holds a [Body] of the
// type that its [EventKind] names.
//
//   - the course: [Start], [Parent], [Transition], [Round], [EndReason], [EndedByHost] and the constants beside it, [Opened],
//     [Sent], [Received], [MaxReason], [Warning], [WarningKind], [RetriedNow], [Amendment] ([ModelChoice])
//   - a call and its attempts: [Intent], [Spend], [VendorMetadata], [LeftOut], [AttemptEnd], [SpendOf], [Turn], [Chunk], [Heartbeat],
//     [Summarized], [Rejection], [Failure], [FailedAttempt], [Skipped], [Withdrawn],
//     [CallUsage] ([UsedTool]), [Charge], [Late], [ToolCalls], [AskedTool], [Continued], [ToolResult], [ToolOffer], [Gap]
//   - persons: [Inquiry] ([Reading]), [Questions], [Answer], [Note], [KindNote]
//   - files: [File], [Document], [MaxFile], [MaxFiles], [HashOf], [IsHash], [LogFiles], [ErrNoFile]
//   - what turns quote from documents: [Quotation] ([QuoteStatus]), [MaxQuotations]
//   - actors: [ParticipantState], [Status], [Described], [Dropped]
//   - costs: [Account], [Unsettled], [SpentByLabel]
//   - what was removed: [Redaction], [Redacted] ([Removed])
//   - logs as JSON: [ReadEvent], [Foreign], [LogVersion]
//
// # For authors of a flow
//
// A [Flow] is a table of states with the work of each. A flow outside this repository can do all that the debate flow can.
//
//   - the table: [State], [Trigger], [Rule], [Guard], [Lifecycle], [Compile], [TriggerReopen] ([Reopened])
//   - the work of a state: [Step], [Exit], [EndReason], [Missing], [Then]
//   - what is asked, and of which performer: [Call], [CallKind], [KindSummary], [KindTool], [Performer], [ForPerson], [Function], [TaskOf],
//     [Asked], [View], [OnFail], [Allowance]
//   - answers as JSON: [Schema], [NewSchema], [AnswerSchema], [AnswerOf], [AnswerTo], [Names]
//   - its config: [Config] ([Naming]), [DecodeTo], [NormalizeTo], [ConfigAs], [Settings], [TopicOf], [Seat], [Seats], [Models],
//     [NoSummarizer], [Registry], [Findings], [NameField], [MaxText], [Registrable], [Unknown], [Unregistered]
//   - its files: [Filed], [Files], [EachFile], [TopicDocuments], [CloneDocuments]
//   - copies of a config: [CloneValue], [CloneRules], [RetryPolicy]
//   - reading and writing JSON: [DecodeStrict], [MaxProblems], [Within], [Duration], [Value], [EncodeConfig]
//   - prompts: [Setup], [Views], [Shuffled], [NeutralLabels], [ReplaceNames], and Record.Quote
//   - its own events and state: [Projection] ([Paced]), [ProjectionOf], [Body], [Spend], [Spectated], [Veil]
//   - estimates: [Estimator], [EstimateRounds]
//   - composed from another flow: [Named]
//
// # For authors of a runtime
//
// A runtime makes a [Core] with [NewCore], steps an [Input] at a time, and does what the [Output] says, in its order.
//
//   - flows: [Flows], [Machine], [Compile]; what a conversation needs of an engine: [Need]
//   - what a host program wants ([Signal]): [Edit], [Validate], [Validated], [Start], [Pause], [Resume], [Stop],
//     [Cancel], [Retry], [Answer], [Sent], [Amendment]
//   - what happens: [Tick], [Opened], [Result], [Failed], [Lost], [GivenUp], [Outcomes]
//   - calls: [Command], [Classify], [Metadata], [MetadataOf]
//   - before the start: [EstimateStart], [CheckBudget], [ReadableJSON], [Unnamed], and Flow.Render; amendments: [AmendedModels]
//   - logs: [SameEvent], [ErrRewritten]
//
// Engine.Advance does all of this for a runtime with a store; [Next] is what is left to such a runtime.
package flow
