// Package debate runs structured conversations between language models inside a Go program: debaters
// speak in rounds, a judge assesses each round and gives a verdict, and the host watches, pauses,
// stores and resumes what happens.
//
// # Running a debate
//
// An [Engine] holds what is live, above all the providers that reach the models. A [Config] says what
// a debate is, as data: topic, format, [Participant] values, [Judging]. It names providers and
// models as "provider/model".
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
//		…
//	}
//
// [Engine.Run] is for programs that only watch; leaving its loop cancels the debate. [Engine.Start]
// gives a [Session] with controls, and [Session.Wait] the [Record] of the debate once it is over. An
// unset field of a Config has a default, which its comment gives; [Engine.Validate] checks a config
// without starting anything, and names each field that is wrong.
//
// # Models
//
// [Provider] is one method; package provider defines it. Package provider/openaicompat reaches
// OpenAI, OpenRouter, Mistral, Ollama, vLLM and whatever else serves chat completions; package
// provider/scripted plays a script, for tests. An adapter of one's own proves itself with package
// provider/providertest. Prices and sizes of common models are part of the package; Engine.Models
// adds to them.
//
// # Formats and rounds
//
// A [Format] is data: who speaks when and to whom, how long, having read what, and the rule for the end.
// [BuiltinFormats] are "free-form" (ends when the judges have heard enough), "structured-rounds"
// (openings, rebuttals, closings), "round-limited", "convergence-seeking", "oxford" (decided by how the
// audience swings), "lincoln-douglas", "karl-popper", "roundtable", "socratic", "devils-advocate" and
// "dialectical-inquiry". A host writes its own in Go or in JSON ([ParseFormat]); [Format.Schedule]
// shows what comes of it. Config.Rounds caps those whose rounds are not fixed. In the formats that have no
// order of their own the speakers of a round hear each other, unless Config.Mode is [Simultaneous].
//
// [Assign] lets a model find positions, personas and key arguments for participants without one. An
// [Audience] votes before and after, see [Record.Swing].
//
// # Judging
//
// A judge is a model, a [Judge] in Go (a function, a service), or a person, who is asked through an
// [Inquiry]. It answers with a [Judgement] for each round and a [FinalVerdict] at the end, in JSON that
// is checked strictly. An answer that does not pass is asked for once more with what was wrong, then of
// the judge's fallback models. No score is ever made up. With a [Rubric] the marks are the judge's and
// the total is computed. [Judging] holds a panel as easily as one judge; [Record.Outcome] counts its votes,
// keeps dissent, and says in what the debate was less than configured.
//
// Packages vote and detect, with the arithmetic of votes and the detectors of repetition,
// diminishing returns and drift, are usable on their own.
//
// # Long debates
//
// A context manager ([Config.Context]) decides what is sent when a conversation nears a model's window:
// the opening and the newest turns, or, with Config.Summarizer, a summary in place of what is old. What
// was summarised, and each threshold that was reached, is an event.
//
// # Watching
//
// [Session.Events] and [Engine.Events] yield numbered events: facts, which are stored and never
// change, and between them chunks, the text of a turn as it is spoken. A reader begins after any
// number, and never slows the debate; a slow one gets chunks merged, and loses no fact.
//
// # Controls
//
// [Session.Pause] stops new calls and breaks off, or with [Drain] awaits, those in flight;
// [Session.Resume] goes on. [Session.Stop] goes to the verdict with what is there, [Session.Cancel]
// ends without one. When a failure has brought a debate to the error state, [Session.Retry] goes
// back to where it stopped.
//
// A failure that a person can decide about (a judge that fails, a key that is refused, a conversation
// that no longer fits) is an [Inquiry] with options, and the debate waits for [Session.Choose], here or
// after a restart. [Config.Unattended] chooses where nobody is there. Participants that keep failing
// are dropped while the others can go on.
//
// # Storing and resuming
//
// All that is known of a debate is its log of events, kept in a [Store]; the [Record] is their sum.
// Package store/file keeps logs in the files of a folder, module store/sql in SQLite or PostgreSQL; each
// step is saved before anybody sees it or acts on it, so a process may be killed at any moment.
// [Engine.Open] continues a stored debate, in this process or another: only what is missing is asked
// again. One process at a time holds a debate, by a lease that is given back while nothing happens, by
// [Session.Close] and by [Engine.Shutdown]; [Engine.List] finds those that nobody goes on with. Reading,
// and saying something to a debate, is possible from any process: [Engine.Record], [Engine.Events],
// [Engine.Control].
//
// [Session.Snapshot] yields the log as versioned JSON at any moment, and [Engine.Restore] goes on with
// it. [Engine.Fork] begins a new debate at any point of an old one. [Engine.Export] writes a debate
// without its secrets, [Engine.Import] reads it, and package export writes it for people.
//
// # Money
//
// [Record.Spent] and its siblings count tokens and USD by model, participant and round, failed
// attempts included. A [Budget] of USD, tokens, calls and time warns, ends the rounds early, or stops
// the debate; no call starts that could pass its hard limit. [Engine.Estimate] tells beforehand what a
// debate can cost at most.
//
// # Errors
//
// Errors are [*Error] values with a [Kind], the field or participant they concern, and a Hint for a
// person. Failed calls are tried again by their kind, as [RetryPolicy] says, then go to the
// participant's fallback models.
//
// # Tools
//
// A [Tool] registered in Engine.Tools is something that models may use while they make up a reply, where the flow
// offers it ([Call].Tools); [NewTool] makes one of a function and checks the arguments. Each use is recorded with its
// answer, is shown to the model between fences, and counts in Call.Uses. A use that may have taken effect is never
// made twice.
//
// # Writing a flow or a runtime
//
// What is particular to debates is a [Flow]: rules of the state machine and the calls that a state
// still lacks. Another kind of conversation is another Flow, in Engine.Flows; [Flow.Mermaid] draws
// it. Beneath the engine is a [Core] without any I/O: a runtime of one's own steps it with inputs and
// performs the commands that it yields by [Engine.Perform].
package debate
