package debate

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate/bus"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/engine"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// Engine runs debates, and conversations of other flows. Its fields hold the live values that a [Config] refers to
// by name.
//
// Set the fields before the first use. From then on the engine is frozen and safe for concurrent use. It must not
// be copied. The zero value works, but it has no provider.
type Engine struct {
	// Providers are the ways to reach models, by the name before the slash of a model: "openai" in
	// "openai/gpt-5-mini".
	Providers map[string]Provider
	// Judges are the host program's own judges and members of audiences, by the name in JudgeConfig.Judge and Member.Judge.
	Judges map[string]Judge
	// Functions do in other flows what Judges do in debates, by the name in the config, such as that of an arbiter. A name must
	// not be in Judges too.
	Functions map[string]flow.Function
	// Contexts are context managers by the name in Config.Context. They are added to the built-in ones.
	Contexts map[string]ContextManager
	// Detectors are detectors by the name in Config.Watch and Config.StopOn. They are added to the built-in ones
	// ([format.DetectRepetition] and others). A debate that names an unknown detector is not opened.
	Detectors map[string]Detector
	// Formats are formats by the name in Config.Format. They are added to the built-in ones ([format.Builtin]), and replace
	// one of the same name. The key takes the place of the format's Name.
	Formats map[string]format.Format
	// Flows are other kinds of conversations, by the name that their configs give. The flow of debates is always
	// there.
	Flows map[string]*flow.Flow
	// Tools are functions that models may use while they write a reply, by the name under which a model calls them.
	Tools map[string]flow.Tool
	// Prompts replace templates and parts of package prompt, and templates of the flows in Flows, by their names, in all conversations.
	// [Config].Prompts replaces them in one. [prompt.Default] returns the text that is replaced. Package prompt says what a replacement may
	// hold. A replaced system prompt that does not explain the markers around the texts of others is refused: {{template "fence" .}} does.
	Prompts map[string]string
	// Models are prices and sizes by "provider/model", and what models lack ([flow.Model].Unsupported). They take precedence over the
	// embedded table.
	Models map[string]flow.Model
	// SkipModelCheck makes Validate and Start skip the check of models with their providers. Without it, the engine asks each
	// provider that can list its models, all at the same time and within 10 s, and caches the answers for 10 minutes. A start
	// fails if a key is refused or a model is unknown. If a provider cannot be asked (no permission to list models, a rate
	// limit, an outage, no answer in time), that is a warning of kind [flow.WarnUnchecked] in the log.
	SkipModelCheck bool
	// Store keeps the logs. If it is nil, the engine makes a [store.Memory] of its own, which keeps every debate until
	// the debate is deleted there. A host program that runs many debates sets a store and deletes from it.
	Store store.Store
	// Lease is how long the lease of a debate lasts; 0 means 15 s. It bounds two waits:
	//   - how long another process waits before it takes over a debate whose process has disappeared
	//   - how long a store may fail before the engine gives up the debates that it holds there
	//
	// A lease is renewed after a third of this time.
	Lease time.Duration
	// Fetch reads the files of configs and answers that have a [flow.File].URL, when the config is read, for at most 30 s. The
	// engine remembers what it has read for ten minutes, up to 28 MiB in all, so that a debate gets the bytes that Validate or
	// Estimate has seen. The bytes are stored with the debate, and no vendor gets the URL. Fetch must decide which URLs to
	// read: a user's URL may point into the network of the host program. It is called concurrently. If it is nil, files with a
	// URL are refused.
	Fetch func(ctx context.Context, url string) (Fetched, error)
	// Grace is how long a provider, judge or tool may take to return after the context of its call has ended; 0 means
	// 5 s. Then the call is given up, because its code ignores the context: the call has failed and counts as broken off,
	// and the debate, Wait, Close and Shutdown go on without it. [Engine.Stats] counts such calls. A call of the Store may take
	// as long as Lease; Close and Shutdown wait for Grace longer, and then close the session without its result.
	Grace time.Duration
	// Logger gets a line for each change of state, each failed attempt, each call that is given up and each question to a person,
	// never a text of a conversation and no key. What a person should know is at slog.LevelWarn or above: a wait of more than 2 s, a
	// call that has failed for good or is left out, an actor who is dropped, an early end.
	// If Logger is nil, these lines go to slog.Default, and the others nowhere. A logger of slog.DiscardHandler silences them.
	Logger *slog.Logger
	// MaxCalls limits how many calls are in flight at once, over all debates; 0 means no limit. Uses of tools do
	// not count, because a tool may run a debate of its own.
	MaxCalls int
	// ChunkInterval is how long chunks of a turn are gathered before a reader of Events gets them. With 0, chunks
	// come as they arrive, but at most one every 0.2 ms. 100 ms suit a screen.
	ChunkInterval time.Duration
	// CacheBytes bounds the cache in which [Engine.Advance] keeps folded logs between its calls, in bytes (approximately); 0
	// means 64 MiB.
	CacheBytes int64
	// Bus carries the chunks of calls between engines, so that readers in other processes see text while it is spoken. All
	// engines of a store need a bus that reaches the same server. If it is nil, chunks stay in this engine, and readers of
	// debates that are open elsewhere get facts; see [Engine.Events]. A slow bus never delays a debate, and a failing one never
	// ends it.
	Bus bus.Bus
	// Seed returns the secret seed of a new debate. The word of its fences, its labels, and the orders in which
	// judges are shown participants are drawn from the seed. If Seed is nil or returns "", the seed is 128 bits
	// from crypto/rand.
	//
	// A test that replays a debate returns the seed of the recording. Where models or people are not trusted, a
	// seed must not be guessable. Seed is called concurrently.
	Seed func() string

	once   sync.Once
	frozen *engine.Engine
	err    error
}

