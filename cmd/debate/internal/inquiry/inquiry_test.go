package inquiry_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/cmd/debate/internal/inquiry"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

func failed(by ...string) *flow.Inquiry {
	q := &flow.Inquiry{
		ID: "f", Failure: &flow.Error{Kind: provider.KindQuota, Err: errors.New("no money")},
		Options: []flow.Option{flow.OptionRetry, flow.OptionModel, flow.OptionSkip, flow.OptionEnd},
	}
	for _, name := range by {
		q.About = append(q.About, flow.FailedCall{Call: "c." + name, By: name, Options: []flow.Option{flow.OptionRetry, flow.OptionSkip}})
	}
	return q
}

// TestLines: what a person reads before deciding. The arguments of a tool are shown.
func TestLines(t *testing.T) {
	assert.Equal(t, []string{
		"ada: no money", "  1  retry: try again now", "  2  model: let another model take over",
		"  3  skip: continue without this result", "  4  end: end with what there is",
	}, inquiry.Lines(failed("ada"), "ada: no money"))
	assert.Equal(t, []string{
		"May it?", `  write_file {"path": "/etc/passwd"} … (there is more)`, "  1  approve: allow this one use", "  2  deny: refuse it; the model reads the reason",
	}, inquiry.Lines(&flow.Inquiry{
		ID: "a", Options: []flow.Option{flow.OptionApprove, flow.OptionDeny},
		Use: &flow.PendingUse{Tool: "write_file", Arguments: "{\"path\":\n \"/etc/passwd\"}", Cut: true},
	}, "May it?"))
}

// TestLinesOfASpeech: who is asked for a speech reads the lines of the question, and until when it is open.
func TestLinesOfASpeech(t *testing.T) {
	until := time.Date(2026, time.March, 4, 15, 6, 7, 0, time.Local) //nolint:gosmopolitan // as people read it
	assert.Equal(t, []string{"It is your turn, Ada.", "Your side: for", "  until Mar 04 15:06:07"}, inquiry.Lines(&flow.Inquiry{
		ID: "a", Question: "It is your turn, Ada.\n\nYour side: for", Within: flow.Duration(time.Hour), Until: until,
	}, ""))
}

