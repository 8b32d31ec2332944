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
//	│  │  ├─ chat gpt-4.1-mini      an attempt at a call of a model; kind client
//	│  │  ├─ paused                 while nobody may speak; likewise awaitingInput and error
//	│  │  ├─ execute_tool add       the use of a tool that a model has asked for
//	│  │  └─ call argument          an attempt at a call of a person, or of a judge in Go
//	│  └─ judging
//	└─ completing                   verdicts and last votes
//
// Each attempt is a span of its own, so a call that is retried has several. A failed attempt has the
// status Error, the failure's kind as error.type, and no text. An attempt that a control broke off is
// void, which is not an error. A working state continues after a pause, so its span contains that of the
// pause. A state without duration and facts has no span.
//
// Facts without duration are events of the span to which they belong:
//
//   - debate.retry is on the failed attempt, with the wait in seconds and the fallback model if there is
//     one.
//   - debate.inquiry and debate.answer are on the call that a person performs, otherwise on the working
//     state.
//   - debate.dropped, debate.warning, debate.acknowledged and debate.sent are on the working state.
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
//	              debate.cost_usd           of all attempts, failed and late ones included
//	              debate.topic              only with Content
//	              debate.label.…            only with Labels
//	of a round    debate.round              from 1
//	              debate.phase              of the format
//	              debate.round.turns        that are expected
//	              debate.cost_usd           of its calls, as far as it was known when the round ended
//	of a state    debate.state              its name
//	of a call     debate.call.id            and debate.call.kind, debate.call.attempt, debate.round
//	              debate.call.target        whom it concerns
//	              debate.call.again         the call whose rejected answer this one replaces
//	              debate.call.outcome       accepted, rejected, tools (they were asked for), failed, void, unsent, or
//	                                        late: after the debate's end
//	              gen_ai.agent.name         the participant or judge
//	 of a tool    gen_ai.operation.name     execute_tool
//	              gen_ai.tool.name
//	 of a model   gen_ai.operation.name     chat
//	              gen_ai.provider.name      see Observer.Vendors
//	              gen_ai.request.model
//	              gen_ai.request.max_tokens
//	              gen_ai.request.temperature  if one is sent
//	              gen_ai.output.type        text or json
//	              gen_ai.response.finish_reasons  stop or length, of answers that were accepted
//	              gen_ai.usage.input_tokens and .output_tokens, as the vendor reported them
//	              gen_ai.usage.cache_read.input_tokens, .cache_creation.input_tokens, .reasoning.output_tokens
//	              debate.cost_usd           and debate.cost_estimated, if it is the reservation
//	              gen_ai.output.messages    only with Content
//	of failures   error.type                a flow.Kind, or _OTHER
//
// The name that the model reports for itself (gen_ai.response.model) is in no event, so it is in no span.
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
//	debate.cost                       {USD}     what attempts cost
//	                                            by kind, provider, model
//	debate.active                     {debate}  that are being watched now
//	debate.ended                      {debate}  that were watched
//	                                            by flow, state, end_reason, error.type
//	debate.rounds                     {round}   of debates that are over
//	                                            by flow, state, end_reason
//	debate.duration                   s         of debates that are over, from their first event
//	                                            by flow, state, end_reason
//
// The state of a debate that is not over when reading ends is "unfinished", or "error". No metric
// contains an ID or the name of a participant. The first 64 flows, kinds of calls, providers and models
// keep their names; later ones are _OTHER.
//
// Watch measures everything that it reads. A debate that is watched twice, or is read again from its
// first event after it was reopened, is measured twice. To avoid that, use a MeterProvider that does
// nothing, or begin after the last event that was measured.
//
// # Privacy
//
// A trace contains no key, because no event does. Texts are left out. Only Content adds the answers of
// models, and the topic, for backends whose users may read the debates. Texts of errors, questions and
// warnings are left out even then. Names and IDs are one printable line of at most about 128 bytes,
// whatever a config or a log holds.
package otel