// freeze makes an engine of the fields at the first use, and returns the same one from then on.
func (e *Engine) freeze() (*engine.Engine, error) {
	e.once.Do(func() { e.frozen, e.err = e.build() })
	return e.frozen, e.err
}

// build makes an engine of the fields. Package engine knows no debates: it gets their flow and their judges like those of any other
// conversation.
func (e *Engine) build() (*engine.Engine, error) {
	formats, problems := make(map[string]Format, len(e.Formats)), checkDetectors(e.Detectors)
	for _, name := range slices.Sorted(maps.Keys(e.Formats)) {
		f := e.Formats[name]
		f = *f.Clone()
		f.Name = name
		formats[name] = f
		problems = append(problems, f.Check("Formats["+name+"]")...)
	}
	functions := make(map[string]flow.Function, len(e.Judges)+len(e.Functions))
	maps.Copy(functions, e.Functions)
	judges := engine.Present(e.Judges)
	for _, name := range slices.Sorted(maps.Keys(judges)) {
		if functions[name] != nil {
			problems = append(problems, engine.Wrong(engine.Entry("Functions", name), "has the name of a judge: give one of them another"))
		}
		if judges[name] == nil {
			problems = append(problems, engine.Wrong(engine.Entry("Judges", name), "is nil: set it to a judge"))
		}
		functions[name] = judgeFunction{judges[name]}
	}
	flows := map[string]*flow.Flow{FlowName: debateFlow(formats, maps.Clone(e.Detectors))}
	maps.Copy(flows, e.Flows)
	var fetch func(context.Context, string) (engine.Fetched, error)
	if e.Fetch != nil {
		fetch = func(ctx context.Context, url string) (engine.Fetched, error) {
			found, err := e.Fetch(ctx, url)
			return engine.Fetched(found), err
		}
	}
	l, more := engine.New(engine.Parts{
		Providers: e.Providers, Functions: functions, Contexts: e.Contexts, Flows: flows, Tools: e.Tools, Prompts: e.Prompts,
		Models: e.Models, SkipModelCheck: e.SkipModelCheck, Store: e.Store, Lease: e.Lease, Fetch: fetch, Grace: e.Grace, Logger: e.Logger,
		MaxCalls: e.MaxCalls, ChunkInterval: e.ChunkInterval, CacheBytes: e.CacheBytes, Bus: e.Bus, Seed: e.Seed,
		First: FlowName, Face: func(s *engine.Session) any { return &Session{s} },
	})
	return l, errors.Join(append(problems, more...)...)
}

