package log_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// scene is a debate whose log is kept under testdata/logs, for later versions to replay.
type scene struct {
	name  string
	set   func() (debate.Config, *debate.Engine, *scripted.Provider)
	play  func(t *testing.T, engine *debate.Engine, s *debate.Session) *debate.Record // nil: to its end
	whole bool                                                                        // a host's controls are in it: only all of it is replayed
}

func scenes() []scene {
	plain := func(change func(*debate.Config)) func() (debate.Config, *debate.Engine, *scripted.Provider) {
		return func() (debate.Config, *debate.Engine, *scripted.Provider) {
			config := stage.TwoDebaters()
			change(&config)
			engine, p := stage.Engine(config)
			return config, engine, p
		}
	}
	return []scene{
		{name: "sequential", set: plain(func(*debate.Config) {})},
		{name: "simultaneous", set: func() (debate.Config, *debate.Engine, *scripted.Provider) {
			config := stage.TwoDebaters()
			config.Mode = debate.Simultaneous
			engine, p := stage.Engine(config)
			stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
				switch {
				case strings.HasSuffix(req.ID, "/r1.opening.Ada/1"):
					r.Err = &provider.Error{Kind: provider.KindNetwork}
				case req.Schema != nil && strings.Contains(req.ID, "/r2.") && !stage.Reasked(req):
					r.Text = `{"score": "eleven"}`
				}
			})
			return config, engine, p
		}},
		{name: "audience", set: func() (debate.Config, *debate.Engine, *scripted.Provider) {
			return stage.House("for→against", "undecided→for")
		}},
		{name: "panel", set: func() (debate.Config, *debate.Engine, *scripted.Provider) {
			c := stage.NewCourt(stage.ForAda(), stage.ForBen(), stage.ForAda())
			c.Config.Judging.BothOrders = true
			return c.Config, c.Engine, c.Source
		}},
		{name: "team", set: func() (debate.Config, *debate.Engine, *scripted.Provider) {
			wins := stage.Ruling{Winner: "for", Scores: map[string]float64{"Ada": 90, "Ben": 80, "Cem": 70, "Dia": 85, "Eve": 50, "Fay": 45}}
			c := stage.NewCourt(wins, wins)
			c.Config.Format, c.Config.Rounds, c.Config.Judging.BothOrders = format.KarlPopper, 0, true
			c.Config.Participants = stage.Actors("Ada for", "Dia against", "Ben for", "Eve against", "Cem for", "Fay against")
			return c.Config, c.Engine, c.Source
		}},
		{name: "assigned", set: func() (debate.Config, *debate.Engine, *scripted.Provider) {
			config := stage.Unplaced(1, 1)
			engine, p := stage.Engine(config)
			stage.Planner(p, stage.JSON(stage.PlanOf(stage.NoonPosition)))
			return config, engine, p
		}},
		{name: "summary", set: func() (debate.Config, *debate.Engine, *scripted.Provider) {
			d := stage.NewTalk(8, 6000).Summarizes(true)
			d.Config.Context = flow.ContextSummarize
			return d.Config, d.Engine, d.Provider
		}},
		{name: "dropped", set: func() (debate.Config, *debate.Engine, *scripted.Provider) {
			config := stage.Crew(3)
			config.OnFailure = stage.Dropping()
			engine, p := stage.Engine(config)
			stage.Abiding(p)
			stage.Befall(p, provider.KindAuthentication, func(req *provider.Request) bool { return req.Self == "Cyd" })
			return config, engine, p
		}},
		{name: "missed", set: func() (debate.Config, *debate.Engine, *scripted.Provider) {
			config := stage.Crew(3)
			config.OnFailure = stage.Rules(debate.FailureRule{Do: flow.OptionSkip})
			engine, p := stage.Engine(config)
			stage.Abiding(p)
			stage.Befall(p, provider.KindRefusal, stage.Requested("debater", "r2.rebuttal.Ben"))
			stage.Befall(p, provider.KindRefusal, stage.Requested("judge", "r1."))
			return config, engine, p
		}},
		{name: "withdrawn", whole: true, set: quorumSet},
		{name: "retried-now", whole: true, set: func() (debate.Config, *debate.Engine, *scripted.Provider) {
			config := stage.TwoDebaters()
			config.Patience = time.Hour
			engine, p := stage.Engine(config)
			stage.Befall(p, provider.KindNetwork, func(req *provider.Request) bool { // seven attempts, and the wait for the eighth is long
				return stage.Requested("debater", "r2.rebuttal.Ada/")(req) && !strings.HasSuffix(req.ID, "/8")
			})
			return config, engine, p
		}, play: waitedFor},
		{name: "tools", set: func() (debate.Config, *debate.Engine, *scripted.Provider) {
			p := stage.ToolAsker([]provider.ToolCall{stage.ToolCall("1", "add", `{"a":1,"b":2}`), stage.ToolCall("2", "sing", `{}`)})
			config := stage.ToolUsers()
			return config, stage.WorkshopEngine(p, 5, map[string]debate.Tool{"add": new(stage.Tally).MustTool()}), p
		}},
		{name: "continued", set: func() (debate.Config, *debate.Engine, *scripted.Provider) {
			p := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
				if slices.ContainsFunc(req.Messages, func(m provider.Message) bool { return m.Speaker == req.Self }) {
					return scripted.Reply{Text: " three."}
				}
				return scripted.Reply{Text: "One and two are", Stop: provider.StopLength}
			}}
			return stage.ToolUsers(), stage.WorkshopEngine(p, 5, map[string]debate.Tool{"add": new(stage.Tally).MustTool()}), p
		}},
		{name: "person", whole: true, set: plain(func(c *debate.Config) {
			c.Unattended = false
			c.Judging = &debate.Judging{Judges: []debate.JudgeConfig{{Name: "Pat", Person: true}}, When: debate.AtEnd}
			c.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
		}), play: func(t *testing.T, _ *debate.Engine, s *debate.Session) *debate.Record {
			stage.AwaitsInput(t, s)
			require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}))
			stage.AwaitsInput(t, s)
			record := stage.SessionRecord(t, s)
			require.Len(t, record.Inquiries, 1)
			require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Text: stage.ByPerson(debate.KindVerdict, "Ben", "Ada")}))
			record = stage.Ended(t, s)
			return record
		}},
		{name: "people", whole: true, set: plain(func(c *debate.Config) {
			ada := &c.Participants[0]
			ada.Model, ada.Person, ada.Term = "", true, flow.Term{Within: flow.Duration(10 * time.Minute), StandIn: "test/debater"}
		}), play: func(t *testing.T, _ *debate.Engine, s *debate.Session) *debate.Record {
			record := stage.AwaitsInput(t, s)
			_, err := s.Say(t.Context(), flow.Note{ID: "rain", As: "Mo", Text: "Mind the rain.", Person: "mo"})
			require.NoError(t, err)
			require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Text: "The streets are ours.", Person: "ada"}))
			stage.AwaitsInput(t, s)
			stage.Pass(11 * time.Minute) // a model stands in
			record = stage.AwaitsInput(t, s)
			require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Text: "They stay ours."}))
			return stage.Ended(t, s)
		}},
		{name: "reopened", whole: true, set: func() (debate.Config, *debate.Engine, *scripted.Provider) {
			config := stage.TwoDebaters()
			config.Format, config.Rounds = format.RoundLimited, 1
			config.Floor = &debate.Floor{Name: "Kim", Model: "test/debater"}
			engine, p := stage.Engine(config)
			stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
				if req.Schema != nil && req.Schema.Name == string(debate.KindFloor) {
					r.Text = stage.JSON(debate.FloorAnswer{Because: "He was asked.", To: "Ben"})
				}
			})
			return config, engine, p
		}, play: func(t *testing.T, engine *debate.Engine, s *debate.Session) *debate.Record {
			stage.Pass(500 * time.Millisecond)
			_, err := s.Say(t.Context(), flow.Note{ID: "pay", As: "Mo", To: []string{"Ben"}, Text: "Who pays for it?", Ask: "Ben"})
			require.NoError(t, err)
			stage.Ended(t, s)
			after := flow.Reopening{ID: s.ID() + "-again", Ask: "Who gains by it?", To: "Ada"}
			again, err := engine.Reopen(t.Context(), s.ID(), after)
			require.NoError(t, err)
			record := stage.Ended(t, again)
			require.NoError(t, again.Close())
			return record
		}},
		{name: "redacted", whole: true, set: plain(func(*debate.Config) {}), play: func(t *testing.T, engine *debate.Engine, s *debate.Session) *debate.Record {
			stage.Pass(1500 * time.Millisecond)
			record := stage.SessionRecord(t, s)
			removed := flow.Redaction{Texts: []string{record.Turns[0].Text}, By: "the officer", Reason: "asked for"}
			_, err := engine.Redact(t.Context(), s.ID(), removed)
			require.NoError(t, err)
			record = stage.Ended(t, s)
			return record
		}},
		{name: "late", whole: true, set: func() (debate.Config, *debate.Engine, *scripted.Provider) {
			config := stage.TwoDebaters()
			config.TurnTimeout = 10 * time.Second
			engine, p := stage.Engine(config)
			var second atomic.Bool
			engine.Providers["test"] = stage.ProviderFunc(
				func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
					if !second.Swap(true) { // it is given up after 15 s
						stage.Pass(18 * time.Second)
						ctx = context.WithoutCancel(ctx)
					}
					return p.Generate(ctx, req, emit)
				})
			return config, engine, p
		}},
		{name: "canceled", whole: true, set: func() (debate.Config, *debate.Engine, *scripted.Provider) {
			config := stage.TwoDebaters()
			config.RoundTimeout = time.Hour
			engine, p := stage.Engine(config)
			engine.Flows = map[string]*debate.Flow{"notes": stage.Notes()}
			stage.Slowly(p)
			return config, engine, p
		}, play: func(t *testing.T, engine *debate.Engine, s *debate.Session) *debate.Record {
			stage.Pass(500 * time.Millisecond)
			require.NoError(t, s.Send(t.Context(), stage.Noted, map[string]int{"n": 1}))
			require.NoError(t, s.Pause(t.Context()))
			stage.Pass(time.Second)
			require.NoError(t, s.Resume(t.Context()))
			stage.Pass(500 * time.Millisecond)
			require.NoError(t, s.Close())
			s = stage.Reopen(t, engine, s.ID())
			defer s.Close()
			stage.Pass(1500 * time.Millisecond)
			require.NoError(t, s.Cancel(t.Context()))
			record := stage.Ended(t, s)
			return record
		}},
	}
}

