package failure_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// limited plays a debate whose Ada and Ben have fallbacks, and in which the first request to each of
// some models fails. It yields, by speaker, what was asked and when.
func limited(t *testing.T, mode debate.Mode, fallbacks []string, failures map[string]*provider.Error) (asked map[string][]string, events []debate.Event) {
	t.Helper()
	config := stage.TwoDebaters()
	config.Mode, config.Judging, config.Rounds = mode, nil, 2
	for i := range config.Participants {
		config.Participants[i].Model, config.Participants[i].Fallbacks = "test/debater", fallbacks
	}
	events, err := stage.OnClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
		row := e.Models["test/debater"]
		row.Family = "north"
		e.Models["test/debater"], e.Models["test/second"], e.Models["other/third"] = row, row, row
		row.Family = "south"
		e.Models["test/south"] = row
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			if _, attempt := stage.CutAttempt(req.ID); attempt == "1" && strings.Contains(req.ID, "/r1.") {
				r.Err = provideFailure(failures, req)
			}
		})
		e.Providers["other"] = p
	})
	require.NoError(t, err)
	asked = map[string][]string{}
	var began time.Time
	for i := range events {
		if intent := body.As[flow.Intent](events[i]); intent != nil {
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

// answering plays a debate of two rounds in which Ada and Ben have a fallback at another vendor, and what a
// request gets is answer's. It yields who was asked when, by which model, and the failures between.
func answering(t *testing.T, mode debate.Mode, change func(*debate.Engine, *scripted.Provider), answer func(*provider.Request, *scripted.Reply)) (asked []string, events []debate.Event) {
	t.Helper()
	config := stage.TwoDebaters()
	config.Mode, config.Judging, config.Rounds = mode, nil, 2
	config.Participants[0].Fallbacks = []string{"test/second", "other/third"}
	config.Participants[1].Fallbacks = []string{"other/third"}
	events, err := stage.OnClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
		row := e.Models["test/debater"]
		row.Priced, row.Input, row.Output = true, 1, 1
		e.Models["test/debater"], e.Models["test/second"], e.Models["other/third"] = row, row, row
		e.Providers["other"] = p
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			r := reply(req)
			answer(req, &r)
			return r
		}
		if change != nil {
			change(e, p)
		}
	})
	require.NoError(t, err)
	var began time.Time
	for i := range events {
		if in := body.As[flow.Intent](events[i]); in != nil {
			if began.IsZero() {
				began = events[i].At
			}
			asked = append(asked, events[i].At.Sub(began).Truncate(5*time.Second).String()+" "+in.By+" "+in.Model)
		}
	}
	return asked, events
}

// TestTheModelThatTakesOverIsTheOneInTheLog: also where the wait that led to it is over by then.
func TestTheModelThatTakesOverIsTheOneInTheLog(t *testing.T) {
	asked, events := answering(t, debate.Sequential, nil, func(req *provider.Request, r *scripted.Reply) {
		if req.Self == "Ada" && req.Model == "debater" {
			r.Err = &provider.Error{Kind: provider.KindRateLimit, RetryAfter: 20 * time.Second}
		}
	})
	next := ""
	for i := range events {
		switch e := &events[i]; {
		case body.As[flow.Failure](*e) != nil && body.As[flow.Failure](*e).Next != "":
			assert.Equal(t, "other/third", body.As[flow.Failure](*e).Next)
			next = body.As[flow.Failure](*e).Next
		case body.As[flow.Intent](*e) != nil && next != "":
			assert.Equal(t, next, body.As[flow.Intent](*e).Model)
			assert.Equal(t, 2, body.As[flow.Intent](*e).ModelIndex)
			next = ""
		}
	}
	assert.NotContains(t, strings.Join(asked, "\n"), "test/second")
}

// TestACacheLiftsNoQuota: what it answers is not the vendor's.
func TestACacheLiftsNoQuota(t *testing.T) {
	asked, events := answering(t, debate.Sequential, func(e *debate.Engine, p *scripted.Provider) {
		e.Providers["other"] = stage.Cached{Provider: p}
	}, func(req *provider.Request, r *scripted.Reply) {
		if req.Model == "debater" {
			r.Err = &provider.Error{Kind: provider.KindQuota}
		}
	})
	assert.Equal(t, []string{"0s Ada test/debater", "0s Ada other/third", "0s Ben other/third", "0s Ada other/third", "0s Ben other/third"}, asked)
	for i := range events {
		if turn := body.As[debate.Turn](events[i]); turn != nil {
			assert.True(t, turn.Cached)
		}
	}
}

// TestTheLongerWaitCounts: a second answer that names a shorter one changes nothing.
func TestTheLongerWaitCounts(t *testing.T) {
	asked, _ := answering(t, debate.Simultaneous, nil, func(req *provider.Request, r *scripted.Reply) {
		if _, attempt := stage.CutAttempt(req.ID); attempt != "1" || !strings.Contains(req.ID, "/r1.") {
			return
		}
		r.Err = &provider.Error{Kind: provider.KindRateLimit, RetryAfter: 50 * time.Second}
		if req.Self == "Ben" {
			r.Delay, r.Err = time.Second, &provider.Error{Kind: provider.KindRateLimit, RetryAfter: time.Second}
		}
	})
	assert.ElementsMatch(t, []string{"0s Ada test/debater", "0s Ben test/debater", "50s Ada test/debater", "50s Ben test/debater"}, asked[:4])
}

