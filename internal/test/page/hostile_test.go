package page_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/browser"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/web"
)

// hostileTexts are texts of strangers. Those that run set hit.
func hostileTexts(t *testing.T) (texts []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/hostile.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &texts))
	require.Len(t, texts, 40)
	return texts
}

// lineOf is what a field takes of a text that must be one printable line of so many characters.
func lineOf(text string, most int) string {
	printed := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text))
	return cmp.Or(strings.TrimSpace(string(printed[:min(most, len(printed))])), "x")
}

// nameOf is lineOf for a field that takes no brackets.
func nameOf(text string, most int) string {
	return lineOf(strings.NewReplacer("<", "‹", ">", "›").Replace(text), most)
}

// bytesOf is the beginning of a text.
func bytesOf(text string, most int) string {
	for len(text) > most {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// uttered is an answer in which every free text is this one.
func uttered(req *provider.Request, words string) scripted.Reply {
	if req.Schema == nil {
		return scripted.Reply{Text: words, Reasoning: words}
	}
	plain, err := new(scripted.Provider).Generate(context.Background(), req, func(provider.Chunk) {})
	if err != nil {
		return scripted.Reply{Err: err}
	}
	return scripted.Reply{Text: strings.ReplaceAll(plain.Text, stage.JSON("This is what "+req.Self+" has to say."), stage.JSON(words))}
}

// villain is a provider that answers with the text whose number the id of the conversation has. What it does besides is in the id too.
func villain(texts []string) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		does, number, _ := strings.Cut(debateOf(req), "-")
		n, _ := strconv.Atoi(number)
		used := false
		for _, m := range req.Messages {
			used = used || m.ToolResult != nil
		}
		arguments := stage.JSON(map[string]string{"text": texts[n]})
		switch {
		case req.Schema == nil && does == "over" && !used:
			return scripted.Reply{Text: texts[n], Calls: []provider.ToolCall{stage.ToolCall("1", "echo", arguments)}}
		case req.Schema == nil && does == "tool":
			return scripted.Reply{Text: texts[n], Calls: []provider.ToolCall{stage.ToolCall("1", "act", arguments)}}
		case does == "solve" || does == "work":
			return elsewhere(req, texts[n]+" So it is.")
		case does == "fail":
			return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal, Status: http.StatusBadRequest, Message: texts[n]}}
		default:
			return uttered(req, texts[n])
		}
	}
}

// echoed is what the tool of echo is given.
type echoed struct {
	Text string `json:"text"`
}

// echo is a tool that gives back what it is given.
func echo(t *testing.T, info flow.ToolInfo) debate.Tool {
	t.Helper()
	tool, err := flow.NewTool(info, func(_ context.Context, _ flow.ToolUse, given echoed) (string, error) { return given.Text, nil })
	require.NoError(t, err)
	return tool
}

