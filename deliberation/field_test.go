package deliberation_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// held is a deliberation that was held to see what a field does.
type held struct {
	*deliberation.Deliberation

	requests []provider.Request
	log      []flow.Event
}

// has counts the requests of a call in which a text stands.
func (h *held) has(call, text string) (n int) {
	for i := range h.requests {
		req := &h.requests[i]
		if strings.HasPrefix(callOf(req), call) && strings.Contains(req.System+"\n"+req.Last.Text, text) {
			n++
		}
	}
	return n
}

// first returns the first request of a call.
func (h *held) first(call string) provider.Request {
	at := slices.IndexFunc(h.requests, func(req provider.Request) bool { return strings.HasPrefix(callOf(&req), call) })
	if at < 0 {
		return provider.Request{Temperature: new(-1.0)}
	}
	return h.requests[at]
}

// kinds counts the turns of a kind.
func (h *held) kinds(kind flow.CallKind) (n int) {
	for _, t := range h.Turns {
		if t.Kind == kind {
			n++
		}
	}
	return n
}

// field is a field of a config: what sets it, and what can be seen of it.
type field struct {
	set func(*deliberation.Config)
	see func(*held) any
	now any // what is seen if it is set; something else is seen if it is not
}

// whatFieldsDo has every field of a config, by its path in JSON.
func whatFieldsDo(t *testing.T) map[string]field {
	t.Helper()
	path := filepath.Join(t.TempDir(), "who.md")
	require.NoError(t, os.WriteFile(path, []byte("You are from a file."), 0o600))
	type c = deliberation.Config
	role := func(change func(*deliberation.Role)) func(*c) {
		return func(c *c) {
			own := deliberation.Role{Name: "own", Title: "Own", System: "s", Propose: "p", Critique: "c", Refine: "r", Summarize: "m"}
			change(&own)
			c.Roles, c.Agents[0].Role = []deliberation.Role{own}, "own"
		}
	}
	person := func(term flow.Term) func(*c) {
		return func(c *c) { c.Agents[0] = deliberation.Agent{ID: "ada", Person: true, Term: term} }
	}
	asked := func(see func(*flow.Inquiry) any) func(*held) any {
		return func(h *held) any {
			if len(h.Inquiries) == 0 {
				return nil
			}
			return see(&h.Inquiries[0])
		}
	}
	hour := flow.Duration(time.Hour)
	return map[string]field{
		"id":       {func(c *c) { c.ID = "mine" }, func(h *held) any { return h.ID }, "mine"},
		"problem":  {func(c *c) { c.Problem = "Paint it." }, func(h *held) any { return h.has("", "\nPaint it.\n") > 20 }, true},
		"context":  {func(c *c) { c.Context = "It rains." }, func(h *held) any { return h.has("", "\nIt rains.\n") > 20 }, true},
		"language": {func(c *c) { c.Language = "German" }, func(h *held) any { return h.Record.Settings().Language }, "German"},
		"prompts": {func(c *c) {
			c.Prompts = map[string]string{"deliberation.propose": "Propose now. {{.Focus}}"}
		}, func(h *held) any { return h.has("r1.propose.ada", "Propose now.") }, 1},
		"attachments[]":   {func(c *c) { c.Attachments = image("a.png") }, func(h *held) any { return shownIn(h, "Files that belong to the topic: [image: a.png]") }, true},
		"documents[]":     {func(c *c) { c.Documents = study("s") }, func(h *held) any { return shownIn(h, `Document "s": [image: a.png]`) }, true},
		"agents[].id":     {func(c *c) { c.Agents[0].ID = "eve" }, func(h *held) any { return h.has("r1.propose.eve", "You are eve,") }, 1},
		"agents[].name":   {func(c *c) { c.Agents[0].Name = "Eve" }, func(h *held) any { return h.Config().Agents[0].Name }, "Eve"},
		"agents[].role":   {func(c *c) { c.Agents[0].Role = deliberation.RoleSecurity }, func(h *held) any { return h.Prompts()[0].Role }, "security"},
		"agents[].model":  {func(c *c) { c.Agents[0].Model = "test/other" }, func(h *held) any { return h.first("r1.propose.ada").Model }, "other"},
		"agents[].person": {person(flow.Term{}), asked(func(q *flow.Inquiry) any { return q.To }), "ada"},
		"agents[].within": {person(flow.Term{Within: hour}), asked(func(q *flow.Inquiry) any { return q.Within }), hour},
		"agents[].overdue": {
			person(flow.Term{Within: hour, Overdue: flow.OptionWait}), asked(func(q *flow.Inquiry) any { return q.Overdue }), flow.OptionWait,
		},
		"agents[].standIn": {
			person(flow.Term{Within: hour, StandIn: "test/agent"}), asked(func(q *flow.Inquiry) any { return q.Overdue }), flow.OptionStandIn,
		},
		"agents[].fallbacks": {func(c *c) { c.Agents[0].Model, c.Agents[0].Fallbacks = "test/broken", []string{"test/spare"} }, func(h *held) any { return h.Contributions()[0].Model }, "test/spare"},
		"agents[].temperature": {
			func(c *c) { c.Agents[0].Temperature = new(0.9) }, func(h *held) any { return *h.first("r1.propose.ada").Temperature }, 0.9,
		},
		"agents[].maxTokens":           {func(c *c) { c.Agents[0].MaxTokens = 77 }, func(h *held) any { return h.first("r1.propose.ada").MaxTokens }, 77},
		"agents[].promptFile":          {func(c *c) { c.Agents[0].PromptFile = path }, func(h *held) any { return h.has("r1.propose.ada", "You are from a file.") }, 1},
		"agents[].prompt":              {func(c *c) { c.Agents[0].Prompt = "You are odd." }, func(h *held) any { return h.has("r1.propose.ada", "You are odd.") }, 1},
		"agents[].origin":              {func(c *c) { c.Agents[0].PromptFile = path }, func(h *held) any { return h.Prompts()[0].Source }, path},
		"agents[].summaries.off":       {func(c *c) { c.Rounds, c.Agents[0].Summaries = 5, &deliberation.Summaries{Off: true} }, func(h *held) any { return h.has("r3.summarize.ada", "") + h.has("r3.summarize.ben", "") }, 1},
		"agents[].summaries.threshold": {func(c *c) { c.Rounds, c.Agents[0].Summaries = 5, &deliberation.Summaries{Threshold: 99_999} }, func(h *held) any { return h.has("r3.summarize.ada", "") + h.has("r3.summarize.ben", "") }, 1},
		"agents[].summaries.maxLength": {func(c *c) { c.Rounds, c.Agents[0].Summaries = 5, &deliberation.Summaries{MaxLength: 333} }, func(h *held) any { return h.has("r3.summarize.ada", "at most 55 words") }, 1},
		"agents[].tools":               {func(c *c) { c.Agents[0].Tools = &[]string{"look"} }, func(h *held) any { return len(h.first("r1.propose.ada").Tools) }, 1},
		"agents[].disabled":            {func(c *c) { c.Agents[0].Disabled = true }, func(h *held) any { return h.Record.Settings().Participants }, []string{"ben", "cyd"}},
		"agents[].metadata":            {func(c *c) { c.Agents[0].Metadata = map[string]string{"user": "u-7"} }, func(h *held) any { return h.Participant("ada").Metadata["user"] }, "u-7"},
		"judge.model":                  {func(c *c) { c.Judge.Model = "test/other" }, func(h *held) any { return h.first("synthesis").Model }, "other"},
		"judge.fallbacks":              {func(c *c) { c.Judge.Model, c.Judge.Fallbacks = "test/broken", []string{"test/spare"} }, func(h *held) any { return h.Turns[len(h.Turns)-1].Model }, "test/spare"},
		"judge.temperature":            {func(c *c) { c.Judge.Temperature = new(0.9) }, func(h *held) any { return *h.first("synthesis").Temperature }, 0.9},
		"judge.options": {
			func(c *c) { c.Judge.Options = &provider.Options{Seed: new(int64(1))} }, func(h *held) any { return h.first("synthesis").Options != nil }, true,
		},
		"agents[].options": {
			func(c *c) { c.Agents[0].Options = &provider.Options{Seed: new(int64(1))} },
			func(h *held) any { return h.first("r1.propose.ada").Options != nil }, true,
		},
		"judge.maxTokens":  {func(c *c) { c.Judge.MaxTokens = 777 }, func(h *held) any { return h.first("synthesis").MaxTokens }, 777},
		"judge.promptFile": {func(c *c) { c.Judge.PromptFile = path }, func(h *held) any { return h.has("synthesis", "You are from a file.") }, 1},
		"judge.prompt":     {func(c *c) { c.Judge.Prompt = "You are odd." }, func(h *held) any { return h.has("synthesis", "You are odd.") }, 1},
		"judge.origin":     {func(c *c) { c.Judge.PromptFile = path }, func(h *held) any { return h.Prompts()[3].Source }, path},
		"rounds":           {func(c *c) { c.Rounds = 4 }, func(h *held) any { return h.Round }, 4},
		"termination.kind": {func(c *c) { c.Termination.Kind = deliberation.TerminationQuality }, func(h *held) any { return h.kinds(deliberation.KindQuality) }, 2},
		"termination.threshold": {func(c *c) {
			c.Termination = deliberation.Termination{Kind: deliberation.TerminationConvergence, Threshold: new(40.0)}
		}, func(h *held) any { return h.Reason }, flow.EndConverged},
		"synthesis":                {func(c *c) { c.Synthesis = deliberation.SynthesisVoting }, func(h *held) any { return h.kinds(deliberation.KindVote) }, 4},
		"synthesizer":              {func(c *c) { c.Synthesis, c.Synthesizer = deliberation.SynthesisRegistered, "own" }, func(h *held) any { return h.Turns[len(h.Turns)-1].Speaker }, "synthesizer"},
		"topology.kind":            {func(c *c) { c.Topology.Kind = deliberation.TopologyRing }, func(h *held) any { return h.kinds(deliberation.KindCritique) }, 9},
		"topology.k":               {func(c *c) { c.Topology = deliberation.Topology{Kind: deliberation.TopologyNearest, K: 1} }, func(h *held) any { return h.kinds(deliberation.KindCritique) }, 9},
		"proposals":                {func(c *c) { c.Proposals = deliberation.ProposalsFresh }, func(h *held) any { return h.has("r2.propose.ada", "") }, 1},
		"includeFullHistory":       {func(c *c) { c.FullHistory, c.Summaries.Off = new(true), true }, func(h *held) any { return h.has("r2.refine.ada", "ben: refinement, round 1>>>") }, 1},
		"summaries.off":            {func(c *c) { c.Rounds, c.Summaries.Off = 5, true }, func(h *held) any { return h.Round*100 + h.kinds(deliberation.KindDigest) }, 500},
		"summaries.threshold":      {func(c *c) { c.Rounds, c.Summaries.Threshold = 5, 99_999 }, func(h *held) any { return h.Round*100 + h.kinds(deliberation.KindDigest) }, 500},
		"summaries.maxLength":      {func(c *c) { c.Rounds, c.Summaries.MaxLength = 5, 333 }, func(h *held) any { return h.has("r3.summarize.ada", "at most 55 words") }, 1},
		"clarification.on":         {func(c *c) { c.Clarification.On = true }, func(h *held) any { return h.has("clarify.1", "at most 5 questions") }, 3},
		"clarification.iterations": {func(c *c) { c.Clarification = deliberation.Clarification{On: true, Iterations: 2} }, func(h *held) any { return h.Config().Clarification.Iterations }, 2},
		"clarification.questions":  {func(c *c) { c.Clarification = deliberation.Clarification{On: true, Questions: 2} }, func(h *held) any { return h.has("clarify.1", "at most 2 questions") }, 3},
		"clarification.within":     {func(c *c) { c.Clarification = deliberation.Clarification{On: true, Within: hour} }, func(h *held) any { return h.Config().Clarification.Within }, hour},
		"clarification.known[].question": {
			func(c *c) { c.Clarification.Known = []deliberation.KnownAnswer{{Question: "How so?", Answer: "So."}} },
			func(h *held) any { return h.has("r1.propose.ada", "How so?") },
			1,
		},
		"clarification.known[].answer": {
			func(c *c) {
				c.Clarification.Known = []deliberation.KnownAnswer{{Question: "How so?", Answer: "Like that."}}
			},
			func(h *held) any { return h.has("r1.propose.ada", "\nLike that.\n") },
			1,
		},
		"tools":     {func(c *c) { c.Tools = []string{"look"} }, func(h *held) any { return len(h.first("r1.refine.cyd").Tools) }, 1},
		"toolCalls": {func(c *c) { c.Tools, c.ToolCalls = []string{"look"}, 3 }, offered, 3},
		"toolPolicy": {
			func(c *c) { c.Tools, c.ToolPolicy.Unknown = []string{"look"}, flow.OptionFail },
			func(h *held) any { return h.Record.Settings().ToolPolicy.Unknown }, flow.OptionFail,
		},
		"roles[].name":      {role(func(*deliberation.Role) {}), func(h *held) any { return h.Prompts()[0].Role }, "own"},
		"roles[].title":     {role(func(r *deliberation.Role) { r.Title = "Chief" }), func(h *held) any { return h.Config().Roles[0].Title }, "Chief"},
		"roles[].system":    {role(func(r *deliberation.Role) { r.System = "Be bold." }), func(h *held) any { return h.has("r1.propose.ada", "Be bold.") }, 1},
		"roles[].propose":   {role(func(r *deliberation.Role) { r.Propose = "Be bold." }), func(h *held) any { return h.has("r1.propose.ada", "Be bold.") }, 1},
		"roles[].critique":  {role(func(r *deliberation.Role) { r.Critique = "Be bold." }), func(h *held) any { return h.has("r1.critique.ada.ben", "Be bold.") }, 1},
		"roles[].refine":    {role(func(r *deliberation.Role) { r.Refine = "Be bold." }), func(h *held) any { return h.has("r1.refine.ada", "Be bold.") }, 1},
		"roles[].summarize": {role(func(r *deliberation.Role) { r.Summarize = "Be bold." }), func(h *held) any { return h.has("r2.summarize.ada", "Be bold.") }, 1},
		"temperature":       {func(c *c) { c.Temperature = new(0.9) }, func(h *held) any { return *h.first("r1.refine.cyd").Temperature }, 0.9},
		"maxTokens":         {func(c *c) { c.MaxTokens = 2048 }, func(h *held) any { return h.first("r1.refine.cyd").MaxTokens }, 2048},
		"reserve":           {func(c *c) { c.Reserve = 1024 }, func(h *held) any { return h.Record.Settings().Reserve }, 1024},
		"roundTimeout":      {func(c *c) { c.RoundTimeout = time.Hour }, func(h *held) any { return h.Record.Settings().RoundTimeout }, time.Hour},
		"turnTimeout":       {func(c *c) { c.TurnTimeout, c.JudgeTimeout = time.Millisecond, time.Hour }, func(h *held) any { return h.kinds(deliberation.KindProposal) }, 0},
		"judgeTimeout": {
			func(c *c) {
				c.JudgeTimeout = time.Millisecond
				c.Termination.Kind = deliberation.TerminationQuality
				c.Synthesis = deliberation.SynthesisVoting
			},
			func(h *held) any { return h.Record.FailureOf("r1.evaluate") != nil },
			true,
		},
		"budget": {func(c *c) { c.Budget = &flow.Budget{SoftCalls: 12} }, func(h *held) any { return h.Reason }, flow.EndSoftLimit},
		"retry": {func(c *c) {
			c.Retry = &flow.RetryPolicy{Max: map[flow.Kind]int{provider.KindNetwork: 0}}
			c.Agents[0].Model = "test/flaky"
		}, func(h *held) any { return h.Record.Participant("ada").Status }, flow.StatusFailed},
		"onFailure[]": {func(c *c) {
			c.OnFailure = []flow.FailureRule{{Do: flow.OptionFail}}
		}, func(h *held) any { return h.Record.Settings().OnFailure[0].Do }, flow.OptionFail},
		"patience":   {func(c *c) { c.Patience = time.Hour }, func(h *held) any { return h.Record.Settings().Patience }, time.Hour},
		"unattended": {func(c *c) { c.Unattended = true }, func(h *held) any { return h.Record.Settings().Unattended }, true},
		"labels":     {func(c *c) { c.Labels = map[string]string{"tenant": "x"} }, func(h *held) any { return h.Record.Settings().Labels["tenant"] }, "x"},
	}
}