// checkDetectors reports the detectors of the host program that cannot be registered.
func checkDetectors(all map[string]Detector) (problems []error) {
	all = engine.Present(all)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var says string
		switch {
		case all[name] == nil:
			says = "is nil: set it to a detector"
		case builtin(format.Detector(name)):
			says = "has the name of a built-in detector: give it another"
		case !flow.Registrable(name):
			says = "has a name that is empty, too long, or does not print: give it another"
		default:
			continue
		}
		problems = append(problems, engine.Wrong(engine.Entry("Detectors", name), "%s", says))
	}
	return problems
}

// on returns what an engine returns that is made of the fields. If they are wrong, it returns that error.
func on[T any](e *Engine, do func(*engine.Engine) (T, error)) (T, error) {
	l, err := e.freeze()
	if err != nil {
		var none T
		return none, err
	}
	return do(l)
}

// each is on for a sequence. If the fields of the engine are wrong, it yields that error.
func each[T any](e *Engine, of func(*engine.Engine) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		l, err := e.freeze()
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		of(l)(yield)
	}
}

// New returns a session whose debate can still be edited. It neither checks nor stores the config, and costs nothing: see
// [Session.Validate] and [Session.Start].
//
// It reads the files of the config. Those that only have a URL are fetched.
func (e *Engine) New(config flow.Config) (*Session, error) {
	return on(e, func(l *engine.Engine) (*Session, error) {
		return facade(l.NewSession(context.Background(), config, false))
	})
}

// Start validates a config and starts its debate. ctx bounds the start only: the debate continues after it, until
// it ends or its session is closed.
//
// If a debate exists under config.ID already, Start compares the configs, and asks no provider anything:
//   - If they are the same, Start opens the debate as Open does. If this engine has it open, Start returns that session.
//   - If they differ, the error is of kind conflict.
func (e *Engine) Start(ctx context.Context, config flow.Config) (*Session, error) {
	return e.start(ctx, config, false)
}

func (e *Engine) start(ctx context.Context, config flow.Config, unattended bool) (*Session, error) {
	return on(e, func(l *engine.Engine) (*Session, error) { return facade(l.Start(ctx, config, unattended)) })
}

// Play starts a debate as Start does, and waits until no process needs to work on it. It is for a caller who has nothing else to do
// meanwhile: the calls that follow one another are made on the caller's goroutine, which costs less than a session that runs beside
// it. Readers of [Engine.Events] see the debate as any other, and [Engine.Control] steers it.
//
// Play returns in one of these cases. The session is closed then, nothing of the debate runs any more, and any process can continue a
// debate that is not over:
//   - The debate is over. The error is nil.
//   - It comes to the error state, waits for a person, or is paused. The record is that of this moment, and the error is that of
//     [Session.WaitIdle].
//   - ctx is done. The calls in flight are aborted, as by [Session.Close]. The error is that of ctx, and there is no record.
//   - The session ends for another reason, such as [Engine.Shutdown], a store that fails, or a lack ([ErrMissing]). The error says why.
//
// A debate that exists under config.ID is continued as by Start. If this engine has it open already, Play only waits for it, and
// leaves its session open.
//
// Providers, judges and tools run on the caller's goroutine: Play closes the session if one of them panics or ends the goroutine.
// Code that ignores its context is given up after [Engine].Grace, and the debate continues elsewhere; but Play does not return before
// that code does.
func (e *Engine) Play(ctx context.Context, config flow.Config) (*flow.Record, error) {
	return on(e, func(l *engine.Engine) (*flow.Record, error) { return l.Play(ctx, config) })
}