// filled is a config in which a text stands wherever a host program or a user can put it.
func filled(id, text string) debate.Config {
	label := map[string]string{bytesOf(text, 100): bytesOf(text, 1000)}
	model := "test/" + lineOf(text, 60)
	return debate.Config{
		ID: id, Topic: text, Language: nameOf(text, 60), Rounds: 1, Patience: time.Nanosecond, Labels: label,
		Documents: []flow.Document{{Name: nameOf(text, 30), Files: []flow.File{{
			Name: strings.NewReplacer("/", "|", `\`, "|").Replace(lineOf(text, 30)), Type: "text/plain", Data: []byte(text),
		}}}},
		Participants: []debate.Participant{
			{Name: nameOf(text, 50) + " A", Position: text, Persona: text, Instructions: text, Model: model, Metadata: label},
			{Name: nameOf(text, 50) + " B", Position: text, Model: model},
		},
		Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Name: nameOf(text, 50) + " J", Model: model, Instructions: text}}},
	}
}

// worded replaces the texts of an answer in JSON, but for those that choose something.
func worded(v any, words string) any {
	switch v := v.(type) {
	case string:
		if v != "" {
			return words
		}
	case []any:
		for i := range v {
			v[i] = worded(v[i], words)
		}
	case map[string]any:
		for key := range v {
			if key != "move" && key != "agents" && key != "ranking" {
				v[key] = worded(v[key], words)
			}
		}
	}
	return v
}

// elsewhere is an answer in a deliberation or in arbitrated work, in which every free text is this one.
func elsewhere(req *provider.Request, words string) scripted.Reply {
	if req.Schema == nil {
		return scripted.Reply{Text: words}
	}
	plain, err := flows.Provider(nil).Generate(context.Background(), req, func(provider.Chunk) {})
	var answer any
	if err == nil {
		err = json.Unmarshal([]byte(plain.Text), &answer)
	}
	if err != nil {
		return scripted.Reply{Err: err}
	}
	return scripted.Reply{Text: stage.JSON(worded(answer, words))}
}

// other is a deliberation, or arbitrated work, in which a text stands wherever a host program or a user can put it, and its id.
func other(n int, text string) (string, flow.Config) {
	label := map[string]string{bytesOf(text, 100): bytesOf(text, 1000)}
	if n%2 == 0 {
		config := flows.Deliberation(fmt.Sprint("solve-", n))
		config.Problem, config.Context, config.Labels = text, text, label
		return config.ID, config
	}
	config := flows.Arbitration(fmt.Sprint("work-", n))
	config.Task, config.Agents[0].Description, config.Labels = text, bytesOf(text, 2000), label
	return config.ID, config
}

// besiege plays five conversations with each text: a debate that is over, a deliberation or arbitrated work that is over, and three debates
// that wait for a person, who is to speak, to approve the use of a tool, or to decide about a failure.
func besiege(t *testing.T, texts []string) *debate.Engine {
	t.Helper()
	engine, script := house(t, stage.TwoDebaters(), nil)
	script.Reply = villain(texts)
	engine.Tools = map[string]debate.Tool{
		"echo": echo(t, flow.ToolInfo{Description: texts[0], ReadOnly: true}),
		"act":  echo(t, flow.ToolInfo{Description: texts[1], Approval: true}),
	}
	for n, text := range texts {
		over := filled(fmt.Sprint("over-", n), text)
		over.Unattended, over.Tools = true, []string{"echo"}
		_, err := engine.Play(t.Context(), over)
		require.NoError(t, err, text)
		_, config := other(n, text)
		_, err = engine.Play(t.Context(), config)
		require.NoError(t, err, text)
		for _, does := range []string{"turn", "tool", "fail"} {
			waits := filled(fmt.Sprint(does, "-", n), text)
			switch does {
			case "turn":
				waits.Participants[1] = debate.Participant{Name: waits.Participants[1].Name, Person: true, Position: text}
			case "tool":
				waits.Tools = []string{"act"}
			}
			session := stage.Started(t, engine, waits)
			stage.AwaitsInput(t, session)
			if does == "turn" {
				_, err := session.Say(t.Context(), flow.Note{Text: text, As: nameOf(text, 40), Person: lineOf(text, 60)})
				require.NoError(t, err, text)
			}
			require.NoError(t, session.Close())
		}
	}
	return engine
}

// TestHostileTexts: wherever a model, a person, a note, a file, a tool, a label or the host program puts a hostile text, it is a text in
// conversations of each kind: it runs nothing and asks nobody, and nothing is wider than the window of a phone.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	texts := hostileTexts(t)
	engine := besiege(t, texts)
	var o web.Options
	for _, text := range texts {
		preset := filled("", text)
		o.Presets = append(o.Presets, web.Preset{Name: text, About: text, Config: encoded(t, preset)})
	}
	p := visit(t, browser.Open(t), serve(t, engine, o), "")
	defer p.leaves()
	holds := func(view string) {
		p.Eval(`document.querySelectorAll('details').forEach((one) => { one.open = true })`)
		p.sees(`![...document.querySelectorAll('.fact details')].some((one) => one.open && !one.querySelector('pre'))`)
		assert.LessOrEqual(t, p.Eval(`document.documentElement.scrollWidth`), float64(narrow), view)
		assert.Empty(t, p.Eval(`[...document.querySelectorAll('#page script, #page iframe:not([title="Report"]), #page object, #page embed, `+
			`#page img:not([src="icon.svg"]), #page style, #page link, #page base, #page form[action]')].map((one) => one.outerHTML)`), view)
	}
	looks := func(view, until string) {
		p.Goto(p.home+view, narrow, tall, "light")
		p.sees(until)
		holds(view)
	}
	looks("#/", `document.querySelectorAll('.row-of').length === 50`)
	p.clicks("button", "Show more")
	p.sees(`document.querySelectorAll('.row-of').length === 100`)
	holds("#/, 100")
	looks("#/new", `document.querySelectorAll('.card').length === 40`)
	p.clicks(".card", "hit=1")
	p.reads(".sheet legend", "Who debates")
	holds("#/new with a preset")
	looks("#/inbox", `document.querySelectorAll('.question').length === 50`)
	for _, left := range []string{"50", "20"} { // of 120
		p.Eval(`window.former = document.querySelector('.question')`)
		p.clicks("button", "More questions")
		p.sees(`!former.isConnected && document.querySelectorAll('.question').length === ` + left)
		holds("#/inbox, " + left)
	}
	for n := range texts {
		reason, id := lineOf(texts[n], 60), fmt.Sprint("turn-", n)
		looks("#/c/"+id, `document.querySelectorAll('.question').length === 1 && document.querySelector('.note')`)
		require.NoError(t, engine.Control(t.Context(), id, flow.Cancel{Reason: reason, Person: reason}))
		p.reads(".head .state", "canceled")
		holds(id)
		over := fmt.Sprint("#/c/over-", n)
		looks(over+"/facts", `document.querySelectorAll('.fact').length > 5`)
		id, _ = other(n, texts[n])
		for _, view := range []string{over, "#/c/" + id} {
			looks(view, `document.querySelectorAll('.turn.is-done').length >= 3`)
			looks(view+"/report", `document.querySelector('iframe').contentDocument.body.textContent.length > 500`)
			assert.Empty(t, p.Eval(`[...document.querySelector('iframe').contentDocument.querySelectorAll('script, iframe, object, embed, `+
				`form, base, [onerror], [href^="javascript"]')].map((one) => one.outerHTML)`), view)
			assert.False(t, p.Holds(`'hit' in document.querySelector('iframe').contentWindow`), view)
		}
	}
}
