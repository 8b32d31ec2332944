package export_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/export"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "rewrite with -update and read the diff")
}

// scenes are the debates of the golden files.
func scenes() map[string]func() *scene {
	return map[string]func() *scene{
		"duel": duel, "court": func() *scene { return court() }, "storm": storm, "world": world, "broken": broken, "canceled": canceled, "asked": asked,
	}
}

func TestGolden(t *testing.T) {
	for name, scene := range scenes() {
		t.Run(name, func(t *testing.T) {
			d := scene().play(t)
			var md, page bytes.Buffer
			require.NoError(t, d.Markdown(&md))
			golden(t, name+".md", md.Bytes())
			require.NoError(t, d.HTML(&page))
			golden(t, name+".html", page.Bytes())
		})
	}
}

// TestNothingSecret: neither the seed nor what comes of it nor a prompt is in a document.
func TestNothingSecret(t *testing.T) {
	t.Parallel()
	for name, scene := range scenes() {
		t.Run(name, func(t *testing.T) {
			d := scene().play(t)
			var out bytes.Buffer
			require.NoError(t, d.Markdown(&out))
			require.NoError(t, d.HTML(&out))
			text := out.String()
			assert.NotContains(t, text, seed)
			start := body.As[flow.Start](d.Told()[0])
			require.NotEmpty(t, start.Texts)
			fence := regexp.MustCompile(`\d{8,}`)
			found := 0
			for _, prompt := range start.Texts {
				for sentence := range strings.FieldsFuncSeq(prompt, func(r rune) bool { return r == '\n' || r == '.' }) {
					if len(sentence) > 60 && !strings.Contains(sentence, start.Settings.Topic) && !strings.Contains(sentence, "City") {
						assert.NotContains(t, text, strings.TrimSpace(sentence))
						found++
					}
				}
				for _, word := range fence.FindAllString(prompt, -1) {
					assert.NotContains(t, text, word)
				}
			}
			assert.Greater(t, found, 20)
		})
	}
}

// TestWithoutTheLog: the record alone gives all but what only the log knows.
func TestWithoutTheLog(t *testing.T) {
	for _, test := range []struct {
		scene        *scene
		kept, absent []string
	}{
		{storm(), []string{"Answers that were not accepted", "dropped", "$0.0168, and up to $0.03"}, []string{"connection reset by peer", "the key is not known", "00:00:07"}},
		{asked(), []string{"Questions and decisions", "retry", "inquiry ask."}, []string{"the key is not known"}},
	} {
		d := test.scene.play(t)
		for name, write := range map[string]func(io.Writer, *flow.Record) error{"markdown": export.Markdown, "html": export.HTML} {
			var out, all bytes.Buffer
			require.NoError(t, write(&out, d.Record))
			require.NoError(t, d.Markdown(&all))
			for _, text := range test.kept {
				assert.Contains(t, out.String(), text, name)
			}
			for _, text := range test.absent {
				assert.NotContains(t, out.String(), text, name)
				assert.Contains(t, all.String(), text, "the log tells")
			}
		}
	}
}

// TestWhoHasAnswered: a report names the person of each answer, if the log does.
func TestWhoHasAnswered(t *testing.T) {
	d := asked().play(t)
	require.Len(t, d.Record.Answers, 2)
	for i, name := range []string{"Mia", "Pat"} {
		d.Record.Answers[i].Person = name
	}
	for name, write := range map[string]func(io.Writer) error{"markdown": d.Markdown, "html": d.HTML} {
		var out bytes.Buffer
		require.NoError(t, write(&out))
		assert.Contains(t, out.String(), "retry by Mia", name)
		assert.Contains(t, out.String(), "answered by Pat", name)
	}
}

// TestADebateThatWentOn: a report shows the verdict before, and what was said with it.
func TestADebateThatWentOn(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	original := stage.Run(t, engine, config)
	session, err := engine.Reopen(t.Context(), original.ID, flow.Reopening{Rounds: 2, Person: "Pat"})
	require.NoError(t, err)
	record := stage.Ended(t, session)
	d, err := export.Of(t.Context(), engine, record.ID)
	require.NoError(t, err)
	for name, write := range map[string]func(io.Writer) error{"markdown": d.Markdown, "html": d.HTML} {
		var out bytes.Buffer
		require.NoError(t, write(&out))
		for _, part := range []string{"Verdict after round 3", "had won.", "said in between", "The earlier verdict", "by Pat"} {
			assert.Contains(t, out.String(), part, name)
		}
		assert.Equal(t, 2, strings.Count(out.String(), "Verdict by "), name)
	}
}