// offered is how often a call may use tools.
func offered(h *held) any {
	for _, e := range h.log {
		if intent := body.As[flow.Intent](e); intent != nil && intent.Offer != nil {
			return intent.Offer.Uses
		}
	}
	return 0
}

// TestEveryFieldDoesWhatItSays: each is in the table, and what is seen is another thing without it.
func TestEveryFieldDoesWhatItSays(t *testing.T) {
	t.Parallel()
	table := whatFieldsDo(t)
	var known []string
	for path := range table {
		known = append(known, path)
	}
	assert.ElementsMatch(t, paths(reflect.TypeFor[deliberation.Config](), ""), known, "a field has a row in the table")
	plain := holdFor(t, func(*deliberation.Config) {})
	for path, field := range table {
		t.Run(path, func(t *testing.T) {
			assert.NotEqual(t, field.now, field.see(plain), "without it")
			assert.Equal(t, field.now, field.see(holdFor(t, field.set)))
		})
	}
}

// holdFor holds a deliberation in which every reply takes a second.
func holdFor(t *testing.T, set func(*deliberation.Config)) (h *held) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		config := three()
		config.Context, config.Rounds = "", 3
		set(&config)
		engine, p := engineFor(sized(func(string) int { return replyLength }))
		look, err := flow.NewTool(flow.ToolInfo{Description: "looks", ReadOnly: true}, func(context.Context, flow.ToolUse, struct{}) (string, error) { return "", nil })
		require.NoError(t, err)
		engine.Tools, engine.Functions = map[string]flow.Tool{"look": look}, map[string]flow.Function{"own": ownSynthesizer()}
		stage.Altered(p, func(req *provider.Request, reply *scripted.Reply) {
			reply.Delay = time.Second
			if req.Model == "broken" || req.Model == "flaky" && strings.HasSuffix(req.ID, "/1") {
				reply.Err = &provider.Error{Kind: provider.KindNetwork, Message: "no"}
			}
		})
		session := stage.Started(t, engine, config)
		r, err := session.Wait(t.Context())
		if err != nil { // some fields let calls fail, and a person would be asked
			require.ErrorIs(t, err, debate.ErrAwaitingInput)
		}
		h = &held{Deliberation: view(r), requests: p.Requests()}
		for event, err := range engine.Events(t.Context(), r.ID, 0) {
			require.NoError(t, err)
			if h.log = append(h.log, event); event.Seq == r.Seq {
				break
			}
		}
	})
	return h
}

// paths lists the fields of a type by their paths in JSON.
func paths(of reflect.Type, at string) (out []string) {
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" { // its fields stand beside the others
			out = append(out, paths(f.Type, at)...)
			continue
		}
		if f.Tag.Get("json") == "-" && f.Type.Kind() != reflect.Int64 || !f.IsExported() {
			continue // no part of the JSON
		}
		if name == "-" { // a duration
			name = strings.ToLower(f.Name[:1]) + f.Name[1:]
		}
		inner, path := f.Type, strings.TrimPrefix(at+"."+name, ".")
		for inner.Kind() == reflect.Slice || inner.Kind() == reflect.Pointer {
			if inner.Kind() == reflect.Slice && inner.Elem().Kind() == reflect.Struct {
				path += "[]"
			}
			inner = inner.Elem()
		}
		own := inner.Kind() == reflect.Struct && inner.PkgPath() == of.PkgPath() && inner.Name() != "Origin"
		if own {
			out = append(out, paths(inner, path)...)
		} else {
			out = append(out, path)
		}
	}
	return out
}
