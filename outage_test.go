package debate_test

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// outage makes the requests fail that it hits, until it is over.
type outage struct{ over atomic.Bool }

// befall lets an outage befall a provider.
func befall(p *scripted.Provider, kind provider.Kind, hits func(req *provider.Request) bool) *outage {
	o, reply := &outage{}, p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		if !o.over.Load() && hits(req) {
			return scripted.Reply{Err: &provider.Error{Kind: kind, Status: 400, Message: "no"}}
		}
		return reply(req)
	}
	return o
}

// requested matches the requests of one model for calls whose id holds this.
func requested(model, call string) func(*provider.Request) bool {
	return func(req *provider.Request) bool { return req.Model == model && strings.Contains(req.ID, "/"+call) }
}

// said matches the requests of the debaters' model in somebody's name, from a round on.
func said(who string, from int) func(*provider.Request) bool {
	return func(req *provider.Request) bool {
		round := 0
		if m := callRound.FindStringSubmatch(req.ID); m != nil {
			_, _ = fmt.Sscan(m[1], &round)
		}
		return req.Model == "debater" && req.Self == who && round >= from
	}
}

// noRetry lets every failed attempt be the last.
func noRetry() *debate.RetryPolicy {
	return &debate.RetryPolicy{Max: map[debate.Kind]int{
		provider.KindNetwork: 0, provider.KindRateLimit: 0, provider.KindAPI: 0, provider.KindTimeout: 0, provider.KindInvalidResponse: 0,
	}}
}