// TestADebateThatWentOnForAQuestion: the outcome has the question and the answer, and the verdict before names the question.
func TestADebateThatWentOnForAQuestion(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	original := stage.Run(t, engine, config)
	session, err := engine.Reopen(t.Context(), original.ID, flow.Reopening{Ask: "What would change your mind?", To: "Ben"})
	require.NoError(t, err)
	record := stage.Ended(t, session)
	answer := strings.TrimSpace(record.Turns[len(record.Turns)-1].Text)
	d, err := export.Of(t.Context(), engine, record.ID)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, d.Markdown(&out))
	outcome, rest, ok := strings.Cut(out.String(), "## Verdict after round 3")
	require.True(t, ok)
	for _, part := range []string{"After the verdict, Ben was asked", "What would change your mind?", "The answer of Ben", answer} {
		assert.Contains(t, outcome, part)
	}
	assert.Contains(t, rest, "Then Ben was asked: “What would change your mind?”")
	assert.NotContains(t, rest, "Then the debate went on.")
	assert.Contains(t, rest, "**Fork of:** "+original.ID)
	assert.Contains(t, out.String(), "answers the question after the verdict: “What would change your mind?”")
	assert.NotContains(t, out.String(), "asks Ben", "the verdict asks nothing")
}

// TestAChairAndAStandIn: a report shows who was given the floor and why, and which model stood in for a person. Its speeches come in the
// order in which they were held.
func TestAChairAndAStandIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		ada := &config.Participants[0]
		ada.Model, ada.Person, ada.Term = "", true, flow.Term{Within: flow.Duration(time.Minute), StandIn: "test/debater"}
		config.Floor = &debate.Floor{Model: "test/debater"}
		engine, p := stage.Engine(config)
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply {
			if req.Schema != nil && req.Schema.Name == string(debate.KindFloor) {
				return says(toJSON(debate.FloorAnswer{Because: "He was attacked.", To: "Ben"}))
			}
			return reply(req)
		}
		session := stage.Started(t, engine, config)
		_, err := session.Wait(t.Context())
		for range 20 {
			if err == nil {
				break
			}
			require.ErrorIs(t, err, flow.ErrAwaitingInput)
			stage.Pass(time.Minute)
			_, err = session.Wait(t.Context())
		}
		require.NoError(t, err)
		d, err := export.Of(t.Context(), engine, session.ID())
		require.NoError(t, err)
		for name, write := range map[string]func(io.Writer) error{"markdown": d.Markdown, "html": d.HTML} {
			var out bytes.Buffer
			require.NoError(t, write(&out))
			for _, part := range []string{"Who was given the floor", "He was attacked.", "standIn: test/debater (no answer came in time)", "test/debater stood in"} {
				assert.Contains(t, out.String(), part, name)
			}
			assert.NotContains(t, out.String(), "Without an answer", name)
			assert.Contains(t, out.String(), "Not answered in time", name)
			assert.Contains(t, out.String(), "Ada has not answered within 1m0s", name)
			assert.NotContains(t, out.String(), "Failures and open questions", name)
			assert.Contains(t, out.String(), "no result", name)
			assert.NotContains(t, out.String(), "| failed |", name)
			assert.NotContains(t, out.String(), "<bdi>failed</bdi>", name)
			for round := 1; round <= config.Rounds; round++ {
				last := 0
				for _, who := range []string{"Ben", "Ada"} {
					at := strings.Index(out.String(), fmt.Sprintf("%s speaks in round %d.", who, round))
					assert.Greater(t, at, last, "%s: %s in round %d", name, who, round)
					last = at
				}
			}
		}
	})
}

