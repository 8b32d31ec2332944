package debate

import (
	"iter"
	"strconv"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// asker is a part of the config that asks models: a participant, a judge, a member of the audience, and so on.
type asker struct {
	field     string
	by        string // as calls name it
	model     string
	fallbacks []string
	options   *provider.Options

	heated     bool // has a temperature of its own
	structured bool // its replies must match a schema
}

// given reports whether a config holds another temperature than the default, which a settled config has written out.
func given(t *float64, usual float64) bool { return t != nil && *t != usual }

// askers yields every part of the config that asks models.
func (c *Config) askers() iter.Seq[asker] {
	at := func(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }
	return func(yield func(asker) bool) {
		for i, p := range c.Participants {
			if !yield(asker{at("participants", i), p.Name, p.Model, p.Fallbacks, p.Options, p.Temperature != nil, false}) {
				return
			}
		}
		if c.Judging != nil {
			for i, j := range c.Judging.Judges {
				heated := given(j.Temperature, defaultJudgeTemperature)
				if !yield(asker{at("judging.judges", i), j.Name, j.Model, j.Fallbacks, j.Options, heated, true}) {
					return
				}
			}
		}
		if c.Audience != nil {
			for i, m := range c.Audience.Members {
				if !yield(asker{at("audience.members", i), m.Name, m.Model, m.Fallbacks, m.Options, false, true}) {
					return
				}
			}
		}
		if a := c.Assign; a != nil {
			yield(asker{"assign", assigner, a.Model, a.Fallbacks, a.Options, given(a.Temperature, defaultAssignTemperature), true})
		}
	}
}

// modelFields yields every field that names a model, with the name.
func (c *Config) modelFields() iter.Seq2[string, string] {
	return func(yield func(field, name string) bool) {
		for a := range c.askers() {
			if !yield(a.field+".model", a.model) {
				return
			}
			for i, name := range a.fallbacks {
				if !yield(a.field+".fallbacks["+strconv.Itoa(i)+"]", name) {
					return
				}
			}
		}
		if c.Summarizer != flow.NoSummarizer {
			yield("summarizer", c.Summarizer)
		}
	}
}

// asks returns one call for each actor that the rest of a debate may ask; see flow.Flow.Asks.
func asks(r *flow.Record) []flow.Call {
	d := of(r)
	calls := assignCalls(d)
	for _, p := range d.config.Participants {
		calls = append(calls, flow.Call{By: p.Name, Model: p.Model, Fallbacks: p.Fallbacks})
	}
	for _, i := range d.bench {
		calls = append(calls, judgeCall(d, &d.config.Judging.Judges[i], "", KindVerdict))
	}
	if d.config.Audience != nil {
		for i := range d.config.Audience.Members {
			calls = append(calls, memberCall(d, &d.config.Audience.Members[i], "", KindBallot))
		}
	}
	return calls
}
