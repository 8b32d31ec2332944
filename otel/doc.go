// Package otel makes OpenTelemetry traces and metrics of debates. It only reads the events that every
// debate reports: it wraps nothing and changes no provider. A program that does not import it pays
// nothing for it.
//
//	observer := &otel.Observer{} // uses the global providers
//	for event, err := range observer.Watch(ctx, engine.Run(ctx, config)) {
//		…
//	}
//
// [Observer.Watch] passes the events on unchanged, so it can wrap any loop that reads events:
// [debate.Engine.Run], [debate.Session.Events], or [debate.Engine.Events], which makes the trace of a
// debate that ended long ago. All times are those of the events; the clock is never read.
// [Observer.Observe] is for a session whose events nobody reads.
//
// # Spans
//
//	invoke_workflow debate          the debate; a child of the span in ctx, if there is one
//	├─ initializing                 positions and first votes, if there are any
//	├─ round                        one for each
//	│  ├─ awaitingResponses         a working state of the flow
//	│  │  ├─ invoke_agent Ada       a participant or judge at work on one call of a model
//	│  │  │  ├─ chat gpt-4.1-mini   an attempt at it; kind client
//	│  │  │  └─ execute_tool add    the use of a tool that the model has asked for
//	│  │  ├─ paused                 while nobody may speak; likewise awaitingInput and error
//	│  │  └─ call argument          an attempt at a call of a person, or of a judge in Go
//	│  └─ judging
//	└─ completing                   verdicts and last votes
//
// Each attempt is a span of its own, so a call that is retried has several. The span of the agent contains them, the
// waits between them and the tools. It ends with the answer, or when no further attempt follows by itself. If a person
// has the call tried once more, that is another span of the agent. A call of no participant or judge, such as a
// summarizer's, has no agent span.
//
// A failed attempt has the status Error, the failure's kind as error.type, and no text. So has an agent whose last
// attempt failed. An attempt that a control broke off is void, which is not an error. One that was lost with its process
// is void too, with the error.type process_gone, and is made again. A working state continues after a pause, so its span
// contains that of the pause. A state without duration and facts has no span.
//
// Facts without duration are events of the span to which they belong:
//
//   - debate.retry is on the failed attempt, with the wait in seconds and the fallback model if there is
//     one.
//   - debate.inquiry and debate.answer are on the call that a person performs, otherwise on the working
//     state.
//   - gen_ai.evaluation.result is one score that a judge has given: on the round for an assessment, on the debate for a
//     verdict.
//   - debate.control is a pause, resume, stop, cancel or retry of the host program, and debate.sent an input of the flow. Both
//     are on the working state, with debate.trigger, and with debate.trigger.reason only with Content.
//   - debate.inquiry about the use of a tool is on the working state too. It has the name of the tool, and the call of the use
//     in debate.inquiry.calls.
//   - debate.dropped, debate.warning, debate.skipped, debate.retried_now and debate.redacted are on the working state.
//
// However reading ends (the debate's end, an error, a break, a panic), every span ends with it, at the
// time of the last event. The spans of a debate that is not over have debate.unfinished. If a reader
// begins in the middle of a debate, the debate's span has debate.after. Calls whose beginning it missed
// get a beginning that is computed from their result and their duration. The span of a debate in the
// error state has the failure's kind and the status Error. So has the span of a debate whose events ended
// with an error, unless the error only says that the host program has stopped reading.
//
// # Attributes
//
// Names that begin with gen_ai or error are those of the semantic conventions, version 1.41.0. It is the
// last version that includes the conventions for generative AI.
//
//	of a debate   gen_ai.operation.name     invoke_workflow
//	              gen_ai.workflow.name      the flow
//	              gen_ai.conversation.id    the debate's ID; calls have it too
//	              debate.participants       and debate.max_rounds: of the config
//	              debate.format             and debate.judges: of the config of a debate
//	              debate.state              at the end: completed, canceled, error, …
//	              debate.end_reason         a flow.EndReason
//	              debate.rounds             that began
//	              debate.calls              attempts
//	              debate.cost_usd           of all attempts, failed and late ones included, as far as it is known
//	              debate.cost_at_most_usd   the most that they may have cost beyond that: of attempts that were broken
//	                                        off, or whose provider reports no usage. Rounds, agents and calls have it
//	                                        too; a call in flight counts when its round or agent ends
//	              debate.topic              only with Content
//	              debate.label.…            only with Labels
//	of a round    debate.round              from 1
//	              debate.phase              of the format
//	              debate.round.turns        that are expected
//	              debate.cost_usd           of its calls, as far as it was known when the round ended
//	of a state    debate.state              its name
//	of an agent   gen_ai.operation.name     invoke_agent
//	              gen_ai.agent.name         the participant or judge; gen_ai.agent.id is for agents of a vendor's
//	              gen_ai.provider.name      and gen_ai.request.model: of the first attempt
//	              debate.call.id            and debate.call.kind, debate.round
//	              debate.cost_usd           of its attempts
//	of a call     debate.call.id            and debate.call.kind, debate.call.attempt, debate.round
//	              debate.call.target        whom it concerns
//	              debate.call.reask         true where the answer before was rejected, and is asked for again
//	              debate.call.outcome       accepted, rejected, tools (they were asked for), continued (the reply was
//	                                        cut, and the next attempt goes on), failed, unknown (of a tool: whether it
//	                                        took effect), void (it was broken off, or lost with its process, and is
//	                                        made again), unsent (too large for the window), or late: after the debate's end
//	              gen_ai.agent.name         the participant or judge
//	 of a tool    gen_ai.operation.name     execute_tool
//	              gen_ai.tool.name
//	 of a model   gen_ai.operation.name     chat
//	              gen_ai.provider.name      see Observer.Vendors
//	              gen_ai.request.model
//	              gen_ai.request.max_tokens
//	              gen_ai.request.temperature  if one is sent
//	              gen_ai.request.top_p, .stop_sequences, .seed  if they are sent; line breaks in a stop as \n
//	              debate.call.effort        and debate.call.verbosity, .service_tier, .search: of the options that are sent
//	              debate.call.left_out      abilities that the model lacks, and parameters that the vendor refused: what
//	                                        the config asks for and the request went without
//	              gen_ai.output.type        text or json
//	              gen_ai.response.id        of the reply, if the vendor names one
//	              gen_ai.response.model     of the reply: as the vendor names it, or the one that was asked; none if no
//	                                        reply came
//	              gen_ai.response.finish_reasons  stop or length, of answers that were accepted or continued
//	              gen_ai.usage.input_tokens and .output_tokens, as the vendor reported them
//	              gen_ai.usage.cache_read.input_tokens, .cache_creation.input_tokens, .reasoning.output_tokens
//	              debate.cost_usd           and debate.cost_at_most_usd
//	              debate.cost_told          if the vendor has told its own cost, which debate.cost_usd then is;
//	                                        debate.cost_table_usd is what the table of prices says of the same usage
//	              gen_ai.output.messages    only with Content
//	of a score    gen_ai.evaluation.name    assessment.quality, assessment.score and assessment.criterion.… (0 to 10),
//	                                        verdict.quality and verdict.score (0 to 100)
//	              gen_ai.evaluation.score.value
//	              gen_ai.evaluation.score.label  won or lost: of a verdict's score, unless nobody has won
//	              gen_ai.evaluation.explanation  only with Content
//	              gen_ai.agent.name         whose score it is; of a quality: none
//	              debate.evaluation.judge   who has given it, in the call debate.call.id
//	              debate.evaluation.swapped the judge read the participants in the other order
//	of failures   error.type                a flow.Kind, process_gone (the call was lost with its process), or _OTHER
//
// Fields and headers of the vendor's own (provider.Options.Extra and Header) are left out. What vendors report is theirs,
// and nothing checks it: it is in spans only, so it makes no time series.
//
// # Metrics
//
//	gen_ai.client.operation.duration  s         how long a request took, without the queue of Engine.MaxCalls
//	                                            by provider, model, error.type
//	gen_ai.client.token.usage         {token}   of a request, input and output
//	                                            by provider, model, token.type
//	debate.calls                      {call}    attempts that have ended
//	                                            by kind, provider, model, outcome, error.type
//	debate.retries                    {call}    attempts after the first
//	                                            by kind, provider, model
//	debate.cost                       {USD}     what attempts cost, as far as it is known
//	                                            by kind, provider, model
//	debate.cost.at_most               {USD}     the most that attempts may have cost beyond that
//	                                            by kind, provider, model
//	debate.active                     {debate}  that are being watched now
//	debate.ended                      {debate}  that were watched
//	                                            by flow, state, end_reason, error.type
//	debate.rounds                     {round}   of debates that are over
//	                                            by flow, state, end_reason
//	debate.duration                   s         of debates that are over, from their first event
//	                                            by flow, state, end_reason
//	debate.lag                        s         from a start, an answer or a control to the next call
//	                                            by lag.after: start, answer, control
//
// The lag is a worker's: how long a debate that has something to do waits for a process. It counts where no other call is in flight then.
// A wait of the debate's own, such as one before a retry, is part of it.
//
// [Observer.Conversations] makes metrics of a store, for all processes that work on it. They have the attributes that the host program
// gives.
//
//	debate.conversations      {debate}  unfinished ones
//	                                    by state, held (a process has the lease), quarantined
//	debate.conversations.age  s         how long the first of these has been in its state
//	                                    likewise
//	debate.due                {debate}  that need a process and have none
//	debate.due.age            s         how long the first of these has waited: since its alarm has rung, or its last event
//
// [Observer.Engine] makes metrics of what an engine counts ([debate.Stats]), with the attributes that the host program gives.
//
//	debate.engine.calls     {call}    that the engine is making
//	debate.engine.queued    {call}    that wait for a slot under Engine.MaxCalls
//	debate.engine.given_up  {call}    that were given up, since something did not return
//	debate.engine.stuck     {call}    of these, that have not returned yet
//	debate.engine.open      {debate}  that are open
//	debate.engine.opened    {debate}  times that one was opened
//	debate.engine.rested    {debate}  times that one was left, since it needed no process
//	debate.engine.leased    {debate}  times that another process was faster
//	debate.engine.refused   {debate}  times that one could not be opened or continued
//	debate.engine.drained   {debate}  that were left unfinished to other processes
//
// dashboard.json is a dashboard of these metrics for Grafana, as Prometheus names them. docs/guides/production.md has alerts.
//
// The state of a debate that is not over when reading ends is "unfinished", or "error". No metric
// contains an ID or the name of a participant. The first 64 flows, kinds of calls, providers, models and
// states keep their names; later ones are _OTHER.
//
// Observe measures what happens in a session, and nothing from before it was opened. Watch measures everything that it
// reads: a debate that is watched twice is measured twice. To avoid that, use a MeterProvider that does nothing, or begin
// after the last event that was measured.
//
// # Privacy
//
// A trace contains no key, because no event does. Texts are left out. Only Content adds the answers of
// models, the reasons of judges and of the host program's controls, and the topic, for backends whose users may read the
// debates. Texts of errors, questions and warnings are left out even then. Names and IDs are one printable line of at most
// about 128 bytes, whatever a config or a log holds.
package otel
