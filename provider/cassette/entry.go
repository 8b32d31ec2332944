package cassette

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/fence"
)

// entry is one exchange. Its texts are in the form of the file.
type entry struct {
	Provider string             `json:"provider"`
	Request  *provider.Request  `json:"request"`
	Response *provider.Response `json:"response,omitempty"`
	Chunks   *chunks            `json:"chunks,omitempty"`
	Error    *provider.Error    `json:"error,omitempty"`
	// Cause is the text of Error's cause or, without Error, of an error of another type.
	Cause *string `json:"cause,omitempty"`

	key   string // the key of the requests that it answers
	order string // by which the file is sorted
	body  []byte // its form
	began int    // its position among all exchanges, by their beginning
	used  bool   // it was replayed, or was recorded just now
}

// MarshalJSON returns the form of an entry that has settled.
func (e *entry) MarshalJSON() ([]byte, error) { return e.body, nil }

// chunks are the pieces in which the text of the thoughts and that of the reply arrived.
type chunks struct {
	Thoughts int     `json:"thoughts,omitempty"` // how many of the pieces are thoughts; they come first
	Sizes    string  `json:"sizes"`              // in bytes of the text as the file has it, separated by spaces
	Text     *string `json:"text,omitempty"`     // nil: it is the response's, behind its thoughts
}

// request returns a request in the form of the file.
func (s *scribe) request(r *provider.Request, labels bool) *provider.Request {
	out := rewritten("", r, s.leaf)
	if !labels {
		out.Labels = nil
	}
	if out.Options != nil && reflect.ValueOf(*out.Options).IsZero() { // they ask for nothing
		out.Options = nil
	}
	for i := range r.Messages {
		hashParts(&out.Messages[i], &r.Messages[i])
	}
	hashParts(&out.Last, &r.Last)
	return out
}

// hashParts sets the hashes of a message's parts. Those that the parts name are a claim.
func hashParts(out, m *provider.Message) {
	for i := range m.Parts {
		sum := sha256.Sum256(m.Parts[i].Data)
		out.Parts[i].Hash = hex.EncodeToString(sum[:])
	}
}

// answer puts what a provider did into an entry.
func (s *scribe) answer(e *entry, r *provider.Response, thoughts, said []string, err error) {
	var whole string
	if e.Response = rewritten("", r, s.leaf); r != nil {
		if r.Cost != nil && (math.IsNaN(*r.Cost) || math.IsInf(*r.Cost, 0)) {
			e.Response.Cost = nil // JSON has no such numbers
		}
		for i, c := range r.Citations {
			c = c.Within(r.Text)
			_, ends := s.divide(r.Text, []int{c.Start, c.End})
			e.Response.Citations[i].Start, e.Response.Citations[i].End = ends[0], ends[1]
		}
		whole = e.Response.Reasoning + e.Response.Text
	}
	if heard := slices.Concat(thoughts, said); len(heard) > 0 {
		e.Chunks = s.chunks(heard, whole)
		e.Chunks.Thoughts = len(thoughts)
	}
	if known, ok := errors.AsType[*provider.Error](err); ok && known != nil {
		e.Error = rewritten("", known, s.leaf)
		e.Error.Message = s.write(redact.Foreign(known.Message))
		err = known.Err
	}
	if err != nil {
		e.Cause = new(s.write(redact.Foreign(err.Error())))
	}
}

// chunks returns how a text arrived; whole is that of the response, in the form of the file.
func (s *scribe) chunks(heard []string, whole string) *chunks {
	end, ends := 0, make([]int, len(heard))
	for i, piece := range heard {
		end += len(piece)
		ends[i] = end
	}
	form, ends := s.divide(strings.Join(heard, ""), ends)
	sizes, begin := make([]string, len(ends)), 0
	for i, end := range ends {
		sizes[i] = strconv.Itoa(end - begin)
		begin = end
	}
	out := &chunks{Sizes: strings.Join(sizes, " ")}
	if form != whole {
		out.Text = &form
	}
	return out
}

