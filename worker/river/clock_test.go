package river_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
	worker "github.com/agonist-dev/debate/worker/river"
)

// clock is off by some time, for River.
type clock time.Duration

// Now implements River's generator of times.
func (c clock) Now() time.Time { return time.Now().UTC().Add(time.Duration(c)) }

// NowOrNil implements River's generator of times: it leaves to the database what River does.
func (clock) NowOrNil() *time.Time { return nil }

// A worker whose clock is an hour off delays nothing, whether it leads or not: neither waits nor the debates of others. (How the
// engine bears such a clock is tested at the root.)
func TestAClockThatIsOff(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, p place) {
				const debates = 4
				host := p.opened(t, worker.Options{})
				engine := engineOn(host.store, nil)
				var seen sync.Map
				now := func(ctx context.Context, req *provider.Request) error {
					id, _, _ := strings.Cut(req.ID, "/")
					if _, again := seen.LoadOrStore(id, true); !again { // a wait that is long enough for the debate to be released
						return &provider.Error{Kind: provider.KindRateLimit, RetryAfter: time.Second, NotSent: true}
					}
					return slowly(10*time.Millisecond)(ctx, req)
				}
				wrong := p.opened(t, worker.Options{})
				settings := soon()
				settings.Test.Time = clock(off)
				first := working(t, wrong, engineOn(wrong.store, now), worker.Config{River: settings, Sweep: time.Second, Far: time.Millisecond})
				right := p.opened(t, worker.Options{})
				second := working(t, right, engineOn(right.store, now), worker.Config{Sweep: time.Second, Far: time.Millisecond})
				began := time.Now()
				for i := range debates {
					config := debating(fmt.Sprint("d", i))
					config.Patience = time.Hour
					submit(t, engine, config)
				}
				for i := range debates {
					finished(t, engine, fmt.Sprint("d", i))
				}
				assert.Less(t, time.Since(began), 30*time.Minute, "an hour was waited for")
				assert.Positive(t, first.Stats().Far+second.Stats().Far, "no debate was released: the test finds nothing")
				assert.Zero(t, host.rows(t)["discarded"])
			})
		})
	}
}