// waitedFor plays a debate whose provider is away, until the host cuts the waiting short.
func waitedFor(t *testing.T, _ *debate.Engine, s *debate.Session) *debate.Record {
	t.Helper()
	stage.Pass(100 * time.Second)
	require.NoError(t, s.Control(t.Context(), flow.Amendment{TurnTimeout: new(flow.Duration(time.Minute))}))
	require.NoError(t, s.Retry(t.Context()))
	record := stage.Ended(t, s)
	return record
}

// storedLogs yields the logs under testdata, by their names.
func storedLogs(t *testing.T) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "logs", "*.log.json"))
	require.NoError(t, err)
	logs := map[string][]byte{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		logs[strings.TrimSuffix(filepath.Base(path), ".log.json")] = data
	}
	return logs
}

// TestGoldenLogs replays the logs that were written by this version and by former ones, by an engine that
// has no provider at all. With -update it writes those that are missing: a log that is there is never
// written again, for it stands for what is in the stores of hosts.
func TestGoldenLogs(t *testing.T) {
	if stage.Update() {
		for _, g := range scenes() {
			g.write(t)
		}
	}
	logs := storedLogs(t)
	for _, g := range scenes() {
		require.Contains(t, logs, g.name, "run with -update")
	}
	kinds := map[flow.EventKind]bool{}
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join("testdata", "logs", name+".canonical.json"))
			require.NoError(t, err)
			engine := &debate.Engine{Flows: map[string]*debate.Flow{"notes": stage.Notes(), "workshop": stage.Workshop(5)}}
			id, err := engine.Import(t.Context(), bytes.NewReader(logs[name]))
			require.NoError(t, err)
			record := stage.StoredRecord(t, engine, id)
			assert.Equal(t, strings.TrimSpace(string(want)), stage.Canonical(t, record))
			seen := int64(0)
			for event, err := range engine.Events(t.Context(), id, 0) {
				require.NoError(t, err)
				seen++
				require.Equal(t, seen, event.Seq)
				kinds[event.Kind()] = true
			}
			assert.Equal(t, record.Seq, seen)

			var out bytes.Buffer // and what is given away is the same debate
			require.NoError(t, engine.Export(t.Context(), id, &out))
			other := &debate.Engine{Flows: map[string]*debate.Flow{"notes": stage.Notes(), "workshop": stage.Workshop(5)}}
			_, err = other.Import(t.Context(), &out)
			require.NoError(t, err)
			again := stage.StoredRecord(t, other, id)
			assert.Equal(t, strings.TrimSpace(string(want)), stage.Canonical(t, again))
		})
	}
	for _, kind := range factKinds(t) {
		assert.True(t, kinds[kind], "no golden log has an event %q", kind)
	}
	t.Logf("replayed %d logs without a provider", len(logs))
}

