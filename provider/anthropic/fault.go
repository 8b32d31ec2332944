package anthropic

import (
	"errors"
	"net/http"
	"time"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// explain completes a failure in what is particular to Anthropic: when a limit that is used up is restored. For an allowance of a
// month, no wait helps.
func explain(x *wire.Exchange, err error) error {
	var e *provider.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Kind == provider.KindQuota:
		e.RetryAfter = 0
	case e.Kind == provider.KindRateLimit && e.RetryAfter == 0:
		e.RetryAfter = reset(x)
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
