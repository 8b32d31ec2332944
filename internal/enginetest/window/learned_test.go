package window_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// What a vendor reports makes the next requests smaller, or lets them be larger.
func TestReportedUsageCorrectsTheCount(t *testing.T) {
	t.Parallel()
	most := func(factor float64) int {
		d := stage.NewTalk(24, 9000)
		if factor > 0 {
			d.Usage = func(req *provider.Request, _ string) provider.Usage {
				return provider.Usage{Input: int(factor * float64(d.Sent(req))), Output: 300}
			}
		}
		stage.Run(t, d.Engine, d.Config)
		largest := 0
		all := d.TurnsOf()
		for i := range all[20:] {
			largest = max(largest, d.Sent(&all[20+i]))
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
		d := stage.NewTalk(20, 8000)
		d.Config.Participants[1].Model = "test/other"
		d.Engine.Models["test/other"] = d.Engine.Models["test/debater"]
		d.Usage = func(req *provider.Request, _ string) provider.Usage {
			if req.Model == "other" || factor == 0 {
				return provider.Usage{}
			}
			return provider.Usage{Input: int(factor * float64(d.Sent(req))), Output: 300}
		}
		stage.Run(t, d.Engine, d.Config)
		for _, req := range d.TurnsOf("Ada")[12:] {
			ada = max(ada, d.Sent(&req))
		}
		for _, req := range d.TurnsOf("Ben")[12:] {
			ben = max(ben, d.Sent(&req))
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
	for name, change := range map[string]func(*stage.Talk){
		"usage":    func(d *stage.Talk) { d.Windows(9000, 0); d.Usage = dense(d) },
		"overflow": func(d *stage.Talk) { d.Windows(0, 0); d.Bursting(5000) },
	} {
		t.Run(name, func(t *testing.T) {
			d := stage.NewTalk(20, 0)
			d.Config.ID = "carried"
			change(d)
			d.Engine.Store = &store.Memory{}
			whole := stage.Run(t, d.Engine, d.Config)
			all := d.TurnsOf()

			var log []debate.Event
			for event, err := range d.Engine.Store.Read(t.Context(), whole.ID, 0) {
				require.NoError(t, err)
				log = append(log, event)
			}
			cut := slices.IndexFunc(log, func(e debate.Event) bool {
				return body.As[debate.Turn](e) != nil && strings.HasPrefix(body.As[debate.Turn](e).Call, "r16.")
			})
			require.Positive(t, cut)
			other := stage.NewTalk(20, 0)
			change(other)
			session, err := stage.Restore(t.Context(), other.Engine, stage.Snapshot(t, whole.ID, log[:cut+1]))
			require.NoError(t, err)
			defer session.Close()
			record := stage.Ended(t, session)
			assert.Equal(t, stage.Canonical(t, whole), stage.Canonical(t, record))
			rest := other.TurnsOf()
			require.NotEmpty(t, rest)
			for i := range rest {
				want := all[len(all)-len(rest)+i]
				assert.Equal(t, stage.Heard(&want), stage.Heard(&rest[i]), rest[i].ID)
			}
		})
	}
}

// dense is what a vendor reports whose tokens are smaller.
func dense(d *stage.Talk) func(*provider.Request, string) provider.Usage {
	return func(req *provider.Request, reply string) provider.Usage {
		u := d.Truthful(req, reply)
		u.Input = u.Input * 15 / 10
		return u
	}
}
