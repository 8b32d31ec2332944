package failure_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A provider that fails in one way after another is one outage, with one bound.
func TestAnOutageIsOneWhateverKindsItShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Unattended, config.Patience = true, 0
		engine, p := stage.Engine(config)
		reply, hits := p.Reply, stage.Said("Ben", 2)
		var began time.Time
		kinds := []debate.Kind{provider.KindNetwork, provider.KindAPI, provider.KindTimeout, provider.KindRateLimit}
		p.Reply = func(req *provider.Request) scripted.Reply {
			if !hits(req) {
				return reply(req)
			}
			if began.IsZero() {
				began = time.Now()
			}
			kind := kinds[min(int(time.Since(began)/(9*time.Minute)), len(kinds)-1)]
			return scripted.Reply{Err: &provider.Error{Kind: kind, Status: 500, Message: "no"}}
		}
		session := stage.Started(t, engine, config)
		_, err := session.Wait(t.Context())
		require.Error(t, err)
		assert.LessOrEqual(t, time.Since(began), 11*time.Minute)
	})
}
