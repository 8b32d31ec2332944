package anthropic

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// explain improves the classification of a failure in three cases that are particular to Anthropic: the
// output filter and a month's allowance, which have no code of their own, and the wait for a limit that is
// used up.
func explain(x *wire.Exchange, err error) error {
	var e *provider.Error
	if !errors.As(err, &e) {
		return err
	}
	words := strings.ToLower(e.Message)
	switch {
	case spent(words):
		e.Kind, e.RetryAfter = provider.KindQuota, 0
	case e.Kind == provider.KindRateLimit && e.RetryAfter == 0:
		e.RetryAfter = reset(x)
	case strings.Contains(words, "blocked by content filtering policy"):
		e.Kind = provider.KindContentFilter
	}
	return err
}

// spent reports whether a message says that the month's allowance of an account, of a workspace or of an
// organization is used up. The first two come under a status of 400, the third as a rate limit under 429.
func spent(words string) bool {
	_, limit, reached := strings.Cut(words, "you have reached your ")
	return reached && strings.Contains(limit, "api usage limits")
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
