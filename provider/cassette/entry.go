package cassette

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/provider"
)

// entry is one exchange in the form of the file.
type entry struct {
	ID       string            `json:"id,omitempty"`
	Provider string            `json:"provider"`
	Labels   map[string]string `json:"labels,omitempty"`
	Request  *request          `json:"request"`
	Response *response         `json:"response,omitempty"`
	Chunks   *chunks           `json:"chunks,omitempty"`
	Thoughts *chunks           `json:"thoughts,omitempty"` // the chunks of thoughts
	Error    *failure          `json:"error,omitempty"`

	key   string // the key of the requests that it answers
	body  []byte // its bytes in the file
	began int    // its position among all exchanges, by their beginning
	used  bool   // it was replayed, or was recorded just now
}

// response is a [provider.Response].
type response struct {
	Reasoning lines          `json:"reasoning,omitempty"`
	Text      lines          `json:"text,omitempty"`
	Citations []citation     `json:"citations,omitempty"`
	Uncited   int            `json:"uncited,omitempty"` // citations that the adapter has dropped
	Calls     []toolCall     `json:"calls,omitempty"`
	Stop      string         `json:"stop,omitempty"`
	Usage     provider.Usage `json:"usage,omitzero"`
	Cost      *float64       `json:"cost,omitempty"` // in USD
	ID        string         `json:"id,omitempty"`
	Model     string         `json:"model,omitempty"`
	Left      []string       `json:"left,omitempty"`
	Partial   bool           `json:"partial,omitempty"`
	Cached    bool           `json:"cached,omitempty"`
}

// citation is a [provider.Citation]. Its place is in bytes of the text as the file has it.
type citation struct {
	Title string `json:"title,omitempty"`
	URL   string `json:"url,omitempty"`
	Quote lines  `json:"quote,omitempty"`
	Start int    `json:"start,omitempty"`
	End   int    `json:"end,omitempty"`
}

// chunks are the pieces in which a text arrived.
type chunks struct {
	Sizes string `json:"sizes"`          // in bytes of the text as the file has it, separated by spaces
	Text  *lines `json:"text,omitempty"` // nil: it is the response's
}

