// Package debate runs structured conversations between language models inside a Go program. Participants argue in
// rounds. A judge assesses each round and gives a verdict. The host program watches the debate, and pauses, stores
// and resumes it.
//
// This page is a tour in order of use. The file example_test.go has a runnable example of each part.
//
// # Running a debate
//
// An [Engine] holds live values, above all the providers that reach the models. A [Config] says what a debate is, as
// data: its topic, its format, its participants, its [Judging]. A config names models as "provider/model".
//
//	engine := &debate.Engine{Providers: map[string]debate.Provider{"openai": openaicompat.OpenAI(key)}}
//	config := debate.Config{
//		Topic: "Should cities ban private cars from their centres?",
//		Participants: []debate.Participant{
//			{Name: "Ada", Side: debate.For, Model: "openai/gpt-4.1-mini"},
//			{Name: "Ben", Side: debate.Against, Model: "openai/gpt-4.1-mini"},
//		},
//		Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Model: "openai/gpt-4.1"}}},
//	}
//	for event, err := range engine.Run(ctx, config) {
//		if err != nil {
//			return err
//		}
//		switch body := event.Body.(type) {
//		case *debate.Turn:
//			fmt.Printf("\n%s: %s\n", body.Speaker, body.Text)
//		case *debate.Verdict:
//			fmt.Printf("\n%s\n", body.Summary)
//		}
//	}
//
// [Engine.Run] is for programs that only watch. Leaving its loop cancels the debate. [Engine.Play] is for those that only want the
// [Record] at the end. [Engine.Start] returns a [Session], which has controls. [Session.Wait] returns the record of the debate once
// it is over, and [Of] reads what is particular to debates:
//
//	session, err := engine.Start(ctx, config)
//	…
//	record, err := session.Wait(ctx)
//	…
//	if d, ok := debate.Of(record); ok {
//		fmt.Println(d.Outcome().Winner, d.Spent())
//	}
//
// An unset field of a Config has the default that its comment names. [Engine.Validate] checks a config without
// starting anything, and reports each field that is invalid. A config reads and writes as JSON. Reading is strict: an
// unknown key is an error.
//
// # Models
//
// A [Provider] has one method, which makes one attempt at a reply. Package provider defines it.
//
//   - Package provider/openaicompat reaches OpenAI, OpenRouter, Mistral, Ollama, vLLM and other servers of chat
//     completions.
//   - The modules provider/openai, provider/anthropic and provider/google use the interfaces of those vendors,
//     provider/vertex and provider/bedrock those of Google Cloud and AWS.
//   - Package provider/scripted plays a script, for tests.
//   - Package provider/providertest tests a provider that you write.
//
// Prices and sizes of common models are part of the library. Engine.Models adds to them and replaces them.
//
// # Formats and rounds
//
// A [Format] is data: who speaks when, to whom, how long, having read what, and when the debate ends. The built-in
// formats of package format ([format.Builtin]) are:
//
//   - "free-form", the default, ends when the judges no longer wish to continue.
//   - "structured-rounds" and "round-limited" have openings, arguments or rebuttals, and closings.
//   - "convergence-seeking" and "truth-seeking" end on convergence or diminishing returns, and let speakers change their minds.
//   - "oxford" is won by the side that gains more of the audience.
//   - "lincoln-douglas" and "karl-popper" are school forms with cross-examination.
//   - "roundtable" and "socratic" have no winner.
//   - "devils-advocate" and "dialectical-inquiry" set a proposal against its critics or a counter-plan.
//
// How speakers stand to what they argue is a [format.Stance], which Config.Stance and Participant.Stance replace. Config.Language and
// Config.Prompts change what everybody is told; see package prompt.
//
// You can write a format in Go or in JSON ([format.Parse]), and see its speeches with [Format].Schedule.
// Config.Rounds limits the rounds of formats that do not fix them. In formats without an order of their own, the
// speakers of a round hear each other, unless Config.Mode is [Simultaneous]. A [Floor] decides who of them speaks next.
//
// A participant is a model, or a person, who is asked through a [flow.Inquiry], may have a time for each speech, and a model that
// stands in; see [flow.Term] and [flow.Record].Question.
//
// With [AssignPositions] a model finds positions, personas and key arguments for participants that have no position. An
// [Audience] votes before and after the debate; see [Debate.Swing].
//
// # Judging
//
// A judge is a model, a [Judge] in Go (a function, a service), or a person, who is asked through a [flow.Inquiry]. It
// answers with a [Judgement] for each round and a [FinalVerdict] at the end, in JSON that is checked strictly. If an
// answer is not accepted, the judge is asked once more and told what was wrong. Then its fallback models are asked.
// The library never makes up a score.
//
// With a [Rubric] the judges mark by criterion, and the total is computed. [Judging] may have a panel of several
// judges. [Debate.Outcome] counts their votes, lists dissent, and names what the debate lacked of its config.
//
// Packages vote and detect can be used on their own. Package vote counts votes. Package detect finds repetition,
// diminishing returns and drift.
//
// # Watching
//
// [Session.Events] and [Engine.Events] yield numbered events. Facts are stored and never change. Between them come
// chunks, the text of a turn as it is spoken. A reader begins after any number and never delays the debate. A slow
// reader gets chunks merged, and misses no fact. Package sse streams them to a
// browser.
//
// # Controls
//
//   - [Session.Pause] stops new calls and aborts the calls in flight. [Session.Control] with a draining pause lets them finish.
//   - [Session.Resume] continues.
//   - [Session.Stop] ends the rounds. The verdict is given on what has been said.
//   - [Session.Cancel] ends the debate without a verdict.
//   - [Session.Retry] returns to the point at which a failure has stopped the debate.
//   - [Session.Say] says something in between, as somebody who takes no part ([flow.Note]).
//
// The debate waits up to [Config].Patience for an outage to pass. A rule of [Config].OnFailure decides about any other
// permanent failure. Without a rule, the failure becomes an inquiry with options. The debate waits until [Session.Answer]
// answers it, in this process or after a restart. With [Config].Unattended nobody is asked: the debate stops in the error
// state, from which [Session.Retry] continues. Nobody is dropped or skipped unless a rule or a person says so.
//
// # Long debates
//
// A context manager (Config.Context) decides what is sent when a conversation approaches the window of a model. The
// simplest sends the openings and the newest turns. With Config.Summarizer, a summary replaces the older turns. Without
// one, the model of a judge summarises for the judge, so that a verdict rests on the whole debate. [Outcome].Unread names
// what a judge could not read. Each summary is an event, and so is each threshold that is reached.
//
// # Storing and resuming
//
// A debate is its log of events, and a [Record] is the fold of a log. Logs are kept in a [Store]: [store.Memory],
// package store/file with one journal per debate, or module store/sql with SQLite or PostgreSQL. Every step is saved
// before any reader sees it and before the engine acts on it. So a process may be killed at any moment.
//
// [Engine.Open] continues a stored debate, in this process or another. Only calls without a result are made again. A lease lets
// one process at a time work on a debate. It is released when the debate is idle, and by [Session.Close] and [Engine.Shutdown].
// Shutdown can let the calls in flight finish first. [Engine.Submit] stores a debate for workers, and [Engine.Work] is a worker: it
// runs what needs a process. Any process may read a debate with [Engine.Record] and [Engine.Events], and control it with
// [Engine.Control].
//
// [Session.Snapshot] returns the log as versioned JSON at any moment, and [Engine.Import] stores it, for [Engine.Open] to continue.
// [Engine.Fork] starts a new debate from any event of an old one, and [Engine.Reopen] one that goes on after the verdict.
// [Engine.Export] writes a debate without its secrets, [Engine.Import] reads it, and [Engine.Verify] checks a stored log. Package export
// writes a debate as Markdown or HTML.
//
// # Money
//
// A [Record] counts tokens and USD in total, by model, by participant and by round. Failed attempts are included. A
// [Budget] of USD, tokens, calls and time has limits that warn, that end the rounds early, or that stop the debate. No
// call starts whose worst case would pass a hard limit. What calls may have cost that were broken off, or whose usage was not
// reported, stands beside the cost ([flow.Unsettled]). [flow.SpentByLabel] sums debates by a label,
// and [store.SumOf] says what those of a tenant have cost and may still cost.
//
// [Engine.Estimate] computes beforehand the most that a debate can cost, what it typically costs, and the smallest limit with
// which all rounds run. A limit below the worst case is a warning at the start. 0.25 USD are 25 * [USD] / 100. Amounts and
// their JSON are exact; [Money.Rounded] writes one for people: four significant digits, and cents in full.
//
// # Errors
//
// Errors are [*Error] values. They have a Kind, such as [provider.KindCostLimit], the field or participant they concern, and a
// Hint for a person. The exceptions are context errors, [flow.ErrClosed], errors that wrap it, and [*flow.AwaitingInputError],
// which Session.Wait returns, and which says what is asked. Failed calls are retried by their kind, as a [RetryPolicy] says.
// Then the participant's fallback models are asked.
//
// Engine.Logger gets a line for each change of state and each failure, and never a text of a debate. Without a Logger, warnings
// go to slog.Default: a debate that waits, goes without something, or ends early says so.
//
// # Tools
//
// A [Tool] is a function that models may use while they write a reply. It is registered in Engine.Tools, and offered
// where the flow allows it. [flow.NewTool] makes a tool of a Go function and checks the arguments. Each use is
// recorded with its answer, and the model is shown the answer between fences.
//
// An interrupted use is repeated if its tool is read-only or idempotent ([flow.ToolInfo]). A person decides about any other
// interrupted use. A tool may need a person's approval before each use. Where nobody can be asked, [Config].ToolPolicy decides.
//
// # Flows and packages
//
// What holds for every kind of conversation is in package flow: events, records, the machine, budgets, retries, tools.
// What is particular to debates is one [Flow] in this package. Package deliberation is another flow, in which agents
// propose, critique and refine. [Engine.Start] takes the config of any flow that is registered in Engine.Flows.
//
// A program that runs debates uses the names of this package. The most common names of packages flow, format, store
// and provider have aliases here. The others, such as [flow.Inquiry] and [store.Memory], come from their packages.
// Authors of flows, formats and stores use the names of those packages throughout.
//
//   - A flow is states, rules, and the calls that each state still lacks. [Flow].Mermaid draws its machine.
//   - A runtime of your own needs only [Engine.Advance] and [Engine.Call]. The core beneath them, [flow.Core], does no I/O.
//   - A store of your own is tested by package store/storetest.
package debate
