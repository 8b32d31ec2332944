package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"

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
	release, err := x.handler.exports.take(x.caller, int64(out.Len()))
	if err != nil {
		return err
	}
	defer release()
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
	ID     string
	Events []flow.Event
}

// readLog reads a log, one event after the other. It stops at the first that is none, or that is not admitted, and reads no further:
// otherwise a few bytes could take hundreds of times their size in memory.
func readLog(body io.Reader, admit func(i int, e *flow.Event) error) (*snapshot, error) {
	var log snapshot
	in := json.NewDecoder(body)
	if first, err := in.Token(); err != nil || first != json.Delim('{') {
		return nil, noLog(cmp.Or(err, errors.New("it is no object")))
	}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return nil, noLog(err)
		}
		var other json.RawMessage
		switch key {
		case "id":
			err = in.Decode(&log.ID)
		case "events":
			err = log.read(in, admit)
		default:
			err = in.Decode(&other)
		}
		if err != nil {
			return nil, noLog(err)
		}
	}
	if _, err := in.Token(); err != nil { // the end of the object
		return nil, noLog(err)
	}
	return &log, nil
}

// read reads the list of events.
func (log *snapshot) read(in *json.Decoder, admit func(i int, e *flow.Event) error) error {
	if first, err := in.Token(); err != nil || first != json.Delim('[') {
		return cmp.Or(err, errors.New("its events are no list"))
	}
	for in.More() {
		var piece json.RawMessage
		if err := in.Decode(&piece); err != nil {
			return err
		}
		i := len(log.Events)
		event, err := flow.ReadEvent(opImport, piece)
		if err != nil {
			return errors.Join(flow.Within(opImport, fmt.Sprintf("events[%d]", i), err)...)
		}
		if err := admit(i, &event); err != nil {
			return err
		}
		log.Events = append(log.Events, event)
	}
	_, err := in.Token() // the end of the list
	return err
}

// noLog refuses a body that is no log.
func noLog(err error) error {
	_, told := errors.AsType[*flow.Error](err)
	_, typed := errors.AsType[*json.UnmarshalTypeError](err)
	_, broken := errors.AsType[*json.SyntaxError](err)
	_, large := errors.AsType[*http.MaxBytesError](err)
	_, full := errors.AsType[*refusal](err)
	switch {
	case told:
		return err
	case full:
		return unread(err)
	case broken, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return malformed("", fmt.Errorf("the log is no whole JSON: %w", err))
	case large, errors.Is(err, os.ErrDeadlineExceeded):
		return unread(err)
	case typed:
		err = errors.New("its id is no text")
	}
	err = flow.WithMend(fmt.Errorf("is no log: %s", text.OneLine(err.Error(), 200)), "give what an export has written")
	return &flow.Error{Kind: provider.KindValidation, Op: opImport, Err: err}
}

// restore stores a log that was exported.
func (x *exchange) restore() error {
	body, err := x.arriving()
	if err != nil {
		return err
	}
	var data bytes.Buffer
	asked := &admission{exchange: x}
	log, err := readLog(io.TeeReader(body, &data), asked.admit)
	switch {
	case asked.refused != nil:
		return asked.refused
	case err != nil:
		return err
	}
	if len(log.Events) == 0 {
		return noStart()
	}
	if _, err := data.ReadFrom(body); err != nil { // what stands behind the log
		return unread(err)
	}
	x.arrived()
	isNew, err := x.stored(log, func(ctx context.Context) error {
		_, err := x.handler.engine.Import(ctx, bytes.NewReader(data.Bytes()))
		return err
	})
	if err != nil {
		return whyTaken(err)
	}
	return x.begun(log.ID, "conversations/", isNew)
}

// stored has put store a log, and reports whether it is new here. All that it may cost counts, also what it says that it has copied.
func (x *exchange) stored(log *snapshot, put func(context.Context) error) (isNew bool, err error) {
	h, labels := x.handler, x.caller.Labels
	err = h.reserve(x.request.Context(), labels, func(ctx context.Context) error {
		known, err := h.free(ctx, log.ID, labels)
		if err != nil {
			return err
		}
		if known {
			stored, err := x.standingOf(log.ID)
			switch {
			case err != nil:
				return err
			case stored.Seq < int64(len(log.Events)): // its other events would be taken for what has happened here
				return taken()
			}
			return put(ctx)
		}
		info := described(log)
		limit, spent := info.Limit, info.Spent.Plus(info.AtMost)
		if info.State.Final() {
			limit = max(1, spent)
		} else if limit > 0 {
			limit = max(limit, spent)
		}
		if err := h.fits(ctx, labels, limit, 0); err != nil {
			return err
		}
		isNew = true
		return put(ctx)
	})
	return isNew, err
}

// described returns what a list would show of a log.
func described(log *snapshot) (info store.Info) {
	for i := range log.Events {
		info.Add(&log.Events[i])
	}
	return info
}

// admission asks about the events of a log from elsewhere: whether it is of the scope, and whether the policy accepts its config and all
// changes of it.
type admission struct {
	*exchange

	config  flow.Config
	now     flow.Settings // in force behind the events that were admitted
	refused error         // why an event was not
}

// refuseLog refuses a log for a field.
func refuseLog(field, why string) error {
	return &flow.Error{Kind: provider.KindValidation, Op: opImport, Field: field, Err: errors.New(why)}
}

// noStart refuses a log without its beginning.
func noStart() error { return refuseLog("events", "does not begin with the start of a conversation") }

// admit asks about the event with an index.
func (a *admission) admit(i int, e *flow.Event) error {
	if i == 0 {
		a.refused = a.admitStart(e)
	} else {
		a.refused = a.admitChange(i, e)
	}
	return a.refused
}

// admitChange asks about an event that may change settings or models.
func (a *admission) admitChange(i int, e *flow.Event) error {
	change, ok := changeOf(e.Body)
	if !ok {
		return nil
	}
	if err := a.handler.accept(a.request, a.caller, &Amended{Config: a.config, Change: change, now: a.now}); err != nil {
		return errors.Join(flow.Within(opImport, fmt.Sprintf("events[%d].body", i), err)...)
	}
	a.now = change.Settings(a.now)
	return nil
}

// admitStart asks about the first event.
func (a *admission) admitStart(e *flow.Event) error {
	start, ok := e.Body.(*flow.Start)
	if !ok {
		return noStart()
	}
	if start.Seed != "" {
		return refuseLog("events[0].body.seed", "is there: only an export can be imported here, and no snapshot")
	}
	config, err := a.startedWith(start)
	if err != nil {
		return errors.Join(flow.Within(opImport, "events[0].body.config", err)...)
	}
	a.config, a.now = config, config.Settings()
	if !within(a.now.Labels, a.caller.Labels) {
		return refuseLog("events[0].body.config.labels", "are not those of your scope")
	}
	return a.handler.accept(a.request, a.caller, &Imported{config})
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
