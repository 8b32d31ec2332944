package adaptertest

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Acting returns a provider that does what a scenario says, without a server. Wrappers of providers are tested around it.
func Acting(s providertest.Scenario) *scripted.Provider {
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		if s.Sent != nil {
			s.Sent(providertest.Direct(req))
		}
		reply := scripted.Reply{
			Text: strings.Join(s.Reply, ""), Chunks: len(s.Reply), Hold: s.Hold, AfterChunks: len(s.Reply),
			Reasoning: strings.Join(s.Thoughts, ""), Stop: s.Stop, Calls: s.Calls, Usage: s.Usage, Model: s.Model,
		}
		switch {
		case s.Fail != "":
			reply.Err = &provider.Error{Kind: s.Fail, RetryAfter: s.RetryAfter}
		case s.Cut:
			reply.Err = &provider.Error{Kind: provider.KindNetwork, Code: "truncated"}
		}
		return reply
	}}
}

// Fails reports whether the vendor signals a failure, in place of a reply or after its pieces.
func Fails(s *providertest.Scenario) bool {
	return s.Fail != "" && s.Fail != provider.KindInvalidResponse
}

// Speak says the pieces of a reply, and waits behind the first one if the scenario holds it. It returns false if the request was canceled
// meanwhile.
func Speak(s *providertest.Scenario, r *http.Request, say func(text string)) bool {
	for i, text := range s.Reply {
		say(text)
		if i > 0 || s.Hold == nil {
			continue
		}
		select {
		case <-s.Hold:
		case <-r.Context().Done():
			return false
		}
	}
	return true
}

// Refuse answers with a status, the wait that the scenario asks for, and a document.
func Refuse(w http.ResponseWriter, s *providertest.Scenario, status int, document any) {
	if s.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(s.RetryAfter.Seconds())))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(document)
}

// Say writes a text and flushes it.
func Say(w http.ResponseWriter, text string) {
	_, _ = io.WriteString(w, text)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