// replay returns what the provider did, as the reader reads it.
func (e *entry) replay(r *reader) (response *provider.Response, pieces []provider.Chunk, failure error) {
	var whole string
	if response = rewritten("response", e.Response, r.leaf); response != nil {
		whole = e.Response.Reasoning + e.Response.Text
		for i, c := range e.Response.Citations {
			if c.Start < 0 || c.Start > c.End || c.End > len(e.Response.Text) {
				r.fail("response.citations", fmt.Errorf("%d to %d is no place in the text", c.Start, c.End))
				break
			}
			cited := &response.Citations[i]
			cited.Start = len(r.read("response.citations", e.Response.Text[:c.Start]))
			cited.End = len(r.read("response.citations", e.Response.Text[:c.End]))
		}
	}
	pieces = r.pieces(e.Chunks, whole)
	if e.Cause != nil {
		failure = errors.New(r.read("cause", *e.Cause))
	}
	if known := rewritten("error", e.Error, r.leaf); known != nil {
		known.Err, failure = failure, known
	}
	return response, pieces, failure
}

// pieces returns the pieces of a text, which is that of the response if they have none of their own.
func (r *reader) pieces(c *chunks, form string) []provider.Chunk {
	if c == nil {
		return nil
	}
	if c.Text != nil {
		form = *c.Text
	}
	var all []provider.Chunk
	var read strings.Builder
	rest := form
	for size := range strings.SplitSeq(c.Sizes, " ") {
		n, err := strconv.Atoi(size)
		if err != nil || n < 0 || n > len(rest) {
			r.fail("chunks", fmt.Errorf("%q is no size of a piece of the text", clip(size)))
			return nil
		}
		piece := provider.Chunk{Text: r.read("chunks", rest[:n]), Reasoning: len(all) < c.Thoughts}
		all, rest = append(all, piece), rest[n:]
		read.WriteString(piece.Text)
	}
	if rest != "" || read.String() != r.read("chunks", form) {
		r.fail("chunks", fmt.Errorf("the pieces do not add up to the text: %d bytes are left", len(rest)))
	}
	return all
}

// settle computes the unexported fields of an entry. It fails if the entry cannot be written or replayed.
func (e *entry) settle() error {
	type fields entry // without MarshalJSON
	if e.body = form((*fields)(e)); e.Request == nil || len(e.body) == 0 {
		return errors.New("request: is missing, or JSON does not know a number")
	}
	e.find()
	fences := maxFences
	for fences > 0 && !strings.Contains(e.key, fence.Placeholder(fences)) {
		fences--
	}
	r := &reader{fences: make([]string, fences)}
	rewritten("request", e.Request, r.leaf) // this and replay read all texts, so that no error is found only by a replay
	e.replay(r)                             //nolint:errcheck,gosec // the error is the recorded one
	return r.err
}

// find computes the key and the order of an entry. It reports whether its request can be written.
func (e *entry) find() bool {
	asked := form(e.asked())
	e.key = e.Provider + "\x00" + string(asked)
	e.order = orderOf(e.Request.ID)
	return len(asked) > 0
}

// asked returns the part of the request that is compared.
func (e *entry) asked() *provider.Request {
	r := *e.Request
	r.ID, r.Labels = "", nil
	return &r
}

// compareEntries compares by the order of the file: by the ids of the requests; equal requests by when they began.
func compareEntries(a, b *entry) int {
	return cmp.Or(strings.Compare(a.order, b.order), strings.Compare(a.key, b.key), cmp.Compare(a.began, b.began))
}

var digits = regexp.MustCompile(`[0-9]+`)

// orderOf returns a text by which ids are sorted: a debate's id, which is the part before the first slash, as it is, and
// numbers in the rest by value, because their lengths come first. Round 10 comes after round 9.
func orderOf(id string) string {
	conversation, call, _ := strings.Cut(id, "/")
	call = digits.ReplaceAllStringFunc(call, func(number string) string {
		number = strings.TrimLeft(number, "0")
		return fmt.Sprintf("0%09d%s", len(number), number)
	})
	return conversation + "\x00" + call + "\x00" + id
}

// clip shortens a short text for an error message.
func clip(s string) string { return text.OneLine(s, 60) }