// TestNotesStandInTheirRound: what is said in between stands where it was said, with its time, and an answer out of turn names what it
// answers. Without the log it still stands in its round, before its answer.
func TestNotesStandInTheirRound(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format, config.Judging, config.Rounds = format.RoundLimited, nil, 1
	config.Participants[1] = debate.Participant{Name: "Ben", Side: debate.Against, Person: true}
	engine, p := stage.Engine(config)
	p.Reply = func(*provider.Request) scripted.Reply { return scripted.Reply{Text: "I have said it."} }
	session := stage.Started(t, engine, config)
	stage.AwaitsInput(t, session)
	for _, n := range []flow.Note{
		{ID: "n1", As: "A guest", Text: "Speak up.", Person: "Pat"}, {ID: "n2", As: "A reader", Text: "Who *pays* for it?", Ask: "Ada"},
	} {
		require.NoError(t, session.Control(t.Context(), n))
	}
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: stage.BensOpening, Text: "Nobody pays."}))
	_, err := session.Wait(t.Context())
	require.NoError(t, err)
	d, err := export.Of(t.Context(), engine, session.ID())
	require.NoError(t, err)
	const answers = "answers A reader: “Who pays for it?”"
	order := []string{"I have said it.", "A guest", "Speak up.", "A reader", "asks Ada", "Nobody pays.", answers}
	for name, c := range map[string]struct {
		write func(io.Writer) error
		begin string
		order []string
	}{
		"markdown": {d.Markdown, "\n## Round 1", order},
		"html":     {d.HTML, `id="round-1"`, order},
		"the record alone": {
			func(w io.Writer) error { return export.Markdown(w, d.Record) }, "\n## Round 1",
			[]string{"I have said it.", "A guest", "A reader", answers},
		},
	} {
		var out bytes.Buffer
		require.NoError(t, c.write(&out))
		_, left, found := strings.Cut(out.String(), c.begin)
		require.True(t, found, name)
		for _, part := range c.order {
			_, left, found = strings.Cut(left, part)
			require.True(t, found, "%s: %s", name, part)
		}
		assert.NotContains(t, out.String(), "Said in between", name)
		assert.Contains(t, out.String(), "said in between", name)
		assert.Contains(t, out.String(), "by Pat", name)
	}
	var page bytes.Buffer
	require.NoError(t, d.HTML(&page))
	assert.Contains(t, page.String(), "3 contributions, 2 notes")
}

// TestOutcomesAgainstTheScores: a winner with the lower score, and none where scores differ, are named as such.
func TestOutcomesAgainstTheScores(t *testing.T) {
	for winner, want := range map[string][]string{
		"Ben": {"**Ben (against) wins.**", "Ben has won with a lower score than Ada: 79 against 80."},
		"":    {"**Nobody has won: no judge names a winner.**", "Nobody has won, although Ada has the highest score: 80."},
	} {
		s := duel()
		answer := s.reply
		s.reply = func(req *provider.Request) scripted.Reply {
			if req.Schema == nil || req.Schema.Name != string(debate.KindVerdict) {
				return answer(req)
			}
			var v debate.FinalVerdict
			assert.NoError(t, json.Unmarshal([]byte(verdict([]string{"Ada", "Ben"})), &v))
			v.Winner.Participant = winner
			if winner == "" {
				v.Winner, v.Scores["Ben"] = nil, 60 // far from level
			}
			return says(toJSON(v))
		}
		var out bytes.Buffer
		require.NoError(t, s.play(t).Markdown(&out))
		for _, text := range want {
			assert.Contains(t, out.String(), text)
		}
	}
}

// TestATeamWins: where sides win, a report speaks of sides.
func TestATeamWins(t *testing.T) {
	d := court(func(c *debate.Config) {
		c.Judging.Anonymous, c.Audience = false, nil
		c.Participants = append(c.Participants, debate.Participant{Name: "Otis", Side: format.For, Model: "acme/large"})
	})
	answer := d.reply
	d.reply = func(req *provider.Request) scripted.Reply {
		switch {
		case req.Schema == nil:
			return answer(req)
		case req.Schema.Name != string(debate.KindVerdict):
			return says(judgement([]string{"Mia", "Noah", "Otis"}))
		}
		var v debate.FinalVerdict
		assert.NoError(t, json.Unmarshal([]byte(verdict([]string{"Mia", "Noah", "Otis"})), &v))
		v.Winner = &debate.Winner{Side: format.For, Reasoning: "A team without a gap."}
		if req.Self == "Lay" {
			v.Winner.Side = format.Against
		}
		return says(toJSON(v))
	}
	var out bytes.Buffer
	require.NoError(t, d.play(t).Markdown(&out))
	for _, want := range []string{
		"**The side for wins before a panel of 3.**", "| the side for | 2 |", "- Lay is for the side against: A team without a gap.", "**The winner: the side for**",
	} {
		assert.Contains(t, out.String(), want)
	}
}

