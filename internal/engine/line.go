package engine

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
)

const (
	maxAttribute = 200 // bytes of a name in a line
	// shortWait is how long a call may wait to be made again before a person should know.
	shortWait = 2 * time.Second
)

// standard is the handler of an engine without a Logger. It passes warnings and errors to slog.Default, and drops the rest. It asks for
// that logger at each line, so that a later slog.SetDefault counts.
type standard struct{}

// Enabled implements [slog.Handler].
func (standard) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && slog.Default().Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (standard) Handle(ctx context.Context, record slog.Record) error {
	return slog.Default().Handler().Handle(ctx, record)
}

// WithAttrs implements [slog.Handler]. The engine adds nothing to its handler.
func (s standard) WithAttrs([]slog.Attr) slog.Handler { return s }

// WithGroup implements [slog.Handler].
func (s standard) WithGroup(string) slog.Handler { return s }

// name returns an attribute that holds a name. Some names come from configs, models and providers: no line break and no secret of
// theirs reaches the log.
func name[T ~string](key string, value T) slog.Attr {
	return slog.String(key, text.OneLine(redact.Foreign(string(value)), maxAttribute))
}

// log writes a line for each change of state, each failed attempt, each question with its answer, and whatever differs from what the
// config asks for. It never writes a text of the conversation.
func (l *Engine) log(id string, events []flow.Event) {
	ctx := context.Background()
	if !l.logger.Enabled(ctx, slog.LevelWarn) && !l.logger.Enabled(ctx, slog.LevelInfo) {
		return
	}
	for i := range events {
		level, message := importance(&events[i], events)
		if message == "" || !l.logger.Enabled(ctx, level) {
			continue
		}
		attrs := append([]slog.Attr{name("id", id), slog.Int64("seq", events[i].Seq)}, attributes(&events[i])...)
		l.logger.LogAttrs(ctx, level, message, attrs...)
	}
}

// importance returns the level of an event's line, and what the line says; "": the event has none. A warning is whatever a person would
// want to know who sees nothing else of the program: why it waits, and what it goes without.
func importance(e *flow.Event, commit []flow.Event) (slog.Level, string) {
	switch body := e.Body.(type) {
	case *flow.Transition:
		switch {
		case body.To == flow.StateError:
			return slog.LevelWarn, "stopped by a failure"
		case cut(body.By):
			return slog.LevelWarn, "ended early"
		default:
			return slog.LevelInfo, "debate"
		}
	case *flow.Failure:
		switch {
		case body.Error.Overdue(): // what is decided then has a line of its own
			return slog.LevelInfo, "not answered in time"
		case body.Final:
			return slog.LevelWarn, "call has failed for good"
		case body.RetryAt.Sub(e.At) > shortWait:
			return slog.LevelWarn, "attempt failed"
		default:
			return slog.LevelInfo, "attempt failed"
		}
	case *flow.Skipped:
		return slog.LevelWarn, "call left out"
	case *flow.Dropped:
		return slog.LevelWarn, "actor dropped"
	case *flow.Inquiry:
		switch {
		case decided(body.ID, commit):
			return slog.LevelInfo, ""
		case body.Failure != nil && len(body.About) == 1:
			return slog.LevelWarn, "person asked" // nothing but an answer ends this wait; a call that joins it later changes nothing
		default:
			return slog.LevelInfo, "person asked"
		}
	case *flow.Answer:
		return slog.LevelInfo, "answered"
	case *flow.Warning:
		switch body.Kind {
		case flow.WarnNear, flow.WarnHigh, flow.WarnBudget:
			return slog.LevelInfo, "warning"
		default:
			return slog.LevelWarn, "warning"
		}
	default:
		return slog.LevelInfo, ""
	}
}

// cut reports whether somebody has ended a conversation before it had all that its config asks for. A flow that ends as its config says,
// such as by its judges, names others.
func cut(by string) bool {
	return slices.Contains([]string{
		flow.EndedByHost, flow.EndedByPerson, flow.EndedByRule, flow.EndedByBudget, flow.EndedByDetector, flow.EndedByIterations,
	}, by)
}

// decided reports whether a rule has answered an inquiry at once.
func decided(inquiry string, commit []flow.Event) bool {
	return slices.ContainsFunc(commit, func(e flow.Event) bool {
		answer, ok := e.Body.(*flow.Answer)
		return ok && answer.Rule && answer.Inquiry == inquiry
	})
}

// attributes returns what the line of an event says beside its message: names and numbers, and no text.
func attributes(e *flow.Event) []slog.Attr {
	switch body := e.Body.(type) {
	case *flow.Transition:
		attrs := []slog.Attr{name("state", body.To), name("on", body.On)}
		if body.Reason != "" {
			attrs = append(attrs, name("reason", body.Reason))
		}
		if body.By != "" {
			attrs = append(attrs, name("by", body.By))
		}
		if body.Failure != nil {
			attrs = append(attrs, name("kind", body.Failure.Kind), name("call", body.Failure.Op))
		}
		return attrs
	case *flow.Failure:
		attrs := []slog.Attr{
			name("call", body.Call), slog.Int("attempt", body.Attempt), name("kind", body.Error.Kind), name("model", body.Model),
			slog.Bool("final", body.Final),
		}
		if wait := body.RetryAt.Sub(e.At); wait > 0 {
			attrs = append(attrs, slog.Duration("wait", wait))
		}
		return attrs
	case *flow.Skipped:
		return []slog.Attr{name("call", body.Call), name("by", body.By), name("kind", body.Cause)}
	case *flow.Dropped:
		return []slog.Attr{name("by", body.Participant)}
	case *flow.Inquiry:
		return []slog.Attr{name("inquiry", body.ID)}
	case *flow.Answer:
		return []slog.Attr{
			name("inquiry", body.Inquiry), slog.Bool("rule", body.Rule), name("option", body.Option), name("for", body.By),
		}
	case *flow.Warning:
		attrs := []slog.Attr{name("kind", body.Kind), name("call", body.Call), name("by", body.By)}
		if measured(body.Kind) {
			attrs = append(attrs, name("evidence", body.Evidence))
		}
		return attrs
	default:
		return nil
	}
}

// measured reports whether the evidence of a kind of warning is names and figures. That of other kinds may repeat what a provider or a
// tool has said.
func measured(kind flow.WarningKind) bool {
	switch kind {
	case flow.WarnBudget, flow.WarnCost, flow.WarnSoft, flow.WarnHard, flow.WarnNear, flow.WarnHigh, flow.WarnShort, flow.WarnLate,
		flow.WarnOver, flow.WarnCapped, flow.WarnOutage:
		return true
	default:
		return false
	}
}
