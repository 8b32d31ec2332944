package command_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/command"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/env"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestWhatHelpsIsSaid: whatever has stopped a conversation, debate show says who has failed and what the vendor has answered, and prints the
// command that helps. No name of a call or of a kind stands there.
func TestWhatHelpsIsSaid(t *testing.T) {
	const models = "debate resume --model provider/model c gives all another model, and --model 'ada=provider/model' one."
	limited := func(b flow.Budget) func(*deliberation.Config) { return func(c *deliberation.Config) { c.Budget = &b } }
	for name, tc := range map[string]struct {
		kind   provider.Kind
		call   string // that fails; "": the proposal of ada
		change func(*deliberation.Config)
		says   string
		helps  string
	}{
		"a key":     {provider.KindAuthentication, "", nil, "ada: demo refuses the key (400)", models},
		"a model":   {provider.KindValidation, "", nil, "ada: demo refuses the request (400): no", models},
		"a refusal": {provider.KindRefusal, "", nil, "ada: script of demo has declined: no", models},
		"a window":  {provider.KindContextOverflow, "", nil, "ada: this is too long for script of demo", models},
		"a quota": {
			provider.KindQuota, "", nil, "ada: the quota at demo is used up (400): no",
			"debate resume c tries again; --model provider/model lets another model take over.",
		},
		"a time": {
			provider.KindTimeout, "", nil, "ada: demo has sent no reply in time",
			"debate amend --set 'turnTimeout=DURATION' c gives more time, and debate resume c tries again.",
		},
		"a time of the judge": {
			provider.KindTimeout, "synthesis", nil, "judge: demo has sent no reply in time",
			"debate amend --set 'timeouts.synthesis=DURATION' c gives more time, and debate resume c tries again.",
		},
		"a limit of calls": {
			"", "", limited(flow.Budget{HardCalls: 7}), "by the hard limit of 7 calls: raise it to about ", "debate amend --set budget.hardCalls=",
		},
		"a limit of time": {
			"", "", limited(flow.Budget{HardTime: time.Nanosecond}), "because the time was over",
			"debate amend --set 'budget.hardTime=DURATION' c raises the limit, and debate resume c tries again.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name != "a key" && name != "a limit of calls" && name != "a limit of time" {
				longform.Lone(t) // the commands are the same, and another kind of failure is shown
			}
			place, config := t.TempDir(), agents()
			config.Patience = 1
			config.Retry = &flow.RetryPolicy{Base: time.Millisecond, Jitter: time.Millisecond}
			config.OnFailure = []flow.FailureRule{{Do: flow.OptionFail}}
			if tc.change != nil {
				tc.change(&config)
			}
			hold(t, place, func(req *provider.Request) scripted.Reply {
				if tc.kind != "" && strings.HasSuffix(strings.Split(req.ID, "/")[1], cmp.Or(tc.call, "propose.ada")) {
					return scripted.Reply{Err: &provider.Error{Kind: tc.kind, Status: 400, Message: "no"}}
				}
				return scripted.Reply{Text: "What is said."}
			}, config)
			shown := run(t, place, "show", "c")
			require.Zero(t, shown.code, shown.err)
			assert.Contains(t, shown.out, tc.says)
			assert.Contains(t, shown.err, tc.helps)
			assert.NotRegexp(t, `r1\.|authentication|context_overflow|cost_limit|debate: `, shown.out+shown.err)
			watched := run(t, place, "watch")
			assert.Contains(t, []int{3, 6}, watched.code, watched.err)
		})
	}
}

// TestWhereAVendorIs: the variable is the one that makes its provider, and what it holds beside a server is not shown.
func TestWhereAVendorIs(t *testing.T) {
	set := map[string]string{
		"OPENAI_BASE_URL": "https://me:secret@box/v1?key=secret", "GROQ_BASE_URL": "http://box", "OLLAMA_HOST": "box:80",
		"AZURE_OPENAI_ENDPOINT": "https://acme.openai.azure.com/", "VLLM_BASE_URL": "box", "SNOWFLAKE_ACCOUNT": "acme",
	}
	in := command.System{Lookup: func(name string) (string, bool) { value, ok := set[name]; return value, ok }}
	for vendor, want := range map[string]string{
		"openai": " at https://box (OPENAI_BASE_URL)", "groq": "", "ollama": " at box:80 (OLLAMA_HOST)", "vllm": "", "google": "",
		"azure": " at https://acme.openai.azure.com (AZURE_OPENAI_ENDPOINT)", "snowflake": " at acme (SNOWFLAKE_ACCOUNT)",
	} {
		assert.Equal(t, want, command.At(in, vendor), vendor)
	}

	asked, told := map[string]bool{}, map[string]bool{}
	env.From(func(name string) (string, bool) {
		if !slices.Contains(env.Secrets(), name) {
			asked[name] = true
		}
		return "http://box", true
	})
	everywhere := command.System{Lookup: func(string) (string, bool) { return "http://box", true }}
	for _, vendor := range env.Vendors() {
		if at := command.At(everywhere, vendor); at != "" {
			told[strings.TrimSuffix(strings.TrimPrefix(at, " at http://box ("), ")")] = true
		}
	}
	assert.Equal(t, asked, told)
}

// TestAFailureIsToldOnce: a debate that a vendor has stopped is led on, and its one failure stands in one line.
func TestAFailureIsToldOnce(t *testing.T) {
	place, config := t.TempDir(), debaters(nil)
	config.OnFailure = []debate.FailureRule{{Do: flow.OptionFail}}
	hold(t, place, func(*provider.Request) scripted.Reply {
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication, Status: 401}}
	}, config)
	shown := run(t, place, "show", "c")
	assert.Equal(t, 1, strings.Count(shown.out+shown.err, "refuses the key (401)"), shown.out+shown.err)
	assert.Regexp(t, `(Ada|Ben)(, (Ada|Ben))?: demo refuses the key \(401\)`, shown.out)
}

// TestAnAnswerThatCannotBeUsed: what helps is a command, with whom it is about.
func TestAnAnswerThatCannotBeUsed(t *testing.T) {
	place, config := t.TempDir(), debaters(nil)
	config.OnFailure = []debate.FailureRule{{Do: flow.OptionFail}}
	config.Retry = &flow.RetryPolicy{Max: map[flow.Kind]int{provider.KindInvalidResponse: 0}}
	hold(t, place, func(*provider.Request) scripted.Reply {
		return scripted.Reply{Err: &provider.Error{Kind: provider.KindInvalidResponse, Message: "no text"}}
	}, config)
	shown := run(t, place, "show", "c")
	assert.Regexp(t, `debate resume c tries again; --model .(Ada|Ben)=provider/model. lets another model take over\.`, shown.err)
	assert.NotContains(t, shown.err, "amend")
}