// TestOutcomes: who has won is said in a sentence, whatever decides.
func TestOutcomes(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*debate.Config)
		want   []string
	}{
		"a judge": {
			func(c *debate.Config) { c.Judging.Judges, c.Judging.Quorum = c.Judging.Judges[:1], 0 },
			[]string{"**Mia (for) wins.**", "**The winner: Mia (for)**"},
		},
		"a panel": {
			func(c *debate.Config) {
				c.Judging.Judges, c.Judging.Protocol, c.Judging.Quorum = []debate.JudgeConfig{c.Judging.Judges[0], c.Judging.Judges[2]}, debate.Plurality, 2
			},
			[]string{"**Mia (for) wins before a panel of 2.**", "- Sceptic is for nobody: One reason each.", "plurality, quorum 2 of 2"},
		},
		"points": {
			func(c *debate.Config) { c.Judging.Protocol = debate.Borda },
			[]string{"**A tie: the votes name nobody.**"},
		},
		"both orders": {
			func(c *debate.Config) { c.Judging.BothOrders = true },
			[]string{"with the participants in the other order", "each verdict was asked for twice"},
		},
		"a swing": {
			func(c *debate.Config) { c.Format, c.Rounds, c.Mode = format.Oxford, 3, debate.Sequential },
			[]string{"**A tie: both sides have gained the same of the audience.**", "| for | 33.33 % | 33.33 % | \\+0 points |", "opening", "to Mia"},
		},
		"a swing for a side": {
			func(c *debate.Config) {
				c.Format, c.Rounds, c.Mode, c.Judging = format.Oxford, 3, debate.Sequential, nil
				c.Audience.Members = c.Audience.Members[:2]
			},
			[]string{"**The side for wins: it has gained more of the audience.**", "| for | 0 % | 50 % | \\+50 points |"},
		},
		"nobody judges": {
			func(c *debate.Config) { c.Judging, c.Audience = nil, nil },
			[]string{"**Nobody has judged this debate.**"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := court(test.change).play(t)
			var md bytes.Buffer
			require.NoError(t, d.Markdown(&md))
			for _, want := range test.want {
				assert.Contains(t, md.String(), want)
			}
			_, err := structures(d)
			require.NoError(t, err)
		})
	}
}

// TestOrderOfArrival: what came at the same time stands in the order of those who said it.
func TestOrderOfArrival(t *testing.T) {
	d := court(func(c *debate.Config) { c.Judging.BothOrders = true }).play(t)
	var want, got bytes.Buffer
	require.NoError(t, export.Markdown(&want, d.Record))
	r, ok := debate.Of(d.Record)
	require.True(t, ok)
	slices.Reverse(r.Verdicts)
	slices.Reverse(r.Assessments)
	slices.Reverse(r.Turns)
	slices.SortStableFunc(r.Ballots, func(a, b *debate.Ballot) int { // of one voter the first stays the first
		return strings.Compare(b.Voter, a.Voter)
	})
	require.NoError(t, export.Markdown(&got, d.Record))
	assert.Equal(t, want.String(), got.String())
}

// TestEndsOfLines: a line ends wherever some reader may think so.
func TestEndsOfLines(t *testing.T) {
	d := duel().play(t)
	page, markdown := turnOf(t, d.Record, "One\r\nTwo\r\r- a\r\n- b\u2028- c\v- d\f- e\u0085- f")
	assert.Equal(t, "<p>One\nTwo</p>\n<ul>\n<li>a</li>\n<li>b</li>\n<li>c</li>\n<li>d</li>\n<li>e</li>\n<li>f</li>\n</ul>\n", page)
	assert.Equal(t, page, markdown)
}

