package engine

import (
	"context"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/quote"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Control gives a control to a conversation, wherever it runs; see debate.Engine.
func (l *Engine) Control(ctx context.Context, id string, signal flow.Signal) error {
	signal, err := l.hostControl(ctx, id, signal)
	if err != nil {
		return err
	}
	return l.host.Control(ctx, id, signal)
}

// hostControl checks that a signal is a control of the host program, and completes it.
func (l *Engine) hostControl(ctx context.Context, id string, signal flow.Signal) (flow.Signal, error) {
	switch s := signal.(type) {
	case flow.Pause, flow.Resume, flow.Stop, flow.Cancel, flow.Retry, flow.Sent:
		return signal, nil
	case flow.Note:
		if s.ID == "" {
			s.ID = newID()
		}
		return s, nil
	case flow.Answer:
		s, err := l.completed(s)
		if err != nil {
			return nil, err
		}
		if s, err = l.quoting(ctx, id, s); err != nil {
			return nil, err
		}
		return l.storeAnswer(ctx, id, s)
	case flow.Amendment:
		s.Rows = l.rows(flow.AmendedModels(&s)) // whether they can be asked checks the core, together with the rest of the amendment
		return s, nil
	default:
		return nil, &flow.Error{Kind: provider.KindValidation, Op: "control", Err: text.IsNo(signal, "control")}
	}
}

// quoting compares what a person's answer quotes with the documents of the conversation, if its settings ask for that. Nothing is compared
// for an answer that the core will refuse, or that is no free text.
func (l *Engine) quoting(ctx context.Context, id string, a flow.Answer) (flow.Answer, error) {
	a.Quotations = nil
	if len(quote.Marks(a.Text, 1)) == 0 {
		return a, nil
	}
	record, err := l.host.Record(ctx, id)
	if err != nil {
		return a, err
	}
	settings := record.Settings()
	if settings == nil || !settings.Quotes {
		return a, nil
	}
	if q, open := record.Question(a.Inquiry); open && len(q.Schema) == 0 && (q.Max == 0 || len(a.Text) <= q.Max) {
		a.Quotations, err = l.host.Quotations(ctx, id, settings.Documents, a.Text)
	}
	return a, err
}

// completed freezes the row of the model that an answer chooses.
func (l *Engine) completed(a flow.Answer) (flow.Answer, error) {
	a.Rule, a.Row = false, nil
	if a.Model == "" {
		return a, nil
	}
	if host, _, ok := flow.SplitModel(a.Model); ok && l.providers[host] == nil {
		err := unregistered("provider", "Providers", host, l.providers)
		return a, &flow.Error{Kind: provider.KindValidation, Op: "answer", Field: "model", Err: err}
	}
	a.Row = new(l.model(a.Model))
	return a, nil
}
