package budget_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// vendorTells returns what a runtime reports of a reply whose vendor tells what it costs.
func vendorTells(cost flow.Money) *flow.Metadata {
	return flow.MetadataOf(&provider.Response{Cost: new(float64(cost) / float64(flow.USD))})
}

// Each account holds what was spent, and beside it what may have been spent.
func TestWhatWasBrokenOffIsApart(t *testing.T) {
	gone, refused := &debate.Error{Kind: provider.KindNetwork}, &debate.Error{Kind: provider.KindRefusal}
	reserved := stage.Begun(t, stage.TwoDebaters()).Record().Reserved()
	require.Positive(t, reserved)
	began := provider.Usage{Input: 100, Output: 7}
	row, _ := stage.Begun(t, stage.TwoDebaters()).Record().Model("test/debater")
	rest := row.Bound(0, stage.Begun(t, stage.TwoDebaters()).Record().Settings().MaxTokens-began.Output)
	told := 7 * flow.USD / 1000
	all := row.Bound(0, stage.Begun(t, stage.TwoDebaters()).Record().Settings().MaxTokens)
	heard, said := provider.Usage{Input: 100}, provider.Usage{Output: 7}
	for name, test := range map[string]struct {
		end  flow.Signal
		cost debate.Money
		flow.Unsettled
		want string
	}{
		"lost": {
			flow.Lost{Call: stage.AdasOpening, Attempt: 1},
			0,
			flow.Unsettled{AtMost: reserved, BrokenOff: 1},
			"$0, and up to " + reserved.Rounded() + " for 1 call that was broken off",
		},
		"failed": {
			flow.Failed{Call: stage.AdasOpening, Attempt: 1, Error: gone},
			0,
			flow.Unsettled{AtMost: reserved, BrokenOff: 1},
			"$0, and up to " + reserved.Rounded() + " for 1 call that was broken off",
		},
		"failed after a part was counted": {
			flow.Failed{Call: stage.AdasOpening, Attempt: 1, Error: gone, Usage: began, Partial: true},
			row.Cost(began),
			flow.Unsettled{AtMost: rest, BrokenOff: 1},
			row.Cost(began).Rounded() + ", and up to " + rest.Rounded() + " for 1 call that was broken off",
		},
		"failed after all was counted": {
			flow.Failed{Call: stage.AdasOpening, Attempt: 1, Error: gone, Usage: began}, row.Cost(began), flow.Unsettled{}, row.Cost(began).Rounded(),
		},
		"failed with a cost of the vendor's": {
			flow.Failed{Call: stage.AdasOpening, Attempt: 1, Error: gone, Metadata: vendorTells(told)}, told, flow.Unsettled{}, told.Rounded(),
		},
		"refused without a usage": {
			flow.Failed{Call: stage.AdasOpening, Attempt: 1, Error: refused},
			0,
			flow.Unsettled{AtMost: reserved, Unreported: 1},
			"$0, and up to " + reserved.Rounded() + " for 1 call without a reported usage",
		},
		"refused while it streamed": {
			flow.Failed{Call: stage.AdasOpening, Attempt: 1, Error: refused, Usage: began, Partial: true},
			row.Cost(began),
			flow.Unsettled{AtMost: rest, BrokenOff: 1},
			row.Cost(began).Rounded() + ", and up to " + rest.Rounded() + " for 1 call that was broken off",
		},
		"never sent": {
			flow.Failed{Call: stage.AdasOpening, Attempt: 1, Error: gone, Free: true}, 0, flow.Unsettled{}, "$0",
		},
		"answered without a usage": {
			flow.Result{Call: stage.AdasOpening, Attempt: 1, Text: "A word."},
			0,
			flow.Unsettled{AtMost: reserved, Unreported: 1},
			"$0, and up to " + reserved.Rounded() + " for 1 call without a reported usage",
		},
		"answered with a usage that lacks the output": {
			flow.Result{Call: stage.AdasOpening, Attempt: 1, Text: "A word.", Usage: heard},
			row.Cost(heard),
			flow.Unsettled{AtMost: all, Unreported: 1},
			row.Cost(heard).Rounded() + ", and up to " + all.Rounded() + " for 1 call without a reported usage",
		},
		"answered with a usage that lacks the input": {
			flow.Result{Call: stage.AdasOpening, Attempt: 1, Text: "A word.", Usage: said},
			row.Cost(said),
			flow.Unsettled{AtMost: reserved - row.Cost(said), Unreported: 1},
			row.Cost(said).Rounded() + ", and up to " + (reserved - row.Cost(said)).Rounded() + " for 1 call without a reported usage",
		},
		"declined before anything was said": {
			flow.Failed{Call: stage.AdasOpening, Attempt: 1, Error: refused, Usage: heard}, row.Cost(heard), flow.Unsettled{}, row.Cost(heard).Rounded(),
		},
		"answered for nothing, although it has a price": {
			flow.Result{Call: stage.AdasOpening, Attempt: 1, Text: "A word.", Usage: began, Metadata: vendorTells(0)},
			row.Cost(began),
			flow.Unsettled{},
			row.Cost(began).Rounded(),
		},
		"answered for nothing, without a usage": {
			flow.Result{Call: stage.AdasOpening, Attempt: 1, Text: "A word.", Metadata: vendorTells(0)},
			0,
			flow.Unsettled{AtMost: reserved, Unreported: 1},
			"$0, and up to " + reserved.Rounded() + " for 1 call without a reported usage",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := stage.Begun(t, stage.TwoDebaters())
			out := s.Feed(test.end)
			i := slices.IndexFunc(out.Events, func(e flow.Event) bool { return flow.SpendOf(e.Body) != nil })
			require.NotEqual(t, -1, i)
			spend := flow.SpendOf(out.Events[i].Body)
			assert.Equal(t, test.cost, spend.Cost)
			assert.Equal(t, test.Unsettled, spend.Unsettled())
			r := s.Record()
			usage, _ := r.CallUsage(stage.AdasOpening)
			assert.Equal(t, test.Unsettled, usage.Unsettled)
			for _, a := range []flow.Account{
				r.Spent(), r.SpentInRound(1), r.SpentByModel()[0], r.SpentByParticipant()[0], flow.SpentByLabel("tenant", r)[0],
			} {
				assert.Equal(t, test.cost, a.Cost)
				assert.Equal(t, test.Unsettled, a.Unsettled)
				assert.Equal(t, 1, a.Requests)
				assert.Equal(t, test.want, a.String())
			}
		})
	}
}

