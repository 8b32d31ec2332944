package debate

import (
	"log/slog"

	"github.com/agonist-dev/debate/prompt"
)

// texts renders the prompts of a flow, and the one with which every flow asks again.
func (l *live) texts(flow *Flow, s Setup) (map[string]string, error) {
	texts := make(map[string]string)
	if flow.Texts != nil {
		rendered, err := flow.Texts(s)
		if err != nil {
			return nil, &Error{Kind: KindValidation, Op: "start", Field: "Prompts", Err: err}
		}
		texts = rendered
	}
	again, err := s.Prompts.Again(prompt.Again{Problems: []string{problemsMark}})
	if err != nil {
		return nil, &Error{Kind: KindValidation, Op: "start", Field: "Prompts", Err: err}
	}
	texts[TextAgain] = again
	return texts, nil
}

// log writes a line for each change of state and each failed attempt; never a text.
func (l *live) log(id string, events []Event) {
	if l.logger == nil {
		return
	}
	for i := range events {
		switch e := &events[i]; e.Kind {
		case EventTransition:
			l.logger.Info("debate", slog.String("id", id), slog.Int64("seq", e.Seq), slog.String("state", string(e.Transition.To)),
				slog.String("on", string(e.Transition.On)))
		case EventFailed:
			l.logger.Warn("attempt failed", slog.String("id", id), slog.Int64("seq", e.Seq), slog.String("call", e.Failure.Call),
				slog.Int("attempt", e.Failure.Attempt), slog.String("kind", string(e.Failure.Error.Kind)), slog.Bool("final", e.Failure.Final))
		}
	}
}
