// Package otel makes OpenTelemetry traces and metrics of debates. It reads what every debate tells anyway, its events:
// nothing is wrapped, no provider is changed, and a program that does not import the package pays nothing for it.
//
//	observer := &otel.Observer{} // the providers that are registered globally
//	for event, err := range observer.Watch(ctx, engine.Run(ctx, config)) {
//		…
//	}
//
// [Observer.Watch] hands the events on unchanged, so that it goes around any loop that reads some: of
// [debate.Engine.Run], of [debate.Session.Events], or of [debate.Engine.Events], which makes the trace of a debate
// that was over long ago. All times are those of the events; the clock has no part in a trace.
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
// Each attempt is a span of its own: a call that is tried again has as many. One that failed has the status Error,
// the failure's kind as error.type, and no text; what a control broke off is void, and no error. A working state
// goes on after a pause, so its span holds that of the pause. A state that takes no time and has no facts has no span.
//
// What takes no time is an event of the span that it belongs to: debate.retry on the failed attempt, with the wait
// in seconds and the fallback model if there is one; debate.inquiry and debate.answer on the call that a person
// performs; these two, debate.dropped, debate.warning, debate.acknowledged and debate.sent on the working state.
//
// However reading ends (the debate's end, an error, a break, a panic), every span ends with it, at the time of the
// last event. Those of a debate that was not over have debate.unfinished. A reader that begins after an event in
// the middle gets what is left: the debate's span has debate.after, and calls whose beginning it missed begin as long
// before their result as they took. The span of a debate in the error state has the failure's kind and the status
// Error; so has one whose events ended with an error, unless it only says that the host has left.
//
// # Attributes
//
// Names that begin with gen_ai or error are those of the semantic conventions, version 1.41.0, which is the last one
// that the conventions for generative AI are part of.
//
//	of a debate   gen_ai.operation.name     invoke_workflow
//	              gen_ai.workflow.name      the flow
//	              gen_ai.conversation.id    the debate's ID; calls have it too
//	              debate.format             and debate.participants, debate.judges, debate.max_rounds: of the config
//	              debate.state              at the end: completed, canceled, error, …
//	              debate.end_reason         a debate.EndReason
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
//	              gen_ai.request.temperature  as the config has it; not of summaries, nor of flows of a host's own
//	              gen_ai.output.type        text or json
//	              gen_ai.response.finish_reasons  stop or length, of answers that were accepted
//	              gen_ai.usage.input_tokens and .output_tokens, as the vendor reported them
//	              gen_ai.usage.cache_read.input_tokens, .cache_creation.input_tokens, .reasoning.output_tokens
//	              debate.cost_usd           and debate.cost_estimated, if it is the reservation
//	              gen_ai.output.messages    only with Content
//	of failures   error.type                a debate.Kind, or _OTHER
//
// What the model calls itself (gen_ai.response.model) is in no event, and so in no span.
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
// The state of a debate that was not over when its reading ended is "unfinished", or "error". No metric has the name
// of a participant or an ID. Of flows, kinds of calls, providers and models the first 64 keep their names, and what
// comes then is _OTHER. Watch measures what it reads: a debate that is watched twice, or again from its first event after it was
// opened anew, is measured twice. Read what was measured before with a MeterProvider that does nothing, or begin
// after it.
//
// # What leaves the process
//
// No key can be in a trace, since none is in an event. Texts are left out. Only Content adds what models answered, and
// the topic, for those who may read the debates; what an error, a question or a warning says stays out even then.
// Names and IDs are one printable line of about 128 bytes at most, whatever a config or a log holds.
package otel