func TestTheSentenceAboutWhatIsUnsettled(t *testing.T) {
	spent := 21 * flow.USD / 10_000
	for want, u := range map[string]flow.Unsettled{
		"$0.0021": {},
		"$0.0021, and up to $0.02 for 3 calls that were broken off":                                      {AtMost: flow.USD / 50, BrokenOff: 3},
		"$0.0021, and up to $0.02 for 1 call that was broken off and 1 call without a reported usage":    {AtMost: flow.USD / 50, BrokenOff: 1, Unreported: 1},
		"$0.0021, and up to $0.02 for 2 calls that were broken off and 4 calls without a reported usage": {AtMost: flow.USD / 50, BrokenOff: 2, Unreported: 4},
		"$0.0021, and up to $0.02 for 5 calls without a reported usage":                                  {AtMost: flow.USD / 50, Unreported: 5},
	} {
		assert.Equal(t, want, u.Beside(spent))
		assert.Equal(t, want, flow.Account{Cost: spent, Unsettled: u}.String())
		assert.Equal(t, want, fmt.Sprint(flow.Account{Cost: spent, Unsettled: u}))
	}
	assert.Equal(t, "$0.0021, and up to $0.02", flow.Unsettled{AtMost: flow.USD / 50, BrokenOff: 3}.Short(spent))
	assert.Equal(t, "$0.0021", flow.Unsettled{}.Short(spent))
}

