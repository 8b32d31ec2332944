package web

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// How long a request may take to arrive, and an answer to leave. A stream has times of its own.
const (
	readTime   = 30 * time.Second
	importTime = 5 * time.Minute
	writeTime  = 2 * time.Minute
	exportTime = 10 * time.Minute
)

// exchange is a request, and what is known of it.
type exchange struct {
	handler   *Handler
	operation *operation
	response  http.ResponseWriter
	request   *http.Request
	query     url.Values
	caller    Caller
	info      store.Info // of the conversation that the address names
	version   int64      // the Seq of what If-Match names; 0: any
	release   func()     // gives back the room of the body; nil: it has none
}

// serve returns the handler of an operation.
func (h *Handler) serve(op *operation) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		guard(w.Header())
		x := &exchange{handler: h, operation: op, response: w, request: r}
		if err := x.run(); err != nil {
			if failure, ok := r.Context().Value(failureKey{}).(*error); ok {
				*failure = err
				return
			}
			p := problemOf(err)
			if p.Kind == provider.KindState && x.info.ID != "" {
				x.explain(&p)
			}
			h.refuse(w, r, err, p)
		}
	})
}

// guard sets the headers that every answer has: browsers show none of them as a page, and give none to pages of other origins.
func guard(header http.Header) {
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-store")
}

// run asks for the right to do the operation, and does it.
func (x *exchange) run() error {
	defer x.leave()
	if err := x.enter(); err != nil {
		return err
	}
	x.mean()
	if err := x.readQuery(); err != nil {
		return err
	}
	if err := x.matched(); err != nil {
		return err
	}
	return x.operation.do(x)
}

// leave gives back what the request holds.
func (x *exchange) leave() {
	if x.release != nil {
		x.release()
	}
}

// enter asks for one of the rights of the operation, and describes the conversation that the address names.
func (x *exchange) enter() error {
	id, first := x.request.PathValue("id"), error(nil)
	for _, action := range append([]Action{x.operation.action}, x.operation.or...) {
		access := Access{Action: action, ID: id}
		if action == Answer || action == Approve {
			access.ID = "" // which questions, the operation asks
		}
		caller, err := x.handler.allow(x.request, access)
		if err == nil {
			x.caller, first = caller, nil
			break
		}
		first = cmp.Or(first, err)
	}
	if first != nil || id == "" {
		return first
	}
	info, err := x.handler.find(x.request.Context(), id, x.caller.Labels)
	x.info = info
	return err
}

// matched refuses to change something but in the version that the client names (If-Match, RFC 9110). The conversation itself has versions,
// and so its deletion can have the condition. What else is changed has none, so that none can match.
func (x *exchange) matched() error {
	given := x.request.Header.Values("If-Match")
	if x.operation.method == get || len(given) == 0 {
		return nil
	}
	if x.operation.method == http.MethodDelete {
		f, err := x.record() // before what has the tag is read: a record that moves in between is refused
		if err != nil {
			return err
		}
		now, err := x.reading()
		if err != nil {
			return err
		}
		data, err := json.Marshal(now)
		if err != nil {
			return err
		}
		tag := `"` + tagOf(data) + `"`
		for one := range strings.SplitSeq(strings.Join(given, ","), ",") {
			switch strings.TrimSpace(one) {
			case "*":
				return nil
			case tag:
				x.version = f.Seq
				return nil
			}
		}
	}
	return unmatched()
}

// unmatched refuses to change another version than that which the client names.
func unmatched() error {
	err := flow.WithMend(errors.New("the conversation is not, or no longer, as the tag says"), "load it again, or leave If-Match out")
	return &refusal{status: http.StatusPreconditionFailed, err: &flow.Error{
		Kind: provider.KindConflict, Op: "request", Field: "If-Match", Err: err,
	}}
}

// mean binds what is done from here on to the conversation whose rights were asked for: while a body arrives, its id may become that of
// another one.
func (x *exchange) mean() {
	if x.info.ID != "" {
		ctx := flow.Expecting(x.request.Context(), x.info.ID, flow.Expected{StartedAt: x.info.StartedAt})
		x.request = x.request.WithContext(ctx)
	}
}

