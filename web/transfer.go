package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"

	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// exportLog sends the log, for an import.
func (x *exchange) exportLog() error {
	return x.download(".json", func(ctx context.Context, out *bytes.Buffer) error {
		return x.handler.engine.Export(ctx, x.info.ID, out)
	})
}

// exportMarkdown sends a report in Markdown.
func (x *exchange) exportMarkdown() error {
	return x.download(".md", func(ctx context.Context, out *bytes.Buffer) error {
		document, err := export.Of(ctx, x.handler.engine, x.info.ID)
		if err != nil {
			return err
		}
		return document.Markdown(out)
	})
}

// exportHTML sends a report as a page, which a page of the same origin may show in a frame. The report has a policy of its own, which
// allows no script and nothing from elsewhere; a browser applies both.
func (x *exchange) exportHTML() error {
	x.response.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; base-uri 'none'; form-action 'none'")
	return x.download("", func(ctx context.Context, out *bytes.Buffer) error {
		document, err := export.Of(ctx, x.handler.engine, x.info.ID)
		if err != nil {
			return err
		}
		return document.HTML(out)
	})
}

// download sends what write writes, as a file with an ending; "": to be shown.
func (x *exchange) download(ending string, write func(context.Context, *bytes.Buffer) error) error {
	var out bytes.Buffer
	if err := write(x.request.Context(), &out); err != nil {
		return err
	}
	header := x.response.Header()
	header.Set("Content-Type", x.operation.media[0])
	if ending != "" {
		header.Set("Content-Disposition", attached(x.info.ID+ending))
	}
	x.write(x.operation.status, out.Bytes(), exportTime)
	return nil
}

// attached is the header of a file that browsers save, and do not show.
func attached(name string) string { return disposed("attachment", name) }

// disposed is the header that says how a file is named, and how browsers take it: inline, to be shown, or as an attachment, to be saved.
func disposed(how, name string) string {
	return cmp.Or(mime.FormatMediaType(how, map[string]string{"filename": name}), how)
}

// snapshot is what an import reads of a log before the engine does, which reads it more strictly.
type snapshot struct {
	ID     string       `json:"id"`
	Events []flow.Event `json:"events"`
}

// restore stores a log that was exported.
func (x *exchange) restore() error {
	data, err := x.body()
	if err != nil {
		return err
	}
	var log snapshot
	if err := json.Unmarshal(data, &log); err != nil {
		if _, ok := errors.AsType[*json.SyntaxError](err); ok {
			return malformed("", err)
		}
		err = flow.WithMend(fmt.Errorf("is no log: %s", text.OneLine(err.Error(), 200)), "give what an export has written")
		return &flow.Error{Kind: provider.KindValidation, Op: opImport, Err: err}
	}
	if err := x.admitLog(&log); err != nil {
		return err
	}
	known, err := x.handler.free(x.request.Context(), log.ID, x.caller.Labels)
	if err != nil {
		return err
	}
	put := func(ctx context.Context) error {
		_, err := x.handler.engine.Import(ctx, bytes.NewReader(data))
		return err
	}
	if known {
		stored, lost := x.standingOf(log.ID)
		switch {
		case lost != nil:
			return lost
		case stored.Seq < int64(len(log.Events)): // its other events would be taken for what has happened here
			return taken()
		}
		err = put(x.request.Context())
	} else {
		info := described(&log)
		limit := info.Limit
		if info.State.Final() {
			limit = max(1, info.Spent.Plus(info.AtMost))
		}
		err = x.handler.reserve(x.request.Context(), x.caller.Labels, limit, 0, put)
	}
	if err != nil {
		return whyTaken(err)
	}
	return x.begun(log.ID, "conversations/", !known)
}

// described returns what a list would show of a log.
func described(log *snapshot) (info store.Info) {
	for i := range log.Events {
		info.Add(&log.Events[i])
	}
	return info
}

// admitLog refuses a log that is of another scope, or whose config, or a change of it, the policy does not accept.
func (x *exchange) admitLog(log *snapshot) error {
	refuse := func(field, why string) error {
		return &flow.Error{Kind: provider.KindValidation, Op: opImport, Field: field, Err: errors.New(why)}
	}
	if len(log.Events) == 0 || log.Events[0].Kind() != flow.EventStart {
		return refuse("events", "does not begin with the start of a conversation")
	}
	start, _ := log.Events[0].Body.(*flow.Start)
	if start == nil || start.Seed != "" {
		return refuse("events[0].body.seed", "is there: only an export can be imported here, and no snapshot")
	}
	config, err := x.startedWith(start)
	if err != nil {
		return errors.Join(flow.Within(opImport, "events[0].body.config", err)...)
	}
	now := config.Settings()
	if !within(now.Labels, x.caller.Labels) {
		return refuse("events[0].body.config.labels", "are not those of your scope")
	}
	if err := x.handler.accept(x.request, x.caller, &Imported{config}); err != nil {
		return err
	}
	for i := range log.Events {
		change, ok := changeOf(log.Events[i].Body)
		if !ok {
			continue
		}
		if err := x.handler.accept(x.request, x.caller, &Amended{Config: config, Change: change, now: now}); err != nil {
			return errors.Join(flow.Within(opImport, fmt.Sprintf("events[%d].body", i), err)...)
		}
		now = change.Settings(now)
	}
	return nil
}

// startedWith returns the config of a start.
func (x *exchange) startedWith(start *flow.Start) (flow.Config, error) {
	fields, err := fieldsOf(start.Config.JSON)
	if err != nil || fields == nil {
		return nil, errors.New("is no object")
	}
	fields["flow"] = start.Flow
	data, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	return x.handler.engine.DecodeConfig(data)
}

// changeOf returns the change of the settings or of a model that an event holds.
func changeOf(body flow.Body) (change flow.Amendment, ok bool) {
	switch body := body.(type) {
	case *flow.Amendment:
		return *body, true
	case *flow.Answer:
		if body.Model != "" {
			return flow.Amendment{Models: map[string]flow.ModelChoice{body.By: {Model: body.Model}}}, true
		}
	}
	return flow.Amendment{}, false
}