// A soft limit compares what is spent, a hard one also what may have been.
func TestOnlyHardLimitsCountWhatWasBrokenOff(t *testing.T) {
	reserved := stage.Begun(t, stage.TwoDebaters()).Record().Reserved()
	begin := func(b debate.Budget) *stage.Stepper {
		config := stage.TwoDebaters()
		config.Budget = &b
		return stage.Begun(t, config)
	}
	s := begin(debate.Budget{Soft: reserved * 3 / 2, Warn: 1})
	state := s.Record().State
	s.Feed(flow.Lost{Call: stage.AdasOpening, Attempt: 1})
	assert.Equal(t, state, s.Record().State)
	assert.Equal(t, 1, s.Record().InFlight(), "it is made again")
	assert.Equal(t, reserved, s.Record().Spent().AtMost)
	for _, w := range s.Record().Warnings {
		assert.Equal(t, flow.WarnBudget, w.Kind, "nothing is spent that could be warned of")
	}

	s = begin(debate.Budget{Hard: reserved * 11 / 10}) // no second attempt fits beside the first, however low its cap
	s.Feed(flow.Lost{Call: stage.AdasOpening, Attempt: 1})
	assert.Equal(t, flow.StateError, s.Record().State)
	assert.Equal(t, flow.EndHardLimit, s.Record().Reason)
	assert.Contains(t, s.Record().Evidence, " ("+s.Record().Spent().String()+")")
	assert.Zero(t, s.Record().Spent().Cost)

	needs := func(lost int) debate.Money {
		s := begin(debate.Budget{Soft: 1})
		for attempt := range lost {
			s.Feed(flow.Lost{Call: stage.AdasOpening, Attempt: attempt + 1})
		}
		s.Feed(flow.Result{Call: stage.AdasOpening, Attempt: lost + 1, Text: "A word.", Usage: stage.LittleUsage})
		warnings := s.Record().Warnings
		last := warnings[len(warnings)-1]
		require.Equal(t, flow.WarnSoft, last.Kind)
		return last.Needs
	}
	require.Positive(t, needs(0))
	assert.Equal(t, needs(0), needs(9), "a soft limit need not pay for what it does not count")
}

// A call counts as broken off from the moment on at which no process may record its end: the conversation has failed, or pauses, beside it.
// It counts as in flight again if the conversation goes on, and as what it has cost as soon as that is known.
func TestACallBesideAFailureOrAPauseCounts(t *testing.T) {
	row, _ := stage.Begun(t, stage.TwoDebaters()).Record().Model("test/debater")
	refused := debate.Error{Kind: provider.KindAuthentication}
	for name, test := range map[string]struct {
		halt func(*stage.Stepper) flow.Output
		on   flow.Signal
		to   flow.State
	}{
		"a failure": {func(s *stage.Stepper) flow.Output { return s.Fails(stage.AdasOpening, 1, refused) }, flow.Retry{}, flow.StateError},
		"a pause": {func(s *stage.Stepper) flow.Output {
			s.Says(stage.AdasOpening, 1)
			return s.Feed(flow.Pause{Drain: true})
		}, flow.Resume{}, flow.StatePaused},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.Simultaneous()
			config.OnFailure = stage.Rules(debate.FailureRule{Do: flow.OptionFail})
			for i := range config.Participants {
				config.Participants[i].Side = "" // so that both prompts are equally long
			}
			s := stage.Begun(t, config)
			require.Equal(t, 2, s.Record().InFlight())
			reserved := s.Record().Reserved() / 2
			out := test.halt(s)
			require.Equal(t, test.to, s.Record().State)
			require.Equal(t, 1, s.Record().InFlight())
			before := s.Record().Spent().Cost
			want := flow.Unsettled{AtMost: reserved, BrokenOff: 1}
			halt := body.As[flow.Transition](out.Events[len(out.Events)-1])
			assert.Equal(t, test.to, halt.To)
			assert.Equal(t, want, halt.Unsettled, "lists know it")
			assert.Equal(t, want, s.Record().Spent().Unsettled)
			assert.Equal(t, want, s.Record().SpentInRound(1).Unsettled)
			usage, _ := s.Record().CallUsage(stage.BensOpening)
			assert.Equal(t, want, usage.Unsettled)
			assert.Zero(t, s.Record().Reserved(), "nothing counts twice")
			assert.Zero(t, s.Record().Abandoned())

			out = s.Feed(test.on)
			assert.Zero(t, body.As[flow.Transition](out.Events[0]).Unsettled)
			assert.Zero(t, s.Record().Spent().Unsettled, "it goes on")
			assert.GreaterOrEqual(t, s.Record().Reserved(), reserved)
			assert.Equal(t, s.Record().Reserved(), s.Record().Abandoned().AtMost)

			s.Says(stage.BensOpening, 1)
			assert.Zero(t, s.Record().Spent().Unsettled)
			assert.Equal(t, before+row.Cost(stage.LittleUsage), s.Record().Spent().Cost)
		})
	}
}