// factKinds reads the kinds of events that logs have from the source, so that none is forgotten.
func factKinds(t *testing.T) []flow.EventKind {
	t.Helper()
	kernel, err := os.ReadFile("../../../flow/event.go")
	require.NoError(t, err)
	debates, err := os.ReadFile("../../../part.go")
	require.NoError(t, err)
	var kinds []flow.EventKind
	for line := range strings.Lines(string(kernel) + string(debates)) {
		if strings.Contains(line, "live only") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) > 3 && strings.TrimPrefix(fields[1], "flow.") == "EventKind" && fields[2] == "=" {
			kind, err := strconv.Unquote(fields[3])
			require.NoError(t, err)
			kinds = append(kinds, flow.EventKind(kind))
		}
	}
	require.Greater(t, len(kinds), 15)
	return kinds
}

// write plays the debate and keeps its log and what it comes to, unless they are there.
func (g scene) write(t *testing.T) {
	t.Helper()
	path := filepath.Join("testdata", "logs", g.name)
	if _, err := os.Stat(path + ".log.json"); err == nil {
		return
	}
	synctest.Test(t, func(t *testing.T) {
		config, engine, p := g.set()
		reply := p.Reply
		p.Reply = func(req *provider.Request) scripted.Reply { // the steps have times of their own
			r := reply(req)
			if r.Delay == 0 {
				r.Delay = time.Second
			}
			return r
		}
		config.ID = "golden-" + g.name
		engine.Seed = func() string { return "the seed of " + g.name }
		session := stage.Started(t, engine, stage.InFlow(engine, config))
		var record *debate.Record
		if g.play != nil {
			record = g.play(t, engine, session)
		} else {
			record = stage.Ended(t, session)
		}
		var log bytes.Buffer
		require.NoError(t, json.Indent(&log, stage.SnapshotOf(t, engine, record.ID), "", " "))
		require.NoError(t, os.WriteFile(path+".log.json", append(log.Bytes(), '\n'), 0o600))
		require.NoError(t, os.WriteFile(path+".canonical.json", []byte(stage.Canonical(t, record)+"\n"), 0o600))
	})
}

