package export_test

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// pageOf writes a document as a page, and checks its structure and that no coordinate of its drawings is out of range.
func pageOf(t *testing.T, d *export.Document) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, d.HTML(&out))
	_, err := pageStructure(out.Bytes())
	require.NoError(t, err)
	for _, found := range regexp.MustCompile(` (?:x|x1|x2|cx|width)="(-?[0-9.]+)%"`).FindAllStringSubmatch(out.String(), -1) {
		var percent float64
		_, err := fmt.Sscan(found[1], &percent)
		require.NoError(t, err)
		assert.True(t, percent >= 0 && percent <= 100, found[0])
	}
	assert.NotContains(t, out.String(), "NaN")
	return out.String()
}

// section returns a section of a page.
func sectionOf(t *testing.T, page, id string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `<section id="`+id+`">`)
	require.True(t, ok, id)
	section, _, ok := strings.Cut(rest, "</section>")
	require.True(t, ok)
	return section
}

// scored is a debate of some participants, whose judges have given a score to each of them in each round.
func scored(t *testing.T, participants, judges, rounds int, score func(round, participant, judge int) float64) *export.Document {
	t.Helper()
	d := duel().play(t)
	played, ok := debate.Of(d.Record)
	require.True(t, ok)
	c := played.Config()
	c.Participants = nil
	for p := range participants {
		c.Participants = append(c.Participants, debate.Participant{Name: fmt.Sprintf("P%d", p), Model: "acme/large"})
	}
	played.Assessments = nil
	for r := 1; r <= rounds; r++ {
		for j := range judges {
			a := &debate.Assessment{Round: r, Judge: fmt.Sprintf("J%d", j)}
			for p := range participants {
				a.Assessments = append(a.Assessments, debate.ParticipantMark{Participant: fmt.Sprintf("P%d", p), Score: score(r, p, j)})
			}
			played.Assessments = append(played.Assessments, a)
		}
	}
	return d
}

// The scores of each participant are a line through all rounds, with the mean of several judges; the table has the same figures.
func TestScoresByRound(t *testing.T) {
	d := scored(t, 2, 3, 4, func(round, participant, judge int) float64 { return float64(round + participant + judge) })
	s := sectionOf(t, pageOf(t, d), "scores")
	assert.Contains(t, s, "Scores, of 10: the mean of 3 judges")
	assert.Equal(t, 2, strings.Count(s, `<path class="trend`))
	assert.Contains(t, s, `d="M0 160L333.33 140L666.67 120L1000 100"`, "2 to 5 of 10")
	assert.Equal(t, 8, strings.Count(s, `<circle class="dot`))
	assert.Contains(t, s, `<b class="key seat-2">2</b> <bdi>P1</bdi>`)
	assert.Contains(t, s, `<td><bdi>4</bdi></td><td class="figure"><bdi>5</bdi></td><td class="figure"><bdi>6</bdi></td>`)
	var md bytes.Buffer
	require.NoError(t, d.Markdown(&md))
	assert.Contains(t, md.String(), "| Round | P0 | P1 |\n| --- | ---: | ---: |\n| 1 | 2 | 3 |\n")
}

// A score that nobody can have given, and one that is missing, breaks neither the drawing nor the table.
func TestScoresThatAreNone(t *testing.T) {
	wrong := []float64{math.NaN(), math.Inf(1), -5, 5000, 7}
	s := sectionOf(t, pageOf(t, scored(t, 1, 1, 5, func(round, _, _ int) float64 { return wrong[round-1] })), "scores")
	assert.Contains(t, s, `d="M500 200L750 0L1000 60"`)
	assert.Equal(t, 2, strings.Count(s, "—"), "those that are no numbers have no place")
}

