package openai

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// API is one of OpenAI's interfaces for replies.
type API string

// These are the interfaces for replies.
const (
	Auto            API = ""                 // Responses, or ChatCompletions if the server is not OpenAI's and has no such endpoint
	Responses       API = "responses"        // always /responses
	ChatCompletions API = "chat_completions" // always /chat/completions
)

func unknownAPI(api API) *provider.Error {
	err := text.Unknown("API", api, Auto, Responses, ChatCompletions)
	return &provider.Error{Kind: provider.KindValidation, Code: "api", Message: err.Error(), NotSent: true}
}

// discover asks for a reply through the API that the server has.
func (p *Provider) discover(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	api, tell := p.found.ask(ctx)
	defer tell(Auto)
	if api == ChatCompletions || api == Auto && p.onlyChat(req) {
		response, err := p.chat().Generate(ctx, req, emit)
		if chats(err, req.Model) {
			tell(ChatCompletions)
		}
		return response, err
	}
	begun := false
	response, err := p.respond(ctx, req, emit, func() {
		begun = true
		tell(Responses)
	})
	if api == Responses || begun || !elsewhere(err, req.Model) {
		return response, err
	}
	first := err
	response, err = p.chat().Generate(ctx, req, func(c provider.Chunk) {
		tell(ChatCompletions) // the endpoint answers
		emit(c)
	})
	switch {
	case chats(err, req.Model):
		tell(ChatCompletions)
	case absent(err, req.Model) && !absent(first, req.Model):
		return nil, first // it is the failure of the one API that there is
	}
	return response, err
}

// elsewhere reports whether a failure at /responses may be none of the other API: the server does not have the path, and says so in
// whatever way, or what stands behind it cannot serve it. A failure that speaks of the model, the key, money, a rate, a filter or a
// full window would be the same there.
func elsewhere(err error, model string) bool {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || e.NotSent || e.Status/100 == 3 {
		return false
	}
	switch e.Kind {
	case provider.KindValidation, provider.KindAPI, provider.KindInvalidResponse:
	case provider.KindAuthentication:
		return shut(e)
	default:
		return false
	}
	if e.Status == http.StatusNotFound {
		return absent(err, model)
	}
	return !ofModel(e) && !names(strings.ToLower(e.Message), strings.ToLower(model))
}

// shut reports whether a 403 may be one of the path: a gateway refuses one so that it does not know, and a firewall any path. Neither names
// an error of the API, nor says more than a few fixed words.
func shut(e *provider.Error) bool {
	words := strings.TrimRight(strings.ToLower(e.Message), ".")
	return e.Status == http.StatusForbidden && (e.Code == "blocked" || e.Code == "" && slices.Contains(shutWords, words))
}

// shutWords are messages of a 403 that no API has.
//
//nolint:gochecknoglobals // read only
var shutWords = []string{
	"forbidden", "403 forbidden", "access denied", // the first also in place of an empty message
	"missing authentication token", // AWS's gateway, of a path that it does not have
	"rbac: access denied",          // Envoy
}

// ofModel reports whether the code of a failure speaks of the model.
func ofModel(e *provider.Error) bool {
	code := strings.ToLower(e.Code)
	return strings.Contains(code, "model") || strings.Contains(code, "deployment")
}

// chats reports whether the result of a request for a chat completion shows that the server has that
// endpoint: a reply, a failure in mid-reply, or a refusal of this request. A gateway's message before its
// server is up, a web page, and a broken connection show nothing.
func chats(err error, model string) bool {
	e, ok := errors.AsType[*provider.Error](err)
	switch {
	case !ok:
		return err == nil
	case e.Status/100 == 2:
		return e.Kind != provider.KindInvalidResponse && e.Code != wire.CodeEndpoint
	case e.Status/100 == 4:
		return !absent(err, model) && !shut(e)
	}
	return false
}

// finding records which API a server has, as the first request found out. The zero finding knows nothing.
type finding struct {
	mu   sync.Mutex
	api  API           // Auto: unknown
	busy chan struct{} // closed when the request that is finding out has its answer; nil: there is none
}

// ask returns the API if it is known. If another request is finding it out, ask waits for that, once and a moment. If
// it returns Auto, the caller finds out with its own request. The caller calls tell with the API as soon
// as it knows it, and with Auto when it will find out nothing more.
func (f *finding) ask(ctx context.Context) (api API, tell func(API)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if busy := f.busy; busy != nil {
		f.mu.Unlock()
		f.wait(ctx, busy)
		f.mu.Lock()
	}
	if f.api != Auto {
		return f.api, func(API) {}
	}
	var mine chan struct{}
	if f.busy == nil {
		mine = make(chan struct{})
		f.busy = mine
	}
	return Auto, func(api API) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if api != Auto {
			f.api = api
		}
		if mine != nil {
			close(mine)
			mine, f.busy = nil, nil
		}
	}
}

// patience is how long a request waits for what another one finds out. A server that lacks an endpoint mostly says so within this time;
// one that has it may take as long as its model takes to begin.
const patience = 50 * time.Millisecond

// wait waits for the other request, for a moment. Meanwhile the clock of the caller's call is paused, because its own
// request has not begun.
func (f *finding) wait(ctx context.Context, busy <-chan struct{}) {
	defer provider.Waiting(ctx)()
	enough := time.NewTimer(patience)
	defer enough.Stop()
	select {
	case <-busy:
	case <-enough.C: // the caller finds out by itself
	case <-ctx.Done(): // the request then fails with it
	}
}

// absent reports whether a failure means that the server has no endpoint at the path of the request. [wire.CodeEndpoint] says so. A 404
// means that too, however it is worded, unless it speaks of the model, or of an item of the request that the server did not keep.
func absent(err error, model string) bool {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok {
		return false
	}
	message := strings.ReplaceAll(strings.ToLower(e.Message), "/models/"+strings.ToLower(model), "/models") // the path of a model names it
	of := func(name string) bool { return names(message, strings.ToLower(name)) }
	switch {
	case e.Kind == provider.KindInvalidResponse: // a page: what stands there is no part of the API, and nothing else is at BaseURL
		return false
	case e.Code == wire.CodeEndpoint:
		return !of(model)
	case ofModel(e):
		return false
	case e.Status == http.StatusMethodNotAllowed, e.Status == http.StatusNotImplemented:
		return true
	}
	return e.Status == http.StatusNotFound && !of(model) && !of("model") && !of("deployment") && !strings.HasPrefix(message, "item ")
}

// names reports whether a message has a name, and not only as a part of another word.
func names(message, name string) bool {
	if name == "" {
		return false
	}
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for at := 0; ; {
		i := strings.Index(message[at:], name)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(message[:at])
		after, _ := utf8.DecodeRuneInString(message[at+len(name):])
		if !inWord(before) && !inWord(after) {
			return true
		}
		at += len(name)
	}
}