// TestDialogue: which lines become which answer. What is none is refused, and asked for again.
func TestDialogue(t *testing.T) {
	free := &flow.Inquiry{ID: "q", Kind: deliberation.KindAnswer, Question: "Which?"}
	tool := &flow.Inquiry{ID: "t", Options: []flow.Option{flow.OptionApprove, flow.OptionDeny, flow.OptionDone, flow.OptionAlways}}
	tests := map[string]struct {
		of      *flow.Inquiry
		lines   []string
		prompts []string
		refused int
		want    flow.Answer
	}{
		"a text":         {free, []string{" SQLite "}, []string{"answer (Enter: none)"}, 0, flow.Answer{Inquiry: "q", Text: "SQLite"}},
		"nothing":        {free, []string{" "}, []string{"answer (Enter: none)"}, 0, flow.Answer{Inquiry: "q", Text: "NA"}},
		"nothing at all": {&flow.Inquiry{ID: "p"}, []string{"", "NA"}, []string{"answer", "answer"}, 1, flow.Answer{Inquiry: "p", Text: "NA"}},
		"several lines": {
			&flow.Inquiry{ID: "s", Kind: "opening", Max: 100},
			[]string{"First.", "", "  Second.", " . "},
			[]string{"answer, ended by a line with only a dot", "", "", ""},
			0,
			flow.Answer{Inquiry: "s", Text: "First.\n\n  Second."},
		},
		"no lines": {
			&flow.Inquiry{ID: "s", Kind: "opening", Max: 100}, []string{".", "Yes.", "."}, nil, 1, flow.Answer{Inquiry: "s", Text: "Yes."},
		},
		"JSON": {
			&flow.Inquiry{ID: "j", Schema: []byte("{}")},
			[]string{"{}"},
			[]string{"answer, as JSON"},
			0,
			flow.Answer{Inquiry: "j", Text: "{}"},
		},
		"a number": {failed("ada"), []string{"1"}, []string{"option, 1 to 4"}, 0, flow.Answer{Inquiry: "f", Option: flow.OptionRetry}},
		"a name":   {failed("ada"), []string{"End"}, []string{"option, 1 to 4"}, 0, flow.Answer{Inquiry: "f", Option: flow.OptionEnd}},
		"a name with a capital": {
			&flow.Inquiry{ID: "p", Options: []flow.Option{flow.OptionWait, flow.OptionStandIn}},
			[]string{"standIn"},
			nil, 0,
			flow.Answer{Inquiry: "p", Option: flow.OptionStandIn},
		},
		"no option": {failed("ada"), []string{"0", "5", "drop", "", "4"}, nil, 4, flow.Answer{Inquiry: "f", Option: flow.OptionEnd}},
		"a model": {
			failed("ada"),
			[]string{"2", "gpt", "openai/gpt"},
			[]string{"option, 1 to 4", "model, as provider/model", "model, as provider/model"},
			1,
			flow.Answer{Inquiry: "f", Option: flow.OptionModel, Model: "openai/gpt"},
		},
		"skip of one": {failed("ada"), []string{"skip"}, nil, 0, flow.Answer{Inquiry: "f", Option: flow.OptionSkip}},
		"skip of several": {
			failed("ada", "ben"),
			[]string{"skip", "cyd", "ben"},
			[]string{"option, 1 to 4", "for whom: ada, ben", "for whom: ada, ben"},
			1,
			flow.Answer{Inquiry: "f", Option: flow.OptionSkip, By: "ben"},
		},
		"approval": {tool, []string{"approve"}, nil, 0, flow.Answer{Inquiry: "t", Option: flow.OptionApprove}},
		"always":   {tool, []string{"4"}, nil, 0, flow.Answer{Inquiry: "t", Option: flow.OptionAlways}},
		"denial": {
			tool,
			[]string{"2", "not there"},
			[]string{"option, 1 to 4", "reason, may be empty"},
			0,
			flow.Answer{Inquiry: "t", Option: flow.OptionDeny, Text: "not there"},
		},
		"a denial without a reason": {tool, []string{"2", ""}, nil, 0, flow.Answer{Inquiry: "t", Option: flow.OptionDeny}},
		"done": {
			tool,
			[]string{"done", "it said ok"},
			[]string{"option, 1 to 4", "what the tool has answered, may be empty"},
			0,
			flow.Answer{Inquiry: "t", Option: flow.OptionDone, Text: "it said ok"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := inquiry.Begin(*tt.of)
			var prompts []string
			refused := 0
			for i, line := range tt.lines {
				prompts = append(prompts, d.Prompt())
				answer, err := d.Take(line)
				if err != nil {
					refused++
				}
				if i < len(tt.lines)-1 {
					assert.Nil(t, answer, "after %q", line)
				} else if assert.NotNil(t, answer) {
					assert.Equal(t, tt.want, *answer)
				}
			}
			assert.Equal(t, tt.refused, refused)
			if tt.prompts != nil {
				assert.Equal(t, tt.prompts, prompts)
			}
		})
	}
}

// TestLinesTakenBack: lines that are given as they are do not end the answer, and the last one can be taken back.
func TestLinesTakenBack(t *testing.T) {
	d := inquiry.Begin(flow.Inquiry{ID: "s", Kind: "opening", Max: 100})
	_, ok := d.Back()
	assert.False(t, ok)
	d.Write("First.", inquiry.End, "Third.")
	line, ok := d.Back()
	assert.True(t, ok)
	assert.Equal(t, "Third.", line)
	assert.Equal(t, []string{"First.", inquiry.End}, d.Written())
	answer, err := d.Take(inquiry.End)
	assert.NoError(t, err)
	assert.Equal(t, &flow.Answer{Inquiry: "s", Text: "First.\n."}, answer)
}

// TestDroppingAJudgeIsExplained: whoever drops the last judge learns before that there is no verdict then.
func TestDroppingAJudgeIsExplained(t *testing.T) {
	for kind, told := range map[flow.CallKind]bool{debate.KindVerdict: true, debate.KindAssessment: true, "argument": false} {
		lines := strings.Join(inquiry.Lines(&flow.Inquiry{Kind: kind, Options: []flow.Option{flow.OptionDrop}}, "judge: refusal"), "\n")
		assert.Equal(t, told, strings.Contains(lines, "without the last judge there is no verdict"), kind)
	}
}