// What a vendor's search finds becomes input after the vendor has counted the request. So the count of a part bounds nothing.
func TestAPartOfASearchIsNoBound(t *testing.T) {
	config := stage.TwoDebaters()
	config.Participants[0].Options = &provider.Options{Search: true}
	s := stage.Begun(t, config)
	reserved, began := s.Record().Reserved(), provider.Usage{Input: 100, Output: 7}
	s.Feed(flow.Failed{
		Call: stage.AdasOpening, Attempt: 1, Error: &debate.Error{Kind: provider.KindNetwork}, Usage: began, Partial: true,
	})
	spent := s.Record().Spent()
	assert.Positive(t, spent.Cost)
	assert.Equal(t, reserved, spent.Cost+spent.AtMost)
}

// A call that a control has aborted counts as broken off at once, since its process may have died, and as what it has cost as soon as that
// is known.
func TestAnAbortedCallCountsUntilItsEndIsKnown(t *testing.T) {
	row, _ := stage.Begun(t, stage.TwoDebaters()).Record().Model("test/debater")
	for name, control := range map[string]flow.Signal{"cancel": flow.Cancel{}, "pause": flow.Pause{}} {
		for end, outcome := range map[string]struct {
			flow.Signal
			cost   debate.Money
			atMost bool
		}{
			"a reply":     {flow.Result{Call: stage.AdasOpening, Attempt: 1, Text: "A word.", Usage: stage.LittleUsage}, row.Cost(stage.LittleUsage), false},
			"never sent":  {flow.Failed{Call: stage.AdasOpening, Attempt: 1, Error: &debate.Error{Kind: provider.KindCanceled}, Free: true}, 0, false},
			"broken off":  {flow.Failed{Call: stage.AdasOpening, Attempt: 1, Error: &debate.Error{Kind: provider.KindCanceled}}, 0, true},
			"nobody says": {flow.Lost{Call: stage.AdasOpening, Attempt: 1}, 0, true},
		} {
			t.Run(name+", "+end, func(t *testing.T) {
				s := stage.Begun(t, stage.TwoDebaters())
				reserved := s.Record().Reserved()
				out := s.Feed(control)
				want := flow.Unsettled{AtMost: reserved, BrokenOff: 1}
				assert.Equal(t, want, body.As[flow.Transition](out.Events[0]).Unsettled, "lists know it")
				assert.Equal(t, 1, s.Record().InFlight())
				for _, a := range []flow.Account{s.Record().Spent(), s.Record().SpentByModel()[0], s.Record().SpentInRound(1)} {
					assert.Equal(t, want, a.Unsettled)
					assert.Equal(t, 1, a.Requests)
				}
				assert.Zero(t, s.Record().Reserved(), "nothing counts twice")

				s.Feed(outcome.Signal)
				for _, a := range []flow.Account{s.Record().Spent(), s.Record().SpentByModel()[0], s.Record().SpentInRound(1)} {
					assert.Equal(t, outcome.cost, a.Cost)
					assert.Equal(t, 1, a.Requests)
					if outcome.atMost {
						assert.Equal(t, want, a.Unsettled)
					} else {
						assert.Zero(t, a.Unsettled)
					}
				}
				assert.Zero(t, s.Record().Reserved())
				assert.Zero(t, s.Record().InFlight())
			})
		}
	}
}
