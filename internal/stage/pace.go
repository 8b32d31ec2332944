package stage

import (
	"hash/fnv"
	"maps"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// labelPause is the label of a debate that pauses between its rounds.
const labelPause = "pause"

// Pausing makes a debate pause before each round but the first, on an engine that has the flow of [Paced]. [Engine] makes such a one.
func Pausing(config *debate.Config, pause time.Duration) {
	config.Labels = maps.Clone(config.Labels)
	if config.Labels == nil {
		config.Labels = make(map[string]string)
	}
	config.Labels[labelPause] = pause.String()
}

// Paced is the flow of debates, in which those that are [Pausing] pause. It takes the place of the library's own in an engine.
func Paced() *debate.Flow {
	f := debate.DebateFlow()
	step := f.Steps[debate.StateAwaitingResponses]
	speeches := step.Calls
	step.Calls = func(r *debate.Record) []*flow.Call {
		calls := speeches(r)
		if pause, err := time.ParseDuration(r.Settings().Labels[labelPause]); err == nil && r.Round > 1 {
			for i := range calls {
				calls[i].NotBefore = r.EnteredAt().Add(pause)
			}
		}
		return calls
	}
	f.Steps[debate.StateAwaitingResponses] = step
	return f
}

// Unequally gives each reply without a delay one of its own that depends on the attempt alone, so that no two come at once.
func Unequally(p *scripted.Provider) {
	Altered(p, func(req *provider.Request, r *scripted.Reply) {
		if r.Delay == 0 {
			_, attempt, _ := strings.Cut(req.ID, "/")
			r.Delay = DelayOf(attempt)
		}
	})
}

// DelayOf is a time from one to two seconds that depends on a name alone.
func DelayOf(name string) time.Duration {
	h := fnv.New64a()
	h.Write([]byte(name))
	return time.Second + time.Duration(h.Sum64()%uint64(time.Second))
}
