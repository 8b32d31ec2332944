package command_test

import (
	"cmp"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// TestTheCommandThatHelpsIsAccepted: whatever has stopped a conversation, debate show says what helps, and prints the command that
// amends it. That command is one of this program, and says in capitals what a person has to decide.
func TestTheCommandThatHelpsIsAccepted(t *testing.T) {
	amend := regexp.MustCompile(`debate amend (--[a-z-]+) (\S+) c (?:changes that|raises the limit), and debate retry c tries again\.`)
	times := regexp.MustCompile(`[0-9]+[mhs]\b`)
	limited := func(b flow.Budget) func(*deliberation.Config) { return func(c *deliberation.Config) { c.Budget = &b } }
	for name, tc := range map[string]struct {
		kind   provider.Kind
		call   string // that fails; "": the proposal of ada
		change func(*deliberation.Config)
		flag   string
		says   string
	}{
		"a key":               {provider.KindAuthentication, "", nil, "--model", "Renew the API key of the provider of ada's model"},
		"a model":             {provider.KindValidation, "", nil, "--model", "Amend models.ada to a model that takes this request"},
		"a refusal":           {provider.KindRefusal, "", nil, "--model", "Reword what ada has declined"},
		"a window":            {provider.KindContextOverflow, "", nil, "--model", "Amend models.ada or context"},
		"a quota":             {provider.KindQuota, "", nil, "--model", "Top up the account at the provider of ada's model"},
		"a time":              {provider.KindTimeout, "", nil, "--turn-timeout", "has not replied in time; or amend turnTimeout"},
		"a time of the judge": {provider.KindTimeout, "synthesis", nil, "--timeout", "has not replied in time; or amend timeouts.synthesis"},
		"a limit of calls":    {"", "", limited(flow.Budget{HardCalls: 7}), "--budget-calls", "the hard limit of 7 calls: raise it to about "},
		"a limit of time":     {"", "", limited(flow.Budget{HardTime: time.Nanosecond}), "--budget-time", "because the time was over"},
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
			assert.Contains(t, shown.out+shown.err, tc.says)
			found := amend.FindStringSubmatch(shown.err)
			require.NotNil(t, found, shown.err)
			assert.Equal(t, tc.flag, found[1])
			assert.NotRegexp(t, times, found[2])
			value := strings.NewReplacer("'", "", `"`, "", "provider/model", "demo/script", "DURATION", "10m", "N", "1000000").Replace(found[2])
			amended := run(t, place, "amend", found[1], value, "c")
			assert.Zero(t, amended.code, amended.err)
		})
	}
}