// Run starts an unattended debate ([Config.Unattended]) and yields its events: facts, and chunks of turns as they
// are spoken. When the loop has ended, nothing of the debate runs any more.
//
// The loop ends in one of these ways:
//   - The debate ends. Its last event is the last that Run yields.
//   - The caller leaves the loop. That cancels the debate.
//   - ctx is done. The session is closed, and the debate can be opened again.
//   - The debate comes to the error state. Run yields that error, and the debate can be opened again.
//
// Nobody can answer a question within the loop. So a config in which a person takes part is refused with an error of kind validation that
// names the seat, unless the person has a time after which something follows ([flow.Term]). Run waits as long as that.
//
// One Run is one debate: its events can be ranged over once. A second range yields an error of kind state, and starts nothing.
func (e *Engine) Run(ctx context.Context, config flow.Config) iter.Seq2[flow.Event, error] {
	var ranged atomic.Bool
	return func(yield func(flow.Event, error) bool) {
		if ranged.Swap(true) {
			err := errors.New("the events of one Run can be ranged over once: call Run again for another debate")
			err = flow.WithMend(err, "call Run again for another debate")
			yield(flow.Event{}, &flow.Error{Kind: provider.KindState, Op: "run", Err: err})
			return
		}
		s, err := e.start(ctx, config, true)
		if err != nil {
			yield(flow.Event{}, err)
			return
		}
		defer s.Close()
		for event, err := range s.Events(ctx, 0) {
			if !yield(event, err) {
				if calm := context.WithoutCancel(ctx); err == nil && s.Cancel(calm) == nil {
					_, _ = s.Wait(calm) // wait for the calls that Cancel aborts, so that their cost is recorded
				}
				return
			}
			if event.Err() == nil || errors.Is(event.Err(), flow.ErrAwaitingInput) && s.session.Wakes(ctx) {
				continue
			}
			if _, done, stop := s.session.Outcome(ctx, false); done && stop != nil { // otherwise the debate is over by now
				yield(flow.Event{}, stop)
				return
			}
		}
	}
}

// Open continues a stored debate. If the debate is open in this engine already, Open returns that session. A debate
// that is over is opened for reading.
//
// Calls that were in flight when the debate's last process ended count as broken off and are made again. If another process
// holds the debate, the error is [ErrLeased].
//
// A debate that cannot be opened is put in quarantine: workers leave it alone for 30 s, and for twice as long after each
// further failure, up to an hour. The same happens if its session fails, or if a runtime cannot advance it. Opening it ends the
// quarantine, here and for all workers.
//
// If this engine lacks something that the rest of the debate may need (its flow, a provider, fallbacks included, a judge, a
// tool, a context manager, a detector), Open changes nothing. The error wraps [ErrMissing] and names what is missing. Another
// engine may have it, so the debate is quarantined in this engine alone. After the second failed attempt, Info.Quarantine shows
// it to all. A session ends with the same error if its debate comes to need something that this engine lacks. [Engine.Record],
// [Engine.Events] and [Engine.Control] need no provider, except that of a model that an answer or an amendment names.
func (e *Engine) Open(ctx context.Context, id string) (*Session, error) {
	return on(e, func(l *engine.Engine) (*Session, error) { return facade(l.Open(ctx, id)) })
}

// Events yields the numbered events of a debate after the given number, then those that happen, wherever the debate runs and
// however often it changes hands. While it is open in this engine, they are those of [Session.Events]. Otherwise Events yields the
// facts of the log as they are saved, and chunks:
//   - If the engine has a Bus, the chunks that the debate's engine publishes there. Where text is lost on the way, the next chunk
//     has Missing set.
//   - Without a Bus, a chunk without text for each call in flight, with Missing set to -1: its text is unknown. With a Bus on
//     which the debate's engine publishes nothing, that chunk comes after 4 s.
//   - Before each turn that is recorded from then on, the text of it that the reader has missed. So the chunks of a turn add up
//     to it, as in [Session.Events].
//
// The chunks of a structured answer may lack its end.
//
// Events ends in one of these ways, and holds nothing any more then:
//   - The debate is over. The last event is the last that Events yields.
//   - The caller leaves the loop.
//   - ctx is done. Events yields its error.
//   - The store fails. Events yields one error of kind store. Nothing is lost: call Events again, with the Seq of the last event
//     that it has yielded. If there is no such debate, or no longer, the error wraps [ErrNotFound] and is of kind validation.
//   - The log is damaged. The error is of kind store too, and wraps [store.ErrDamaged]: calling again does not help.
//   - The debate's flow is not registered in this engine. The error wraps [ErrMissing] and is of kind validation.
//
// Nothing else ends it: at a pause, at a question to a person and in the error state, Events waits for what others do, for
// days if need be. A session that is closed, a lease that another process acquires and [Engine.Shutdown] do not end
// it either. While it waits it has no goroutine of its own, and watches the log ([store.Watcher]).
//
// If a heartbeat is given, Events yields an event whose body is a [*flow.Heartbeat] whenever it has yielded nothing for that time. The
// time counts from when the loop's body has returned. 0, and a negative time, is none. Package sse streams a debate to a browser.
func (e *Engine) Events(ctx context.Context, id string, after int64, heartbeat ...time.Duration) iter.Seq2[flow.Event, error] {
	every := time.Duration(0)
	if len(heartbeat) > 0 {
		every = heartbeat[0]
	}
	return each(e, func(l *engine.Engine) iter.Seq2[flow.Event, error] { return l.Events(ctx, id, after, every) })
}

