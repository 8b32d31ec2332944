package debate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// limited plays a debate whose Ada and Ben have fallbacks, and in which the first request to each of
// some models fails. It yields, by speaker, what was asked and when.
func limited(t *testing.T, mode debate.Mode, fallbacks []string, failures map[string]*provider.Error) (asked map[string][]string, events []debate.Event) {
	t.Helper()
	config := twoDebaters()
	config.Mode, config.Judging, config.Rounds = mode, nil, 2
	for i := range config.Participants {
		config.Participants[i].Model, config.Participants[i].Fallbacks = "test/debater", fallbacks
	}
	events, err := onClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
		row := e.Models["test/debater"]
		row.Family = "north"
		e.Models["test/debater"], e.Models["test/second"], e.Models["other/third"] = row, row, row
		row.Family = "south"
		e.Models["test/south"] = row
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			r := reply(req)
			if _, attempt := lastCut(req.ID); attempt == "1" && strings.Contains(req.ID, "/r1.") {
				r.Err = provideFailure(failures, req)
			}
			return r
		}
		e.Providers["other"] = p
	})
	require.NoError(t, err)
	asked = map[string][]string{}
	var began time.Time
	for i := range events {
		if intent := events[i].Intent; intent != nil {
			if began.IsZero() {
				began = events[i].At
			}
			asked[intent.By] = append(asked[intent.By], events[i].At.Sub(began).Truncate(5*time.Second).String()+" "+intent.Model)
		}
	}
	return asked, events
}

// provideFailure yields what a request meets; a nil *provider.Error would not be a nil error.
func provideFailure(failures map[string]*provider.Error, req *provider.Request) error {
	if failure := failures[req.Self+" "+req.Model]; failure != nil {
		return failure
	}
	return nil
}

func TestModelsOfOneVendorShareItsLimits(t *testing.T) {
	quota := &provider.Error{Kind: provider.KindQuota}
	soon := &provider.Error{Kind: provider.KindRateLimit, RetryAfter: 20 * time.Second}
	late := &provider.Error{Kind: provider.KindRateLimit, RetryAfter: time.Hour}
	bare := &provider.Error{Kind: provider.KindAPI}
	tests := []struct {
		name      string
		mode      debate.Mode
		fallbacks []string
		failures  map[string]*provider.Error
		ada, ben  []string
	}{
		{
			"a quota that is used up is so for the vendor's other models, and for others who ask",
			debate.Sequential,
			[]string{"test/second", "test/south", "other/third"},
			map[string]*provider.Error{"Ada debater": quota},
			[]string{"0s test/debater", "0s other/third", "0s other/third"},
			[]string{"0s other/third", "0s other/third"},
		},
		{
			"a wait beyond the cap is one for the vendor's other models, and for others who ask",
			debate.Sequential,
			[]string{"test/second", "other/third"},
			map[string]*provider.Error{"Ada debater": late},
			[]string{"0s test/debater", "0s other/third", "0s other/third"},
			[]string{"0s other/third", "0s other/third"},
		},
		{
			"but not for another maker's, which a router has too",
			debate.Sequential,
			[]string{"test/second", "test/south"},
			map[string]*provider.Error{"Ada debater": late},
			[]string{"0s test/debater", "0s test/south", "0s test/south"},
			[]string{"0s test/south", "0s test/south"},
		},
		{
			"a wait that the debate has patience for holds everybody",
			debate.Sequential,
			[]string{"other/third"},
			map[string]*provider.Error{"Ada debater": soon},
			[]string{"0s test/debater", "20s test/debater", "20s test/debater"},
			[]string{"20s test/debater", "20s test/debater"},
		},
		{
			"in a batch it holds those who have not asked yet",
			debate.Simultaneous,
			[]string{"other/third"},
			map[string]*provider.Error{"Ada debater": soon, "Ben debater": bare},
			[]string{"0s test/debater", "20s test/debater", "20s test/debater"},
			[]string{"0s test/debater", "20s test/debater", "20s test/debater"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			asked, _ := limited(t, test.mode, test.fallbacks, test.failures)
			assert.Equal(t, test.ada, asked["Ada"])
			assert.Equal(t, test.ben, asked["Ben"])
		})
	}
}

// TestAFallbackOfTheSameVendorIsNotAsked: without another vendor the call has failed, and says why.
func TestAFallbackOfTheSameVendorIsNotAsked(t *testing.T) {
	config := twoDebaters()
	config.Participants[0].Fallbacks = []string{"test/second"}
	events, err := onClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
		e.Models["test/second"] = e.Models["test/debater"]
		failing(9, &provider.Error{Kind: provider.KindQuota})(e, p)
	})
	require.ErrorIs(t, err, &debate.Error{Kind: debate.KindQuota})
	attempts, _ := openings(events)
	assert.Len(t, attempts, 1)
	assert.Equal(t, "test/second", attempts[0].Next)
}

// TestARetryForgetsTheLimit: whoever retries has seen to the account.
func TestARetryForgetsTheLimit(t *testing.T) {
	config := twoDebaters()
	engine, p := engineFor(config)
	engine.Providers["other"], engine.Models["other/third"] = p, engine.Models["test/debater"]
	config.Participants[0].Fallbacks = []string{"other/third"}
	config.Retry = &debate.RetryPolicy{Max: map[debate.Kind]int{debate.KindNetwork: 0}}
	s := begunBy(t, engine, config)
	s.fails(adasOpening, 1, debate.Error{Kind: debate.KindQuota})
	s.fails(adasOpening, 2, debate.Error{Kind: debate.KindNetwork})
	require.Equal(t, debate.StateError, s.Record().State)
	out := s.step(debate.Retry{})
	require.Equal(t, []string{adasOpening}, out.Start)
	command, err := s.Command(adasOpening)
	require.NoError(t, err)
	assert.Equal(t, "test", command.Provider)
}
