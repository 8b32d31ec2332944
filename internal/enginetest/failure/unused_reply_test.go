package failure_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// What a model wrote when it refused, or until a filter stopped it, is kept: at most 2 KiB, and it is said whether
// there was more.
func TestTheTextOfARefusalIsRecorded(t *testing.T) {
	for name, test := range map[string]struct {
		text, want string
		stop       provider.StopReason
		cut        bool
	}{
		"a refusal":          {"I will not.", "I will not.", provider.StopRefusal, false},
		"a filtered reply":   {"Cars are", "Cars are", provider.StopFilter, false},
		"2 KiB":              {strings.Repeat("a", 2048), strings.Repeat("a", 2048), provider.StopRefusal, false},
		"more":               {strings.Repeat("a", 2049), strings.Repeat("a", 2048), provider.StopRefusal, true},
		"more, in two bytes": {"a" + strings.Repeat("é", 1024), "a" + strings.Repeat("é", 1023), provider.StopFilter, true},
		"not UTF-8":          {"I \xff will not.", "I \uFFFD will not.", provider.StopRefusal, false},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			b := stage.NewBench(debate.KindAssessment, false, slices.Repeat([]scripted.Reply{{Text: test.text, Stop: test.stop}}, 9)...)
			session, _, _ := b.Start(t)
			events := stage.Logged(t, b.Engine, session.ID())
			var failures []*flow.Failure
			for i := range events {
				if failure, ok := events[i].Body.(*flow.Failure); ok {
					failures = append(failures, failure)
				}
			}
			require.NotEmpty(t, failures)
			assert.Equal(t, test.want, failures[0].Text)
			assert.Equal(t, test.cut, failures[0].Cut)
		}))
	}
}

// An answer that is not accepted says whether there was more of it.
func TestACutRejectionSaysSo(t *testing.T) {
	for name, test := range map[string]struct {
		length int
		cut    bool
	}{"2 KiB": {2048, false}, "more": {2049, true}} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			b := stage.NewBench(debate.KindAssessment, false, scripted.Reply{Text: strings.Repeat("a", test.length)})
			_, record, err := b.Start(t)
			require.NoError(t, err)
			require.Len(t, record.Rejections, 1)
			assert.Len(t, record.Rejections[0].Text, 2048)
			assert.Equal(t, test.cut, record.Rejections[0].Cut)
		}))
	}
}