// List yields a description of each stored debate that matches, as [Store].List does. A debate that cannot be read is
// among them, with its error in Info.Err; [Engine.Open] returns that error too. Info.Quarantine tells which debates could not be
// opened, and why.
//
// [Filter].Due selects what a worker should open; [Engine.Work] opens it.
func (e *Engine) List(ctx context.Context, filter store.Filter) iter.Seq2[store.Info, error] {
	return each(e, func(l *engine.Engine) iter.Seq2[store.Info, error] { return l.List(ctx, filter) })
}

// Record returns the record of a stored debate, wherever the debate runs: the fold of its log. It asks no provider.
// Only the debate's flow must be registered.
func (e *Engine) Record(ctx context.Context, id string) (*flow.Record, error) {
	return on(e, func(l *engine.Engine) (*flow.Record, error) { return l.Record(ctx, id) })
}

// Control gives a control to a debate, wherever it runs. A control is a [flow.Answer], [flow.Pause], [flow.Resume],
// [flow.Stop], [flow.Cancel], [flow.Retry], [flow.Note] or [flow.Amendment], or a flow's own [flow.Sent], given as a value. No lease is
// needed, and no provider, except that of a model that an answer or an amendment names.
//
// If the debate is open in this engine, Control does what the session's method does. Otherwise it appends the facts
// to the log:
//   - If another process holds the debate, that process acts on them with its next result, or within a third of
//     its lease.
//   - If no process holds it, the facts wait until a process opens the debate. [Filter].Working with Idle finds
//     it.
//
// All of these but an Amendment, an Answer and a Note may give a Reason: one line of at most [flow.MaxReason] bytes. The log and
// exports show it in the evidence of the transition, or with the input. All may name the Person who has asked for it, as the host
// program knows them: the log has it, and no prompt does.
//
// If a control does not fit the debate's state, the error is of kind state, and nothing changes. The error of a second answer
// holds the first one ([*flow.AnsweredError]). If a reason or an input is refused, the error is of kind validation, and nothing
// changes either.
func (e *Engine) Control(ctx context.Context, id string, signal flow.Signal) error {
	l, err := e.freeze()
	if err != nil {
		return err
	}
	return l.Control(ctx, id, signal)
}

// Validate checks a config without starting anything: its fields, the names in it, and its models with the
// providers that can tell ([provider.Checker], [Engine].SkipModelCheck).
//
// The error joins one *[Error] per field. Each is of kind validation, unless a provider has reported another kind.
// errors.As finds the first, and Unwrap() []error returns all of them. An error about an unknown name lists what the engine has, such
// as the names of its tools, and models that the host program's account has: whoever may send a config may read them.
func (e *Engine) Validate(ctx context.Context, config flow.Config) error {
	l, err := e.freeze()
	if err != nil {
		return err
	}
	return l.Validate(ctx, config)
}

// Estimate computes the most that a conversation of this config can use, what it typically uses, and the smallest limits with which all
// rounds run. It calls no model and costs nothing. For a debate it walks through each round twice, at some 100,000 rounds a second. ctx
// bounds the walk.
//
// If the config's format, flow or texts are unknown, Estimate returns that error; Validate reports more. If the flow has no
// Estimate, the error is of kind validation.
func (e *Engine) Estimate(ctx context.Context, config flow.Config) (flow.Estimate, error) {
	return on(e, func(l *engine.Engine) (flow.Estimate, error) { return l.Estimate(ctx, config) })
}