// TestEachModelHasItsOwnTries: those of a model that a limit has closed are not the next one's.
func TestEachModelHasItsOwnTries(t *testing.T) {
	third := 0
	answering(t, debate.Simultaneous, nil, func(req *provider.Request, r *scripted.Reply) {
		switch req.Self + " " + req.Model {
		case "Ada debater":
			r.Err = &provider.Error{Kind: provider.KindAPI, Status: 500}
		case "Ben debater":
			r.Delay, r.Err = 3*time.Second, &provider.Error{Kind: provider.KindQuota}
		case "Ada third":
			if third++; third < 3 {
				r.Err = &provider.Error{Kind: provider.KindAPI, Status: 500}
			}
		}
	})
	assert.Equal(t, 4, third, "two retries, and the second round")
}

// TestWhoHasNoOtherVendorAsks: the vendor's answer decides, and is what is shown.
func TestWhoHasNoOtherVendorAsks(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging, config.Rounds = nil, 1
	config.Participants[0].Fallbacks = []string{"other/third"}
	events, err := stage.OnClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
		e.Models["other/third"], e.Providers["other"] = e.Models["test/debater"], p
		failing(1, &provider.Error{Kind: provider.KindRateLimit, RetryAfter: time.Hour})(e, p)
	})
	require.NoError(t, err)
	var asked []string
	for i := range events {
		if in := body.As[flow.Intent](events[i]); in != nil {
			asked = append(asked, in.By+" "+in.Model)
		}
	}
	assert.Equal(t, []string{"Ada test/debater", "Ada other/third", "Ben test/debater"}, asked)
}

// TestWhatWasHeardIsNotFree: an adapter that gives a failure in mid-stream the status of an answer does not
// make the reply free.
func TestWhatWasHeardIsNotFree(t *testing.T) {
	for chunks, paid := range map[int]bool{0: false, 1: true} {
		_, events := answering(t, debate.Sequential, nil, func(req *provider.Request, r *scripted.Reply) {
			if strings.HasSuffix(req.ID, "/r1.opening.Ada/1") {
				r.Usage, r.AfterChunks, r.Err = provider.Usage{}, chunks, &provider.Error{Kind: provider.KindAPI, Status: 502}
			}
		})
		failures := 0
		for i := range events {
			if f := body.As[flow.Failure](events[i]); f != nil {
				failures++
				assert.Equal(t, paid, f.BrokenOff)
				assert.Equal(t, paid, f.AtMost > 0)
				assert.Zero(t, f.Cost)
			}
		}
		assert.Equal(t, 1, failures)
	}
}

// TestWhatWasCountedBeforeItBrokeIsSpent: of a reply that breaks, the vendor has counted a part. That is spent; the rest may have been.
func TestWhatWasCountedBeforeItBrokeIsSpent(t *testing.T) {
	counted := provider.Usage{Input: 100, Output: 7}
	for _, partial := range []bool{false, true} {
		_, events := answering(t, debate.Sequential, nil, func(req *provider.Request, r *scripted.Reply) {
			if strings.HasSuffix(req.ID, "/r1.opening.Ada/1") {
				r.Usage, r.Partial, r.AfterChunks, r.Err = counted, partial, 1, &provider.Error{Kind: provider.KindNetwork}
			}
		})
		failures := 0
		for i := range events {
			if f := body.As[flow.Failure](events[i]); f != nil {
				failures++
				assert.Equal(t, counted, f.Usage)
				assert.Positive(t, f.Cost)
				assert.Equal(t, partial, f.BrokenOff)
				assert.Equal(t, partial, f.AtMost > 0)
			}
		}
		assert.Equal(t, 1, failures)
	}
}

// TestAFallbackOfTheSameVendorIsNotAsked: without another vendor the call has failed, and says why.
func TestAFallbackOfTheSameVendorIsNotAsked(t *testing.T) {
	config := stage.TwoDebaters()
	config.Participants[0].Fallbacks = []string{"test/second"}
	events, err := stage.OnClock(t, config, func(e *debate.Engine, p *scripted.Provider) {
		e.Models["test/second"] = e.Models["test/debater"]
		failing(9, &provider.Error{Kind: provider.KindQuota})(e, p)
	})
	require.ErrorIs(t, err, &debate.Error{Kind: provider.KindQuota})
	attempts, _ := openings(events)
	assert.Len(t, attempts, 1)
	assert.Equal(t, "test/second", attempts[0].Next)
}

// TestARetryForgetsTheLimit: whoever retries has seen to the account.
func TestARetryForgetsTheLimit(t *testing.T) {
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	engine.Providers["other"], engine.Models["other/third"] = p, engine.Models["test/debater"]
	config.Participants[0].Fallbacks = []string{"other/third"}
	config.Retry = &debate.RetryPolicy{Max: map[debate.Kind]int{provider.KindNetwork: 0}}
	s := stage.BegunBy(t, engine, config)
	s.Fails(stage.AdasOpening, 1, debate.Error{Kind: provider.KindQuota})
	s.Fails(stage.AdasOpening, 2, debate.Error{Kind: provider.KindNetwork})
	require.Equal(t, flow.StateError, s.Record().State)
	out := s.Feed(flow.Retry{})
	require.Equal(t, []string{stage.AdasOpening}, out.Start)
	command, err := s.Command(stage.AdasOpening)
	require.NoError(t, err)
	assert.Equal(t, "test", command.Provider)
}
