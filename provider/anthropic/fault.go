package anthropic

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// explain improves the classification of a failure in two cases that are particular to Anthropic: the
// output filter, which has no code of its own, and the wait for a limit that is used up.
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

// reset returns how long it takes until the last of the limits that are used up is restored; 0 if no
// header reports it. The server's times are taken relative to its own clock, if it reports that.
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
