package deliberation_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

var quoted = regexp.MustCompile(`(?s)<<<\d+ [^>]*>>>\n(.*?)\n<<<end \d+>>>`)

// TestSizes: before is what the call was given to summarise, and after what is read of its answer.
func TestSizes(t *testing.T) {
	for _, proposals := range []string{deliberation.ProposalsCarry, deliberation.ProposalsFresh} {
		for _, whole := range []*bool{nil, new(true)} {
			t.Run(fmt.Sprintf("%s, whole history %v", proposals, whole != nil), func(t *testing.T) {
				engine, models := engineFor(func(call string, req *provider.Request) (scripted.Reply, bool) {
					return scripted.Reply{Text: strings.Repeat("Größe. ", 300) + call}, req.Schema == nil
				})
				config := three()
				config.Rounds, config.Proposals, config.FullHistory = 7, proposals, whole
				config.Summaries.Threshold, config.Summaries.MaxLength = 3000, 500
				record := play(t, engine, config)

				var given, told []string
				for _, req := range models.Requests() {
					if !strings.Contains(callOf(&req), ".summarize.") {
						continue
					}
					size := 0
					for _, part := range quoted.FindAllStringSubmatch(req.Last.Text, -1) {
						size += utf8.RuneCountInString(part[1])
					}
					given = append(given, fmt.Sprintf("%s: %d to 500", req.Self, size))
				}
				var sizes deliberation.Sizes
				for _, event := range events(t, engine, record.ID) {
					before, after := sizes.Fold(&event)
					turn, ok := event.Body.(*flow.Turn)
					if !ok || turn.Kind != deliberation.KindDigest {
						assert.Zero(t, before+after)
						continue
					}
					told = append(told, fmt.Sprintf("%s: %d to %d", turn.Speaker, before, after))
				}
				require.NotEmpty(t, given, "a debate of that length is summarised")
				assert.ElementsMatch(t, given, told)
			})
		}
	}
}

// TestSizesOfAnything: nothing is measured that is no summary, and no log, however wrong, makes it fall over.
func TestSizesOfAnything(t *testing.T) {
	var other deliberation.Sizes
	for _, body := range []flow.Body{
		&flow.Start{Flow: "debate"}, &flow.Start{Flow: deliberation.FlowName, Config: flow.Value{JSON: []byte(`{"problem": 1}`)}},
		&flow.Turn{Kind: deliberation.KindDigest, Speaker: "Ada", Text: "Yes."}, &flow.Round{N: 1}, nil,
	} {
		before, after := other.Fold(&flow.Event{Body: body})
		assert.Zero(t, before+after)
	}
	engine, _ := engineFor(nil)
	all := events(t, engine, play(t, engine, three()).ID)
	random := rand.New(rand.NewPCG(7, 7))
	for range 300 {
		mixed := slices.Clone(all)
		random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		var sizes deliberation.Sizes
		for _, event := range mixed {
			if turn, ok := event.Body.(*flow.Turn); ok && random.IntN(3) == 0 {
				changed := *turn
				changed.Speaker, changed.Round = []string{"zoe", "ada"}[random.IntN(2)], -random.IntN(5)
				changed.Kind = []flow.CallKind{deliberation.KindDigest, deliberation.KindSynthesis, "check"}[random.IntN(3)]
				event.Body = &changed
			}
			require.NotPanics(t, func() { sizes.Fold(&event) })
		}
	}
}

// TestActivity: what somebody does, with whom it is about, and what an added node asks for.
func TestActivity(t *testing.T) {
	for kind, want := range map[flow.CallKind]string{
		deliberation.KindQuestion: "asking ben", deliberation.KindAnswer: "answering ben", deliberation.KindProposal: "proposing ben",
		deliberation.KindCritique: "critiquing ben", deliberation.KindRefinement: "refining ben", deliberation.KindDigest: "summarizing ben",
		deliberation.KindConfidence: "judging confidence ben", deliberation.KindQuality: "judging quality ben", deliberation.KindVote: "voting ben",
		deliberation.KindMerge: "merging ben", deliberation.KindSynthesis: "synthesizing ben", "check": "check ben",
	} {
		assert.Equal(t, want, deliberation.Activity(kind, "ben"))
		assert.Equal(t, strings.TrimSuffix(want, " ben"), deliberation.Activity(kind, ""))
	}
}
