package anthropic

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// explain adds to a failure what only Anthropic says in its way: the output filter, which has no code of
// its own, and how long a limit that is used up stays so.
func explain(x *wire.Exchange, err error) error {
	var e *provider.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Kind == provider.KindRateLimit && e.RetryAfter == 0:
		e.RetryAfter = reset(x)
	case strings.Contains(strings.ToLower(e.Message), "blocked by content filtering policy"):
		e.Kind = provider.KindContentFilter
	}
	return err
}

// reset yields how long it takes until the last of the limits that are used up is full again; 0 if none
// says so. The server's times are taken relative to its own clock, if it tells that too.
func reset(x *wire.Exchange) time.Duration {
	now, err := http.ParseTime(x.Header("Date"))
	if err != nil {
		now = time.Now()
	}
	var wait time.Duration
	for _, limit := range []string{"Requests", "Tokens", "Input-Tokens", "Output-Tokens"} {
		name := "Anthropic-Ratelimit-" + limit
		at, err := time.Parse(time.RFC3339, x.Header(name+"-Reset"))
		if err == nil && x.Header(name+"-Remaining") == "0" {
			wait = max(wait, at.Sub(now))
		}
	}
	return wait
}
