package engine

import (
	"bytes"
	"cmp"
	"context"
	"image"
	"image/png"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/redaction"
	"github.com/agonist-dev/debate/internal/session"
	"github.com/agonist-dev/debate/provider"
)

// Redact removes texts and files from a log; see debate.Engine.
func (l *Engine) Redact(ctx context.Context, id string, what flow.Redaction) (*flow.Redacted, error) {
	var fact *flow.Redacted
	err := l.host.Redact(ctx, id, func(log []flow.Event) (out session.Rewritten, err error) {
		if tried := fact; tried != nil { // the store may have failed after its commit
			for i := range log {
				if done, ok := log[i].Body.(*flow.Redacted); ok && done.At.Equal(tried.At) && slices.Equal(done.Events, tried.Events) {
					return session.Rewritten{Gone: what.Files}, nil
				}
			}
		}
		fact, out, err = l.redacted(ctx, id, log, what)
		return out, err
	})
	if err != nil {
		return nil, err
	}
	return fact, nil
}

// redacted rewrites a log, and checks that it folds to the same record but for the texts.
func (l *Engine) redacted(
	ctx context.Context, id string, log []flow.Event, what flow.Redaction,
) (*flow.Redacted, session.Rewritten, error) {
	var out session.Rewritten
	blanks := make(map[string]flow.File)
	for _, f := range flow.LogFiles(log) {
		if !slices.Contains(what.Files, f.Hash) {
			continue
		}
		blank, data, err := blankFile(&f, what.With)
		if err != nil {
			return nil, out, err
		}
		if out.Files == nil {
			out.Files = make(map[string][]byte)
		}
		blanks[f.Hash], out.Files[blank.Hash] = blank, data
	}
	var of *flow.Flow
	if m := l.machines[flowOf(log)]; m != nil { // if not, the core reports it
		of = m.Flow()
	}
	changed, fact, err := redaction.Apply(what, of, log, blanks)
	if err != nil {
		if done := redaction.Done(what, log); done != nil {
			return done, session.Rewritten{Gone: what.Files}, nil
		}
		return nil, out, err
	}
	before, err := l.NewCore(id, log)
	if err != nil {
		return nil, out, err
	}
	after := slices.Clone(log)
	for _, e := range changed {
		after[e.Seq-1] = e
	}
	core, err := l.NewCore(id, after)
	if err != nil {
		return nil, out, redaction.HeldBySetting(err)
	}
	if err := redaction.SameButTexts(before.Record(), core.Record(), fact); err != nil {
		return nil, out, err
	}
	if fact.At, err = l.host.Now(ctx, "redact"); err != nil {
		return nil, out, err
	}
	at := before.Record().LastAt
	if fact.At.After(at) && !before.HasWork() { // the clock of who continues the debate may be behind this one
		at = fact.At
	}
	changed = append(changed, flow.Event{Seq: int64(len(log)) + 1, At: at, Body: fact})
	out.Events = changed
	out.Gone = what.Files
	return fact, out, nil
}

// flowOf returns the name of the flow of a log.
func flowOf(log []flow.Event) string {
	start, ok := log[0].Body.(*flow.Start)
	if !ok {
		return ""
	}
	return start.Flow
}

// blankFile returns a blank file to replace a redacted one. Every model that could read the original can read it, so that the
// debate continues.
func blankFile(f *flow.File, with string) (flow.File, []byte, error) {
	blank, data := flow.File{Name: f.Name, Type: "text/plain"}, []byte(cmp.Or(with, "[redacted]")+"\n")
	switch provider.MediaAbility(f.Type) {
	case provider.AbilityImage:
		var out bytes.Buffer
		if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
			return blank, nil, err
		}
		blank.Type, data = "image/png", out.Bytes()
	case provider.AbilityPDF:
		blank.Type, data = "application/pdf", blankPDF()
	}
	described, err := blank.Described(data)
	return described, data, err
}

// blankPDF returns a page without content.
func blankPDF() []byte {
	return []byte(strings.Join([]string{
		"%PDF-1.4",
		"1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj",
		"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj",
		"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]>>endobj",
		"trailer<</Root 1 0 R>>",
		"%%EOF", "",
	}, "\n"))
}