// failure is a [*provider.Error], or, if Other is set, the text of an error of another type.
type failure struct {
	Other      bool   `json:"other,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Status     int    `json:"status,omitempty"`
	Code       string `json:"code,omitempty"`
	Message    lines  `json:"message,omitempty"`
	RequestID  string `json:"requestId,omitempty"`
	RetryAfter string `json:"retryAfter,omitempty"`
	Window     int    `json:"window,omitempty"`
	Capped     bool   `json:"capped,omitempty"`
	NotSent    bool   `json:"notSent,omitempty"`
	Cause      lines  `json:"cause,omitempty"`
}

func (s *scribe) response(r *provider.Response) *response {
	if r == nil {
		return nil
	}
	out := &response{
		Reasoning: lines(s.write(r.Reasoning)), Text: lines(s.write(r.Text)), Calls: s.toolCalls(r.Calls),
		Stop: s.write(string(r.Stop)), Usage: r.Usage, Cost: r.Cost, ID: s.write(r.ID), Model: s.write(r.Model), Cached: r.Cached,
		Uncited: r.Uncited, Partial: r.Partial,
	}
	if r.Cost != nil && (math.IsNaN(*r.Cost) || math.IsInf(*r.Cost, 0)) {
		out.Cost = nil // JSON has no such numbers
	}
	for _, c := range r.Citations {
		form := citation{Title: s.write(c.Title), URL: s.write(c.URL), Quote: lines(s.write(c.Quote))}
		if c.Start >= 0 && c.Start < c.End && c.End <= len(r.Text) {
			_, ends := s.divide(r.Text, []int{c.Start, c.End})
			form.Start, form.End = ends[0], ends[1]
		}
		out.Citations = append(out.Citations, form)
	}
	for _, name := range r.Left {
		out.Left = append(out.Left, s.write(name))
	}
	return out
}

// chunks writes the pieces of a text; ends are the offsets at which they end.
// whole is the response's text if the pieces may add up to that, nil if there is no response.
func (s *scribe) chunks(text string, ends []int, whole *lines) *chunks {
	if len(ends) == 0 {
		return nil
	}
	form, ends := s.divide(text, ends)
	sizes := make([]string, len(ends))
	start := 0
	for i, end := range ends {
		sizes[i] = strconv.Itoa(end - start)
		start = end
	}
	out := &chunks{Sizes: strings.Join(sizes, " ")}
	if whole == nil || string(*whole) != form {
		out.Text = (*lines)(&form)
	}
	return out
}

func (s *scribe) failure(err error) *failure {
	if err == nil {
		return nil
	}
	var e *provider.Error
	if !errors.As(err, &e) || e == nil {
		return &failure{Other: true, Message: lines(s.write(redact.Foreign(err.Error())))}
	}
	out := &failure{
		Kind: s.write(string(e.Kind)), Status: e.Status, Code: s.write(e.Code), Message: lines(s.write(redact.Foreign(e.Message))),
		RequestID: s.write(e.RequestID), NotSent: e.NotSent, Window: e.Window, Capped: e.Capped,
	}
	if e.RetryAfter != 0 {
		out.RetryAfter = e.RetryAfter.String()
	}
	if e.Err != nil {
		out.Cause = lines(s.write(redact.Foreign(e.Err.Error())))
	}
	return out
}

// reader reads texts of the file, with the fence words of the present request. It keeps the first error.
type reader struct {
	fences []string
	err    error
}

func (r *reader) failf(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

func (r *reader) text(field, form string) string {
	text, err := restore(form, r.fences)
	if err != nil {
		r.failf("%s: %w", field, err)
	}
	return text
}

func (r *reader) raw(field string, form raw) []byte {
	if form == "" {
		return nil
	}
	return []byte(r.text(field, string(form)))
}

func (r *reader) response(form *response) *provider.Response {
	if form == nil {
		return nil
	}
	out := &provider.Response{
		Text: r.text("response.text", string(form.Text)), Stop: provider.StopReason(r.text("response.stop", form.Stop)),
		Reasoning: r.text("response.reasoning", string(form.Reasoning)), Usage: form.Usage, Cost: form.Cost,
		ID: r.text("response.id", form.ID), Model: r.text("response.model", form.Model), Cached: form.Cached,
		Uncited: form.Uncited, Partial: form.Partial,
	}
	for i := range form.Citations {
		out.Citations = append(out.Citations, r.citation(&form.Citations[i], string(form.Text)))
	}
	for _, name := range form.Left {
		out.Left = append(out.Left, r.text("response.left", name))
	}
	for _, c := range form.Calls {
		out.Calls = append(out.Calls, provider.ToolCall{
			ID: r.text("response.calls.id", c.ID), Name: r.text("response.calls.name", c.Name),
			Arguments: r.raw("response.calls.arguments", c.Arguments), Opaque: r.raw("response.calls.opaque", c.Opaque),
		})
	}
	return out
}

// citation reads a source of a text in the form of the file.
func (r *reader) citation(c *citation, text string) provider.Citation {
	out := provider.Citation{
		Title: r.text("response.citations.title", c.Title), URL: r.text("response.citations.url", c.URL),
		Quote: r.text("response.citations.quote", string(c.Quote)),
	}
	if c.Start < 0 || c.Start > c.End || c.End > len(text) {
		r.failf("response.citations: %d to %d is no place in the text", c.Start, c.End)
		return out
	}
	out.Start, out.End = len(r.text("response.citations.start", text[:c.Start])), len(r.text("response.citations.end", text[:c.End]))
	return out
}

// chunks returns the pieces of an exchange's text.
func (r *reader) chunks(e *entry) []string {
	var text lines
	if e.Response != nil {
		text = e.Response.Text
	}
	return r.pieces("chunks", e.Chunks, text)
}

// thoughts returns the pieces of an exchange's thoughts.
func (r *reader) thoughts(e *entry) []string {
	var text lines
	if e.Response != nil {
		text = e.Response.Reasoning
	}
	return r.pieces("thoughts", e.Thoughts, text)
}

// pieces returns the pieces of a text, which is that of the response if the chunks have none of their own.
func (r *reader) pieces(field string, c *chunks, text lines) []string {
	if c == nil {
		return nil
	}
	form := string(text)
	if c.Text != nil {
		form = string(*c.Text)
	}
	whole, rest := r.text(field+".text", form), form
	var pieces []string
	var length int
	for size := range strings.SplitSeq(c.Sizes, " ") {
		n, err := strconv.Atoi(size)
		if err != nil || n < 0 || n > len(rest) {
			r.failf("%s.sizes: %q is no size of a piece of the text", field, clip(size))
			return nil
		}
		piece := r.text(field+".sizes", rest[:n])
		pieces, rest, length = append(pieces, piece), rest[n:], length+len(piece)
	}
	if rest != "" || length != len(whole) {
		r.failf("%s.sizes: the pieces do not add up to the text: %d bytes are left", field, len(rest))
	}
	return pieces
}

func (r *reader) failure(form *failure) error {
	if form == nil {
		return nil
	}
	if form.Other {
		return errors.New(r.text("error.message", string(form.Message)))
	}
	out := &provider.Error{
		Kind: provider.Kind(r.text("error.kind", form.Kind)), Status: form.Status, Code: r.text("error.code", form.Code),
		Message: r.text("error.message", string(form.Message)), RequestID: r.text("error.requestId", form.RequestID),
		NotSent: form.NotSent, Window: form.Window, Capped: form.Capped,
	}
	if form.RetryAfter != "" {
		d, err := time.ParseDuration(form.RetryAfter)
		if err != nil {
			r.failf("error.retryAfter: %q is no duration", clip(form.RetryAfter))
		}
		out.RetryAfter = d
	}
	if form.Cause != "" {
		out.Err = errors.New(r.text("error.cause", string(form.Cause)))
	}
	return out
}

// settle computes the unexported fields of an entry. It fails if the entry is invalid.
func (e *entry) settle() error {
	if e.Request == nil {
		return errors.New("request: is missing")
	}
	asked, err := e.Request.canonical()
	if err != nil {
		return fmt.Errorf("request: %w", err)
	}
	e.key = keyOf(e.Provider, asked)
	// This reads everything that a replay needs, so that no error is found only then.
	n, err := fenceCount(asked)
	if err != nil {
		return fmt.Errorf("request: %w", err)
	}
	r := reader{fences: make([]string, n)}
	r.response(e.Response)
	r.chunks(e)
	r.thoughts(e)
	_ = r.failure(e.Error)
	return r.err
}

func keyOf(name, asked string) string { return name + "\x00" + asked }

// fenceCount returns the highest number of a fence that a request refers to.
func fenceCount(asked string) (int, error) {
	highest := 0
	for {
		_, rest, found := strings.Cut(asked, opening+fenceName)
		if !found {
			return highest, nil
		}
		digits, after, _ := strings.Cut(rest, closing)
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || n > maxFences {
			return 0, fmt.Errorf("%q is no number of a fence, from 1 to %d", clip(digits), maxFences)
		}
		highest = max(highest, n)
		asked = after
	}
}

// clip shortens a short text for an error message.
func clip(s string) string {
	const most = 60
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
