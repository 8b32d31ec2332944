package debate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// What a vendor reports makes the next requests smaller, or lets them be larger.
func TestReportedUsageCorrectsTheCount(t *testing.T) {
	t.Parallel()
	most := func(factor float64) int {
		d := newTalk(24, 9000)
		if factor > 0 {
			d.usage = func(req *provider.Request, _ string) provider.Usage {
				return provider.Usage{Input: int(factor * float64(d.sent(req))), Output: 300}
			}
		}
		run(t, d.engine, d.config)
		largest := 0
		all := d.turnsOf()
		for i := range all[20:] {
			largest = max(largest, d.sent(&all[20+i]))
		}
		return largest
	}
	plain, dense := most(0), most(1.6)
	assert.Less(t, dense, plain*3/4)
	assert.LessOrEqual(t, float64(dense)*1.6, 8600.0, "what the vendor counts fits")
}

// One model's tokens say nothing of another's.
func TestUsageCorrectsOnlyItsOwnModel(t *testing.T) {
	t.Parallel()
	largest := func(factor float64) (ada, ben int) {
		d := newTalk(20, 8000)
		d.config.Participants[1].Model = "test/other"
		d.engine.Models["test/other"] = d.engine.Models["test/debater"]
		d.usage = func(req *provider.Request, _ string) provider.Usage {
			if req.Model == "other" || factor == 0 {
				return provider.Usage{}
			}
			return provider.Usage{Input: int(factor * float64(d.sent(req))), Output: 300}
		}
		run(t, d.engine, d.config)
		for _, req := range d.turnsOf("Ada")[12:] {
			ada = max(ada, d.sent(&req))
		}
		for _, req := range d.turnsOf("Ben")[12:] {
			ben = max(ben, d.sent(&req))
		}
		return ada, ben
	}
	ada, ben := largest(0)
	smaller, same := largest(1.8)
	assert.Less(t, smaller, ada*3/4)
	assert.Equal(t, ben, same)
}

// A debate that is carried to another process goes on with the windows and the corrections that it had.
func TestWhatWasLearnedOfWindowsIsRestored(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*talk){
		"usage":    func(d *talk) { d.windows(9000, 0); d.usage = dense(d) },
		"overflow": func(d *talk) { d.windows(0, 0); d.bursting(5000) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newTalk(20, 0)
			d.config.ID = "carried"
			change(d)
			d.engine.Store = &store.Memory{}
			whole := run(t, d.engine, d.config)
			all := d.turnsOf()

			var log []debate.Event
			for event, err := range d.engine.Store.Read(t.Context(), whole.ID, 0) {
				require.NoError(t, err)
				log = append(log, event)
			}
			cut := slices.IndexFunc(log, func(e debate.Event) bool {
				return as[debate.Turn](e) != nil && strings.HasPrefix(as[debate.Turn](e).Call, "r16.")
			})
			require.Positive(t, cut)
			other := newTalk(20, 0)
			change(other)
			session, err := other.engine.Restore(t.Context(), snapshot(t, whole.ID, log[:cut+1]))
			require.NoError(t, err)
			defer session.Close()
			record, err := session.Wait(t.Context())
			require.NoError(t, err)
			assert.Equal(t, canonical(t, whole), canonical(t, record))
			rest := other.turnsOf()
			require.NotEmpty(t, rest)
			for i := range rest {
				want := all[len(all)-len(rest)+i]
				assert.Equal(t, heard(&want), heard(&rest[i]), rest[i].ID)
			}
		})
	}
}

// dense is what a vendor reports whose tokens are smaller.
func dense(d *talk) func(*provider.Request, string) provider.Usage {
	return func(req *provider.Request, reply string) provider.Usage {
		u := d.truthful(req, reply)
		u.Input = u.Input * 15 / 10
		return u
	}
}