// elsewhere answers requests that neither an operation nor the page serves.
func (h *Handler) elsewhere(w http.ResponseWriter, r *http.Request, files page) {
	guard(w.Header())
	var allowed []string
	if _, ok := files[strings.TrimPrefix(r.URL.Path, "/")]; ok {
		allowed = []string{http.MethodGet, http.MethodHead}
	}
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := r.WithContext(r.Context())
		other.Method = method
		if _, pattern := h.mux.Handler(other); strings.Contains(pattern, "/api/") {
			allowed = append(allowed, method)
			if method == http.MethodGet {
				allowed = append(allowed, http.MethodHead)
			}
		}
	}
	err := &refusal{status: http.StatusNotFound, err: errors.New("nothing is served here: the API is under api/")}
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		err = &refusal{status: http.StatusMethodNotAllowed, err: fmt.Errorf("use %s", strings.Join(allowed, " or "))}
	}
	h.Refuse(w, r, err)
}

// readQuery reads the query of the address. What the operation does not know is refused.
func (x *exchange) readQuery() (err error) {
	if x.query, err = url.ParseQuery(x.request.URL.RawQuery); err != nil {
		return malformed("", errors.New("the query of the address cannot be read"))
	}
	for name, values := range x.query {
		i := slices.IndexFunc(x.operation.query, func(p parameter) bool {
			return p.name == name || strings.HasSuffix(p.name, ".") && strings.HasPrefix(name, p.name)
		})
		switch field := text.OneLine(name, 80); {
		case i < 0:
			return malformed(field, errors.New("is no parameter of this address"))
		case len(values) > 1 && !x.operation.query[i].many:
			return malformed(field, errors.New("is given more than once"))
		}
	}
	return nil
}

// number returns a parameter that is a number from 0 to most.
func (x *exchange) number(name string, missing, most int64) (int64, error) {
	given := x.query.Get(name)
	if given == "" {
		return missing, nil
	}
	n, err := strconv.ParseInt(given, 10, 64)
	if err != nil || n < 0 || n > most {
		return 0, malformed(name, fmt.Errorf("%q is not a whole number from 0 to %d", text.OneLine(given, 40), most))
	}
	return n, nil
}

// yes returns a parameter that is true or missing.
func (x *exchange) yes(name string) (bool, error) {
	switch given := x.query.Get(name); given {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	default:
		return false, malformed(name, fmt.Errorf("%q is neither true nor false", text.OneLine(given, 40)))
	}
}

// largest is the size of the largest body, if the operation has no limit of its own.
func (h *Handler) largest() int64 { return cmp.Or(max(0, h.options.Bodies), defaultBodies) }

// body reads the body of a request.
func (x *exchange) body() ([]byte, error) {
	body, err := x.arriving()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, unread(err)
	}
	x.arrived()
	return data, nil
}

// arriving returns the body of a request, which is JSON. What has arrived has its room until the request is done.
func (x *exchange) arriving() (io.Reader, error) {
	media, _, err := mime.ParseMediaType(x.request.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		err := errors.New("the Content-Type of the request must be application/json")
		return nil, &refusal{status: http.StatusUnsupportedMediaType, err: err}
	}
	if coding := x.request.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		x.response.Header().Set("Accept-Encoding", "identity")
		err := fmt.Errorf("the body is coded as %q: send it as it is", text.OneLine(coding, 40))
		return nil, &refusal{status: http.StatusUnsupportedMediaType, err: err}
	}
	within, room, limit := readTime, x.handler.bodies, cmp.Or(x.operation.limit, x.handler.largest())
	if x.operation.id == opImport {
		within, room = importTime, x.handler.imports
	}
	taken := room.part(x.caller)
	x.release = taken.release
	_ = http.NewResponseController(x.response).SetReadDeadline(time.Now().Add(within)) // not all that is written to is a connection
	return &growing{http.MaxBytesReader(x.response, x.request.Body, limit), taken}, nil
}