// Charts are drawn at every size, and grow no faster than the debate.
func TestSizesOfCharts(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	for _, size := range []struct{ participants, judges, rounds, lines, dots int }{
		{1, 1, 1, 1, 1}, {2, 9, 40, 2, 80}, {2, 1, 500, 2, 0}, {12, 1, 2, 12, 24}, {100, 1, 3, 1, 0}, {100, 2, longform.Or(100, 20), 1, 0},
	} {
		d := scored(t, size.participants, size.judges, size.rounds, func(r, p, j int) float64 { return float64((r*7 + p*3 + j) % 11) })
		s := sectionOf(t, pageOf(t, d), "scores")
		assert.Equal(t, size.lines, strings.Count(s, `<path class="trend`), "%+v", size)
		assert.Equal(t, size.dots, strings.Count(s, `<circle class="dot`), "%+v", size)
		assert.Less(t, strings.Count(s, `class="tick"`), 20, "%+v", size)
		assert.Less(t, len(s), 60*size.participants*size.rounds+20_000, "%+v", size)
	}
}

// event is an event so many seconds after the beginning.
func event(seconds float64, body flow.Body) flow.Event {
	at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
	return flow.Event{At: at, Body: body}
}

// timelineOf returns the section of the timeline of a log.
func timelineOf(t *testing.T, events ...flow.Event) string {
	t.Helper()
	r := &flow.Record{ID: "lined", State: flow.StateCompleted, LastAt: events[len(events)-1].At}
	return sectionOf(t, pageOf(t, (&export.Document{Record: r}).Tell(events...)), "timeline")
}

func intent(call, by string, attempt int) *flow.Intent {
	return &flow.Intent{Call: call, By: by, Attempt: attempt, Kind: "speech", Round: 1}
}

func turn(call, by string) *flow.Turn {
	return &flow.Turn{Spend: flow.Spend{Call: call, Attempt: 1}, Speaker: by}
}

// The timeline has a bar for each attempt, from its beginning to its end, with its result; what is at the same time lies in lanes.
func TestTimeline(t *testing.T) {
	failure := &flow.Failure{Spend: flow.Spend{Call: "b", Attempt: 1}, By: "Ben"}
	failure.RetryAt = event(6, nil).At
	queued := turn("a", "Ada")
	queued.Queued = time.Second
	use := intent("t", "Ada", 1)
	use.Tool = "search"
	s := timelineOf(t,
		event(0, intent("a", "Ada", 1)), event(0, intent("b", "Ben", 1)), event(1, intent("c", "Ben", 1)), event(2, failure), event(3, turn("c", "Ben")),
		event(5, queued), event(5, use), event(6, intent("b", "Ben", 2)), event(7, &flow.ToolResult{Spend: flow.Spend{Call: "t", Attempt: 1}, Failed: true}),
		event(8, &flow.Inquiry{ID: "q", To: "Ben", Kind: "speech"}), event(9, &flow.Answer{Inquiry: "q"}),
		event(9, &flow.Inquiry{ID: "r", To: "Ben", Options: []flow.Option{flow.OptionDrop}}), event(9, &flow.Answer{Inquiry: "r", Rule: true}),
		event(10, &flow.Dropped{}),
	)
	for _, want := range []string{
		`<rect class="call done" x="10.00%" y="41" width="40.00%" height="9"><title>Ada: speech, round 1, done, 4s</title></rect>`,
		`<line class="wait" x1="0.00%" y1="45.5" x2="10.00%" y2="45.5"></line>`,
		`<rect class="call failed" x="0.00%" y="76" width="20.00%" height="9"><title>Ben: speech, round 1, failed, 2s</title></rect>`,
		`<line class="wait" x1="20.00%" y1="80.5" x2="60.00%" y2="80.5"></line>`,
		`<rect class="call done" x="10.00%" y="87" width="20.00%" height="9"><title>Ben: speech, round 1, done, 2s</title></rect>`,
		`<rect class="call open" x="60.00%" y="76" width="40.00%" height="9"><title>Ben: speech, round 1, attempt 2, no result</title></rect>`,
		`<rect class="call failed tool" x="50.00%" y="41" width="20.00%" height="9"><title>Ada: search, round 1, failed, 2s</title></rect>`,
		`<rect class="call done person" x="80.00%" y="87" width="10.00%" height="9"><title>Ben: speech by a person, done, 1s</title></rect>`,
	} {
		assert.Contains(t, s, want)
	}
	assert.Equal(t, 6, strings.Count(s, "<title>"), "a rule that answers is no person who is asked")
	assert.Equal(t, 6, strings.Count(s, "</tr>")-1)
}

