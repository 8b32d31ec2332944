package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// play holds what everybody says, and the tools that they use before that. Lines with "?" are for after a denial.
//
//go:embed script.txt
var play string

// The files as the coder first writes them.
var (
	//go:embed script/shorten.go.txt
	firstCode string
	//go:embed script/shorten_test.go.txt
	firstTest string
)

// named finds the hashes of files in what tools have answered.
var named = regexp.MustCompile(`Hash ([0-9a-f]{16})`)

// script plays the arbiter and the agents. It reads what the tools have answered: who runs a test that fails reports a
// failure, and the arbiter goes by the reports.
func script() *scripted.Provider {
	said := stage.Speeches(play)
	return &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		if req.Schema == nil || req.Schema.Name == "result" {
			return act(req, said)
		}
		return decide(req.Last.Text, said)
	}}
}

// decide plays the arbiter: it selects planner, coder and reviewer in turn, and lets who has failed try again.
func decide(situation string, said map[string]string) scripted.Reply {
	ruling := arbiter.Ruling{Move: arbiter.MoveSelect, Agents: []string{}}
	next := func(agent string) { ruling.Agents, ruling.Reason = []string{agent}, said["arbiter "+agent] }
	switch {
	case strings.Contains(situation, "What planner has reported last"):
		next("coder")
	case strings.Contains(situation, "What coder has reported last"):
		next("reviewer")
	case strings.Contains(situation, "What reviewer has reported last"):
		ruling.Move, ruling.Summary = arbiter.MoveComplete, said["arbiter complete"]
	case strings.Contains(situation, " has failed:"):
		ruling.Move, ruling.Reason = arbiter.MoveRetry, said["arbiter retry"]
	default:
		next("planner")
	}
	return reply(ruling)
}

// act plays an agent, who asks for its tools one after the other; each request shows the answers so far.
func act(req *provider.Request, said map[string]string) scripted.Reply {
	answered, denied, passed, hash, again := 0, false, req.Self == "planner", "", false
	for _, message := range append(req.Messages, req.Last) {
		if strings.Contains(message.Text, "Your last execution has failed.") {
			again, answered = true, 0 // what comes before it are the uses of that execution
		}
		answered += len(message.ToolCalls)
		if message.ToolResult == nil {
			continue
		}
		text := message.ToolResult.Text
		denied = denied || strings.Contains(text, "This use was denied")
		if found := named.FindStringSubmatch(text); found != nil {
			hash = found[1]
		}
		if strings.Contains(text, "Exit code ") {
			passed = strings.Contains(text, "Exit code 0.")
		}
	}
	uses := asked(req.Self+" uses", denied, hash)
	if again && req.Self == "coder" {
		uses = asked("coder uses again", denied, hash)
	}
	if answered < len(uses) {
		return scripted.Reply{Calls: uses[answered : answered+1]}
	}
	result := arbiter.Result{Success: passed, Output: said[req.Self+" fails"]}
	if passed {
		result.Output = said[req.Self+" succeeds"]
	}
	if req.Self == "planner" {
		result.PlanUpdates = &arbiter.PlanUpdate{Steps: []arbiter.StepUpdate{
			{Index: 0, Description: "Write Shorten and its test.", Agent: "coder"},
			{Index: 1, Description: "Review both.", Agent: "reviewer"},
		}}
	}
	return reply(result)
}

func reply(v any) scripted.Reply {
	text, err := json.Marshal(v)
	return scripted.Reply{Text: string(text), Err: err}
}

// asked reads from the script which tools an agent asks for: lines with a name and its arguments.
func asked(heading string, denied bool, hash string) []provider.ToolCall {
	_, lines, _ := strings.Cut(play, "# "+heading+"\n")
	lines, _, _ = strings.Cut(lines, "\n#")
	fill := strings.NewReplacer("HASH", hash, "FIRST", strconv.Quote(firstCode), "TEST", strconv.Quote(firstTest))
	var uses []provider.ToolCall
	for line := range strings.SplitSeq(lines, "\n") {
		line, later := strings.CutPrefix(line, "? ")
		name, arguments, ok := strings.Cut(line, " ")
		if ok && (denied || !later) {
			id := fmt.Sprintf("use-%d", len(uses)+1)
			uses = append(uses, provider.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(fill.Replace(arguments))})
		}
	}
	return uses
}