// arrived ends the time that a body has. What follows has none: the server watches whether the client is there.
func (x *exchange) arrived() { _ = http.NewResponseController(x.response).SetReadDeadline(time.Time{}) }

// unread refuses a body that could not be read.
func unread(err error) error {
	large, ok := errors.AsType[*http.MaxBytesError](err)
	full, refused := errors.AsType[*refusal](err)
	switch {
	case refused: // there is no room
		return full
	case ok:
		return &refusal{status: http.StatusRequestEntityTooLarge, err: fmt.Errorf("the body has more than %d bytes", large.Limit)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &refusal{status: http.StatusRequestTimeout, err: errors.New("the body has not arrived in time")}
	default:
		return malformed("", errors.New("the body cannot be read"))
	}
}

// decode reads the body strictly. One without bytes is an empty object.
func (x *exchange) decode(into any) error {
	data, err := x.body()
	if err != nil {
		return err
	}
	if len(data) == 0 {
		data = []byte("{}")
	}
	return flow.DecodeStrict("read body", data, into)
}

// config reads a config from the body.
func (x *exchange) config() (flow.Config, error) {
	data, err := x.body()
	if err != nil {
		return nil, err
	}
	return x.handler.engine.DecodeConfig(data)
}

// reply answers with JSON. An answer to a GET has a tag, and is not sent again to a client that has it.
func (x *exchange) reply(status int, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("the answer cannot be written: %w", err)
	}
	header := x.response.Header()
	if x.operation.method == get && x.has(tagOf(data)) {
		return nil
	}
	header.Set("Content-Type", "application/json")
	x.write(status, data, writeTime)
	return nil
}

// tagOf returns a tag of bytes.
func tagOf(data []byte) string {
	hash := sha256.Sum256(data)
	return base64.RawURLEncoding.EncodeToString(hash[:18])
}

// has gives the answer a tag. If the client has what has that tag, it is told so, and gets no other answer.
func (x *exchange) has(tag string) bool {
	tag = `"` + tag + `"`
	header := x.response.Header()
	header.Set("Cache-Control", "private, no-cache")
	header.Set("ETag", tag)
	for _, line := range x.request.Header.Values("If-None-Match") {
		for one := range strings.SplitSeq(line, ",") {
			if one = strings.TrimSpace(one); one == "*" || strings.TrimPrefix(one, "W/") == tag {
				x.response.WriteHeader(http.StatusNotModified)
				return true
			}
		}
	}
	return false
}

// write sends an answer within a time. A client that reads no more, or has left, gets no error: nothing could be said to it.
func (x *exchange) write(status int, data []byte, within time.Duration) {
	connection := http.NewResponseController(x.response)
	if err := connection.SetWriteDeadline(time.Now().Add(within)); err == nil {
		defer func() { _ = connection.SetWriteDeadline(time.Time{}) }() // the connection may serve another request
	}
	x.response.Header().Set("Content-Length", strconv.Itoa(len(data)))
	x.response.WriteHeader(status)
	if _, err := x.response.Write(data); err == nil {
		_ = connection.Flush()
	}
}

// standing is where a conversation stands.
type standing struct {
	ID    string     `json:"id"`
	State flow.State `json:"state"`
	Seq   int64      `json:"seq"` // of the last event
}

// standingOf returns where a conversation of the caller stands.
func (x *exchange) standingOf(id string) (standing, error) {
	info, err := x.handler.find(x.request.Context(), id, x.caller.Labels)
	return standing{ID: id, State: info.State, Seq: info.Seq}, err
}

// begun answers that there is a new conversation.
func (x *exchange) begun(id, at string, isNew bool) error {
	stands, err := x.standingOf(id)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if isNew {
		status = http.StatusCreated
	}
	x.response.Header().Set("Location", at+url.PathEscape(id))
	return x.reply(status, stands)
}
