package web

import (
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
func (x *exchange) run() (err error) {
	id := x.request.PathValue("id")
	if x.operation.late {
		x.caller, x.info, err = x.handler.allowAnswers(x.request, id)
	} else {
		x.caller, x.info, err = x.handler.allow(x.request, Access{Action: x.operation.action, ID: id})
	}
	if err != nil {
		return err
	}
	if err := x.readQuery(); err != nil {
		return err
	}
	return x.operation.do(x)
}

// elsewhere answers requests that no operation serves.
func (h *Handler) elsewhere(w http.ResponseWriter, r *http.Request) {
	guard(w.Header())
	var allowed []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := r.WithContext(r.Context())
		other.Method = method
		if _, pattern := h.mux.Handler(other); strings.Contains(pattern, "/api/") {
			allowed = append(allowed, method)
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

// body reads the body of a request, which is JSON.
func (x *exchange) body() ([]byte, error) {
	media, _, err := mime.ParseMediaType(x.request.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		err := errors.New("the Content-Type of the request must be application/json")
		return nil, &refusal{status: http.StatusUnsupportedMediaType, err: err}
	}
	within, limit := readTime, x.operation.limit
	if limit > 0 {
		within = importTime
	} else if limit = x.handler.options.Bodies; limit <= 0 {
		limit = defaultBodies
	}
	connection := http.NewResponseController(x.response)
	_ = connection.SetReadDeadline(time.Now().Add(within)) // not all that is written to is a connection
	data, err := io.ReadAll(http.MaxBytesReader(x.response, x.request.Body, limit))
	_, large := errors.AsType[*http.MaxBytesError](err)
	switch {
	case err == nil:
		_ = connection.SetReadDeadline(time.Time{}) // what follows has no time: the server watches whether the client is there
		return data, nil
	case large:
		return nil, &refusal{status: http.StatusRequestEntityTooLarge, err: fmt.Errorf("the body has more than %d bytes", limit)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &refusal{status: http.StatusRequestTimeout, err: errors.New("the body has not arrived in time")}
	default:
		return nil, malformed("", errors.New("the body cannot be read"))
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
	if x.operation.method == get {
		hash := sha256.Sum256(data)
		tag := `"` + base64.RawURLEncoding.EncodeToString(hash[:18]) + `"`
		header.Set("Cache-Control", "private, no-cache")
		header.Set("ETag", tag)
		if matches(x.request.Header.Get("If-None-Match"), tag) {
			x.response.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	header.Set("Content-Type", "application/json")
	x.write(status, data, writeTime)
	return nil
}

// matches reports whether one of the tags of a request is this one.
func matches(given, tag string) bool {
	for one := range strings.SplitSeq(given, ",") {
		if strings.TrimPrefix(strings.TrimSpace(one), "W/") == tag {
			return true
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