// A long time in which nothing happens is drawn short: what came before and after it can still be told apart.
func TestTimelineWithAPause(t *testing.T) {
	const week = 7 * 24 * 3600
	s := timelineOf(t, event(0, intent("a", "Ada", 1)), event(10, turn("a", "Ada")), event(week, intent("b", "Ada", 1)), event(week+10, turn("b", "Ada")))
	assert.Contains(t, s, "<title>nothing for 6 d 23 h</title>")
	bars := regexp.MustCompile(`class="call done" x="[0-9.]+%" y="41" width="([0-9.]+)%"`).FindAllStringSubmatch(s, -1)
	require.Len(t, bars, 2)
	for _, bar := range bars {
		var width float64
		_, err := fmt.Sscan(bar[1], &width)
		require.NoError(t, err)
		assert.Greater(t, width, 40.)
	}
}

// A conversation in which no time passes, one with an attempt that never ended, and one with many actors have a timeline.
func TestTimelinesOfAnySize(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	assert.Contains(t, timelineOf(t, event(0, intent("a", "Ada", 1)), event(0, turn("a", "Ada"))), `class="call done" x="0.00%"`)
	assert.Contains(t, timelineOf(t, event(0, intent("a", "", 1))), ">a person<")
	assert.Contains(t, timelineOf(t, flow.Event{Body: intent("a", "Ada", 1)}, event(0, intent("b", "Ada", 1))), `class="call open"`)
	assert.Contains(t, timelineOf(t, event(9, intent("a", "Ada", 1)), event(0, turn("a", "Ada"))), `class="call done"`)
	size := func(actors, calls int) int {
		var events []flow.Event
		for c := range calls {
			for a := range actors {
				events = append(events, event(float64(c), intent(fmt.Sprint(c, a), fmt.Sprint("P", a), 1)))
			}
			for a := range actors {
				events = append(events, event(float64(c)+.9, turn(fmt.Sprint(c, a), fmt.Sprint("P", a))))
			}
		}
		return len(timelineOf(t, events...))
	}
	assert.InDelta(t, 10, float64(size(1, longform.Or(5000, 2000)))/float64(size(1, longform.Or(500, 200))), 1)
	assert.InDelta(t, 10, float64(size(1000, longform.Or(5, 2)))/float64(size(100, longform.Or(5, 2))), 1)
}

// Whoever has used nothing, or models without a price, has bars that say so.
func TestSpendingThatIsNothingOrUnknown(t *testing.T) {
	s := duel()
	s.models = map[string]flow.Model{"acme/large": {}, "acme/small": {Priced: true}}
	page := sectionOf(t, pageOf(t, s.play(t)), "usage")
	assert.Contains(t, page, ">price not known<")
	assert.NotContains(t, page, `<bdi>cost</bdi>`, "there is no bar of a cost")
	silent := duel()
	silent.config.Judging = nil
	reply := silent.reply
	silent.reply = func(req *provider.Request) (r scripted.Reply) {
		r = reply(req)
		r.Usage = provider.Usage{}
		return r
	}
	assert.Contains(t, sectionOf(t, pageOf(t, silent.play(t)), "usage"), `class="figure"`)
}

// The drawing of the course has an arrow for each change of state, and says how often it happened.
func TestCourseThroughTheStates(t *testing.T) {
	change := func(from, to flow.State) flow.Event { return event(1, &flow.Transition{From: from, To: to, On: "go"}) }
	r := &flow.Record{ID: "course", State: flow.StateCompleted}
	s := sectionOf(t, pageOf(t, (&export.Document{Record: r}).Tell(
		change("ready", "talking"), change("talking", "judging"), change("judging", "talking"), change("talking", "judging"),
		change("judging", "judging"), change("judging", "far_off"), change("far_off", "ready"), change("ready", "far_off"),
	)), "states")
	assert.Equal(t, 4, strings.Count(s, `class="state-box"`))
	assert.Equal(t, 6, strings.Count(s, `class="tip"`), "a state that follows itself has no arrow")
	assert.Contains(t, s, ">judging ×3<")
	assert.Contains(t, s, ">far off ×2<")
	assert.Contains(t, s, `<td><bdi>talking</bdi></td><td><bdi>judging</bdi></td><td><bdi>go</bdi></td><td class="figure"><bdi>2</bdi></td>`)
}
