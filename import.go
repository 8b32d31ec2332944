package debate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agonist-dev/debate/context/window"
)

// Export writes a debate as versioned JSON, one event a line: all of its log but the secret seed and the
// prompts, which hold words that come from it. It can be given away like the debate itself, and
// [Engine.Import] reads it. Package export writes the same for people. A debate that still runs is
// exported as it is saved now. A log that is larger than [MaxSnapshot] is an error of kind validation.
func (e *Engine) Export(ctx context.Context, id string, w io.Writer) error {
	l, err := e.freeze()
	if err != nil {
		return err
	}
	events, err := l.host.read(ctx, id)
	if err != nil {
		return err
	}
	return writeSnapshot(w, id, events, public)
}

// Import reads what [Engine.Export] or [Session.Snapshot] has written, and stores it under its id, which
// it yields; nothing is opened. Everything is checked before: the JSON strictly, the config as Validate
// does it (but that no provider or judge need be registered), the order and times of the events, and
// that they follow from each other. A debate without its seed gets a new one, so that it can be gone on
// with. What is wrong is an error of kind validation that names the field. If the store holds the debate
// already, the one log must begin as the other, and the longer one counts; else the error is of kind
// conflict.
func (e *Engine) Import(ctx context.Context, r io.Reader) (id string, err error) {
	l, err := e.freeze()
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.LimitReader(r, MaxSnapshot+1))
	if err != nil {
		return "", &Error{Kind: KindStore, Op: "import", Err: err}
	}
	return l.restore(ctx, data)
}

// restore checks a snapshot and stores what the store lacks. It returns the debate's id.
func (l *live) restore(ctx context.Context, data []byte) (id string, err error) {
	read, err := readSnapshot(data)
	if err != nil {
		return "", err
	}
	sealed := read.Events[0].Start != nil && read.Events[0].Start.Seed != ""
	if err := l.inspect(read); err != nil {
		return "", err
	}
	return read.ID, l.storeSnapshot(ctx, read, sealed)
}

// inspect checks a snapshot whose JSON is right, and gives it a seed if it has none.
func (l *live) inspect(s *snapshot) error {
	start := s.Events[0].Start
	if start == nil || start.Config == nil || start.Format == nil {
		return restoreError("events[0].start", errors.New("is missing, or is not whole"))
	}
	stage := l.stage(start)
	config := start.Config.withDefaults()
	config.CustomFormat = start.Format
	wrong, _ := stage.check(config)
	var found []error
	for _, err := range wrong {
		at := "events[0].start.config"
		if e, ok := errors.AsType[*Error](err); ok && strings.HasPrefix(e.Field, "customFormat") { // which stands beside it
			at, e.Field = "events[0].start", strings.Replace(e.Field, "customFormat", "format", 1)
		}
		found = append(found, within("restore", at, err)...)
	}
	if len(found) > 0 {
		return errors.Join(found...)
	}
	if start.Seed == "" {
		start.Seed, start.Texts = l.newSeed(), nil
	}
	if start.Texts == nil {
		m := l.machines[start.Flow]
		if m == nil {
			return restoreError("events[0].start.flow", fmt.Errorf("no flow %q is registered", oneLine(start.Flow, 40)))
		}
		texts, err := l.texts(m.flow, start.Config, start.Format, start.Seed)
		if err != nil {
			return restoreError("events[0].start", err)
		}
		start.Texts = texts
	}
	_, err := l.core(s.ID, s.Events)
	if err != nil {
		return restoreError("events", err)
	}
	return nil
}

// spoilt refuses an event that holds more than its kind says: nothing of it would be shown, and all kept.
func spoilt(e *Event, at string) error {
	bodies := 0
	for _, there := range []bool{
		e.Start != nil, e.Transition != nil, e.Round != nil, e.Intent != nil, e.Turn != nil, e.Assigned != nil, e.Ballot != nil,
		e.Summary != nil, e.Assessment != nil, e.Verdict != nil, e.Rejection != nil, e.Failure != nil, e.Spend != nil, e.Dropped != nil,
		e.Warning != nil, e.Inquiry != nil, e.Answer != nil, e.Sent != nil, e.Opened != nil, e.Chunk != nil,
		e.Tools != nil, e.Tool != nil,
	} {
		if there {
			bodies++
		}
	}
	if bodies > 1 {
		return restoreError(at, fmt.Errorf("holds %d things: an event tells one", bodies))
	}
	return nil
}

// stage is an engine that has whatever a start names, for the checks of a config that was run elsewhere.
func (l *live) stage(start *Start) *live {
	s := &live{
		providers: make(map[string]Provider), judges: make(map[string]Judge), contexts: make(map[string]ContextManager),
		formats: l.formats, machines: l.machines, models: start.Models, tools: make(map[string]Tool),
	}
	for name, info := range start.Tools {
		s.tools[name] = absentTool{info}
	}
	for _, name := range start.Config.models() {
		if host, _, ok := divide(name); ok {
			s.providers[host] = absentProvider{}
		}
	}
	if start.Config.Judging != nil {
		for _, j := range start.Config.Judging.Judges {
			s.judges[j.Judge] = JudgeFunc(nil)
		}
	}
	s.contexts[start.Config.Context] = window.Hybrid{}
	return s
}

// absentProvider stands for one of another engine. Nobody asks it.
type absentProvider struct{ Provider }

// absentTool stands for one of another engine. Nobody uses it.
type absentTool struct{ info ToolInfo }

func (t absentTool) Describe() ToolInfo { return t.info }

func (t absentTool) Use(context.Context, ToolUse) (string, error) {
	return "", errors.New("the tool is not here")
}

// asKept compares an event of a snapshot with one that is stored; without its seed, as far as it goes.
func asKept(stored, given *Event, sealed bool) bool {
	if sealed {
		return sameEvent(stored, given)
	}
	a, b := public(*stored), public(*given)
	return sameEvent(&a, &b)
}