// repeating answers a call as the log has it; what failed there, and what has no answer of its own, is the script's.
func repeating(log []debate.Event, script func(*provider.Request) scripted.Reply) func(*provider.Request) scripted.Reply {
	answers, parted := map[string]string{}, map[string]bool{}
	for _, e := range log {
		switch {
		case body.As[debate.Turn](e) != nil && !parted[body.As[debate.Turn](e).Call]:
			answers[body.As[debate.Turn](e).Call] = body.As[debate.Turn](e).Text
		case body.As[flow.Continued](e) != nil: // the script has its parts
			parted[body.As[flow.Continued](e).Call] = true
		case body.As[debate.Assessment](e) != nil:
			answers[body.As[debate.Assessment](e).Call] = stage.JSON(body.As[debate.Assessment](e).Judgement)
		case body.As[debate.Verdict](e) != nil:
			answers[body.As[debate.Verdict](e).Call] = stage.JSON(body.As[debate.Verdict](e).FinalVerdict)
		}
	}
	return func(req *provider.Request) scripted.Reply {
		r := script(req)
		if text, ok := answers[stage.CallOf(req)]; ok && r.Err == nil {
			r.Text = text
		}
		return r
	}
}

// TestEveryPrefixOfAGoldenLogGoesOnToTheSameEnd is a replay of the rules: from each commit of a log on, an
// engine whose models repeat what is recorded comes to the same debate. Logs with a host's controls are left
// out, for nobody is there to give them again.
func TestEveryPrefixOfAGoldenLogGoesOnToTheSameEnd(t *testing.T) {
	t.Parallel()
	logs, prefixes := storedLogs(t), 0
	for _, g := range scenes() {
		if g.whole {
			continue
		}
		var log struct {
			ID     string         `json:"id"`
			Events []debate.Event `json:"events"`
		}
		require.NoError(t, json.Unmarshal(logs[g.name], &log))
		want, err := os.ReadFile(filepath.Join("testdata", "logs", g.name+".canonical.json"))
		require.NoError(t, err)
		for n := 1; n <= len(log.Events); n += longform.Sized(1, 1, 3) {
			if n < len(log.Events) && log.Events[n].At.Equal(log.Events[n-1].At) {
				continue // both are of one commit, of which a store has all or nothing
			}
			prefixes++
			synctest.Test(t, func(t *testing.T) {
				_, engine, p := g.set()
				p.Reply = repeating(log.Events, p.Reply)
				session, err := stage.Restore(t.Context(), engine, stage.Snapshot(t, log.ID, log.Events[:n]))
				require.NoError(t, err, "%s after event %d", g.name, n)
				defer session.Close()
				record, err := session.Wait(t.Context())
				require.NoError(t, err, "%s after event %d", g.name, n)
				require.Equal(t, strings.TrimSpace(string(want)), stage.Canonical(t, record), "%s after event %d", g.name, n)
				results := 0
				for _, e := range log.Events[:n] {
					if body.As[debate.Turn](e) != nil || body.As[debate.Assessment](e) != nil || body.As[debate.Verdict](e) != nil {
						results++
					}
				}
				all := len(record.Turns) + len(stage.View(record).Assessments) + len(stage.View(record).Verdicts)
				require.GreaterOrEqual(t, p.Calls(), all-results)
			})
		}
	}
	fmt.Printf("replayed %d prefixes of golden logs to the same end\n", prefixes)
}