// DecodeConfig reads a config of any registered flow from JSON, strictly. The key "flow" names the flow; without it
// the config is that of a debate. All other keys are the fields of the flow's config.
//
// The error joins one *[Error] of kind validation for each problem, with the path of the field.
func (e *Engine) DecodeConfig(data []byte) (flow.Config, error) {
	return on(e, func(l *engine.Engine) (flow.Config, error) { return l.DecodeConfig(data) })
}

// ConfigSchema returns the JSON schema (draft 2020-12) of the configs of a registered flow, for editors and forms: each field with its type
// and what it is for. [Engine.DecodeConfig] reads what the schema allows. [Engine.Validate] finds more, such as unknown models. If the
// flow is unknown, or has no schema, the error is of kind validation.
func (e *Engine) ConfigSchema(name string) ([]byte, error) {
	return on(e, func(l *engine.Engine) ([]byte, error) { return l.ConfigSchema(name) })
}

// Stats counts what an engine does, and what it has seen since its first use.
type Stats struct {
	// Calls is how many calls are being made now, uses of tools and those that are stuck included.
	Calls int64
	// Queued is how many calls wait now for a slot under Engine.MaxCalls.
	Queued int64
	// GivenUp is how many calls were given up, because a provider, judge, tool or store has not returned within
	// Engine.Grace after the context of the call had ended. Each of them has a line in Engine.Logger.
	GivenUp int64
	// Stuck is how many of these have not returned yet. Each holds a goroutine.
	Stuck int64
	// Open is how many debates are open now: those of sessions, and those that Advance holds.
	Open int64
	// Opened is how often a stored debate was opened.
	Opened int64
	// Rested is how often one of them came to need no process, or none for long, and was left.
	Rested int64
	// Leased is how often a debate was not opened because another process was faster.
	Leased int64
	// Refused is how often a debate was not opened, or not continued, because it is damaged, or because the engine lacks something.
	Refused int64
	// Drained is how many debates were left unfinished to other processes, by a Shutdown or at the end of Work.
	Drained int64
}

// Stats returns the counts of this moment. It is zero if the engine's fields are invalid.
func (e *Engine) Stats() Stats {
	l, err := e.freeze()
	if err != nil {
		return Stats{}
	}
	return Stats(l.Stats())
}

// Fetched is what [Engine].Fetch has found under a URL.
type Fetched struct {
	// Body is read up to [flow.MaxFile] bytes, and closed.
	Body io.ReadCloser
	// Type is the media type, such as "image/png". It counts only if the bytes do not show their type, as those of images and
	// PDFs do. If it is empty, the type is detected from the bytes.
	Type string
}

// Shutdown closes all sessions, so that another process can open their debates at once. It returns when nothing of them runs
// any more. Publishing on the Bus ends too.
//
// Calls in flight finish and are recorded; no other call starts. Calls that wait for their turn, in a limiter or under MaxCalls,
// were not sent: they are recorded as aborted, free of charge. See [provider.Waiting] for how a wrapper of the host program's own
// takes part in that.
//
// Once ctx is done, Shutdown aborts the calls that are left. They count as broken off, and are made again by the process that
// continues. Shutdown waits for calls that ignore their context for at most Grace, and then for a store that does for as long again.
// The error wraps that of ctx, and counts the debates. To abort at once, call Shutdown with a context that is done already.
//
// From then on, the engine refuses to make, start, open, submit or advance a debate, and each session that Shutdown has closed
// refuses every control. The error says "the engine is shut down" and wraps [flow.ErrClosed]. Stored debates can still be read,
// and controlled with [Engine.Control]. A session of [Engine.New] whose debate has not started is not closed: its Start is
// refused, and its Wait waits until its context is done.
func (e *Engine) Shutdown(ctx context.Context) error {
	l, err := e.freeze()
	if err != nil {
		return err
	}
	return l.Shutdown(ctx)
}
