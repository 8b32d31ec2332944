// Package protocol is what the packages share that serve the conversations of a [web.Handler] over other protocols than its API.
package protocol

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/web"
)

// Invalid refuses a field of a request. op names the protocol.
func Invalid(op, field, why string) error {
	return &flow.Error{Kind: provider.KindValidation, Op: op, Field: field, Err: errors.New(why)}
}

// Path returns the path of a conversation in the API, or of something below it.
func Path(id string, below ...string) string {
	out := []string{"conversations", url.PathEscape(id)}
	for _, one := range below {
		out = append(out, url.PathEscape(one))
	}
	return strings.Join(out, "/")
}

// Post does an operation that has a body.
func Post(h *web.Handler, r *http.Request, path string, body any) (json.RawMessage, error) {
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return h.Do(r, http.MethodPost, path, data)
}

// Answer is the answer to a question.
type Answer struct {
	Text   string `json:"text,omitempty"`
	Option string `json:"option,omitempty"`
	Model  string `json:"model,omitempty"`
	By     string `json:"by,omitempty"`
}

// Conversation is a conversation as the API reads it. A field is zero if it was not asked for, or if the client may not see it.
type Conversation struct {
	Record struct {
		State        flow.State     `json:"state"`
		Seq          int64          `json:"seq"`
		Failure      *flow.Error    `json:"failure"`
		Spent        *flow.Account  `json:"spent"`
		SpentByModel []flow.Account `json:"spentByModel"`
	} `json:"record"`
	Legal     []string        `json:"legal"` // the operations that the client may do now
	Questions []flow.Question `json:"questions"`
	Whole     json.RawMessage `json:"-"` // what the API has answered
}

// Read reads a conversation, with the given fields of the record.
func Read(h *web.Handler, r *http.Request, id, fields string) (*Conversation, error) {
	data, err := h.Do(r, http.MethodGet, Path(id)+"?fields="+fields, nil)
	if err != nil {
		return nil, err
	}
	out := &Conversation{Whole: data}
	return out, json.Unmarshal(data, out)
}