// TestStates: every state has its words; a debate that is not over says so.
func TestStates(t *testing.T) {
	r := *broken().play(t).Record
	for state, want := range map[flow.State]string{
		flow.StateConfiguring: "**Not started.** The debate is not over: this is how far it has come.", flow.StatePaused: "**Paused.**",
		flow.StateAwaitingInput: "**Waiting for a person.**", flow.StateCompleting: "**Coming to its verdict.**",
		"judging": "**Under way.**", flow.StateCompleted: "**Completed.**",
		flow.StateError: "**Stopped by an error.** Quota: the account is empty. Top up the account",
	} {
		r.State = state
		var md bytes.Buffer
		require.NoError(t, export.Markdown(&md, &r))
		assert.Contains(t, md.String(), want)
	}
	r.LastAt = r.StartedAt.Add(26*time.Hour + 1234*time.Millisecond)
	var md bytes.Buffer
	require.NoError(t, export.Markdown(&md, &r))
	assert.Contains(t, md.String(), "- **Last event:** 2 January 2000, 02:00:01\n")
	assert.Contains(t, md.String(), "- **Took:** 26h0m1s\n")
}

// TestTitle: a host may name the document.
func TestTitle(t *testing.T) {
	d := duel().play(t)
	d.Title = "Minutes *of* <b>the</b> board"
	var md, page bytes.Buffer
	require.NoError(t, d.Markdown(&md))
	assert.True(t, strings.HasPrefix(md.String(), "# Minutes \\*of\\* &lt;b>the&lt;/b> board\n"), md.String()[:80])
	require.NoError(t, d.HTML(&page))
	assert.Contains(t, page.String(), "<title>Minutes *of* &lt;b&gt;the&lt;/b&gt; board</title>")
}

// TestPolicy: the page's policy admits its own style sheet, and nothing else.
func TestPolicy(t *testing.T) {
	var page bytes.Buffer
	require.NoError(t, duel().play(t).HTML(&page))
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page.String())
	require.Len(t, policy, 2)
	style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(page.String())
	require.Len(t, style, 2)
	sum := sha256.Sum256([]byte(style[1]))
	assert.Equal(t,
		"default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'; base-uri 'none'; form-action 'none'",
		html.UnescapeString(policy[1]))
	assert.Less(t, strings.Index(page.String(), "Content-Security-Policy"), strings.Index(page.String(), "<style>"))
}

// long is a debate of so many rounds.
func long(rounds int) *scene {
	s := duel()
	s.config.ID, s.config.Rounds, s.config.Format = "long", rounds, format.RoundLimited
	s.config.Judging = nil
	s.reply = func(req *provider.Request) scripted.Reply {
		return scripted.Reply{Text: "**" + req.Self + "** speaks.\n\n- one\n- two", Usage: provider.Usage{Input: 1, Output: 1}}
	}
	return s
}

// TestLongDebate: the size of a document grows with the rounds, every one of which can be found in the table
// of contents.
func TestLongDebate(t *testing.T) {
	t.Parallel()
	sizes := map[int][2]int{}
	for _, rounds := range []int{50, 500} {
		d := long(rounds).play(t)
		var md, page bytes.Buffer
		require.NoError(t, d.Markdown(&md))
		require.NoError(t, d.HTML(&page))
		sizes[rounds] = [2]int{md.Len(), page.Len()}
		seen := map[string]bool{}
		for _, id := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page.String(), -1) {
			assert.False(t, seen[id[1]], id[1])
			seen[id[1]] = true
		}
		links := regexp.MustCompile(`<li><a href="#([^"]+)"`).FindAllStringSubmatch(page.String(), -1)
		require.Len(t, links, rounds+3)
		for _, link := range links {
			assert.True(t, seen[link[1]], link[1])
		}
		assert.Len(t, seen, rounds+7+2*rounds+6, "sections, turns, and what describes three drawings")
	}
	for i := range 2 {
		assert.InDelta(t, 10, float64(sizes[500][i])/float64(sizes[50][i]), 2.5)
	}
}
