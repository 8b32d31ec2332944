package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/tool"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

func none(string) string { return "" }

// plays runs the program without a key, and requires that it leaves nothing behind.
func plays(t *testing.T, typed string, args ...string) (string, error) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	failure := run(t.Context(), strings.NewReader(typed), stage.Printer{Out: &out}, args, none)
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	assert.Empty(t, left)
	return out.String(), failure
}

// golden compares with a file under testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
	for line := range strings.Lines(got) {
		assert.LessOrEqual(t, utf8.RuneCountInString(line), 101, line)
	}
}

// The tools are the real ones: the coder's first version does not pass its own test, and its second one does.
func TestTheWorkReadsAsItShould(t *testing.T) {
	out, err := plays(t, "")
	require.NoError(t, err)
	golden(t, "work.txt", out)
}

// What a person denies is not done, and the reason reaches the model.
func TestAPersonApprovesEachUse(t *testing.T) {
	out, err := plays(t, "approve\nYes, do!\nApprove\ndeny Add a text of one character first.\napprove\nalways\napprove\n", "-approve")
	require.NoError(t, err)
	golden(t, "approval.txt", out)
}

func TestNothingIsWrittenThatNobodyApproves(t *testing.T) {
	out, err := plays(t, "", "-approve")
	require.ErrorIs(t, err, errNobody)
	assert.NotContains(t, out, "The file is new")

	out, err = plays(t, strings.Repeat("deny\n", 20), "-approve")
	require.ErrorContains(t, err, "3 failures in a row")
	assert.NotContains(t, out, "The file is new")
	assert.NotContains(t, out, "Exit code")
}

// What is shown to whoever decides is all of it, and controls no terminal.
func TestArgumentsAreShownWhole(t *testing.T) {
	var out bytes.Buffer
	by := newPerson(stage.Printer{Out: &out}, strings.NewReader("deny  too \x1b long \n"))
	option, reason, err := by.decide(&flow.Inquiry{To: "co\x1bder", Use: &flow.PendingUse{
		Tool: "write_file", Arguments: `{"content":"a\\nb\n\tc` + "\x1b[2J" + strings.Repeat("x", 100) + `"}`, Cut: true,
	}})
	require.NoError(t, err)
	assert.Equal(t, flow.OptionDeny, option)
	assert.Equal(t, "too \x1b long", reason)
	assert.Equal(t, "? coder asks to use write_file:\n"+`  ? {"content":"a\\nb`+"\n  ?     c[2J"+strings.Repeat("x", 84)+"\n  ? "+
		strings.Repeat("x", 16)+"\"}\n  ? … and more, which is not shown\n  ? approve, deny (and why), or always:\n", out.String())
}

func TestTheToolsDoNoMore(t *testing.T) {
	folder, remove, err := newFolder()
	require.NoError(t, err)
	defer remove()
	dir, err := tool.OpenDir(folder, tool.Limits{})
	require.NoError(t, err)
	defer func() { _ = dir.Close() }()
	tools, err := toolbox(dir)
	require.NoError(t, err)
	for name, use := range map[string]struct{ arguments, want string }{
		tool.WriteFileName:  {`{"path":"go.mod","content":"module x"}`, "excludes it"},
		tool.RunCommandName: {`{"program":"go","arguments":["test","-exec=rm","./..."]}`, "only go test"},
		tool.ReadFileName:   {`{"path":"../x"}`, "leads out of the folder"},
	} {
		_, err := tools[name].Use(t.Context(), flow.ToolUse{Arguments: json.RawMessage(use.arguments)})
		require.ErrorContains(t, err, use.want)
		assert.Equal(t, name != tool.ReadFileName, tools[name].Describe().Approval)
	}
}

// With a key, a person is asked unless the flag says otherwise.
func TestModelsAreNotTrusted(t *testing.T) {
	for args, asked := range map[string]bool{"": true, "-approve=false": false, "-approve": true} {
		o, err := parse(strings.Fields(args), false)
		require.NoError(t, err)
		assert.Equal(t, asked, o.approve, args)
	}
}

// The files name no model: all agents get the one that there is.
func TestAgentsComeFromFiles(t *testing.T) {
	config, err := newConfig("Write Reverse.", "local/m")
	require.NoError(t, err)
	require.Len(t, config.Agents, 3)
	for i, name := range []string{"coder", "planner", "reviewer"} {
		agent := config.Agents[i]
		assert.Equal(t, name, agent.Name)
		assert.Equal(t, "local/m", agent.Model)
		assert.NotEmpty(t, agent.Prompt)
		assert.Equal(t, name == "coder", slices.Contains(agent.Tools, tool.WriteFileName))
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	_, err := plays(t, "", "-task", "Write Reverse.")
	require.ErrorContains(t, err, "without a key")
	_, err = plays(t, "", "-sing")
	require.Error(t, err)
	_, err = plays(t, "", "-h")
	require.NoError(t, err)
}

func TestAnInterruptEndsIt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	models := script()
	reply := models.Reply
	models.Reply = func(req *provider.Request) scripted.Reply {
		if req.Self == "coder" {
			cancel()
		}
		return reply(req)
	}
	engine, model := stage.Choose(none, models)
	config, err := newConfig(demoTask, model)
	require.NoError(t, err)
	folder, remove, err := newFolder()
	require.NoError(t, err)
	defer remove()
	dir, err := tool.OpenDir(folder, tool.Limits{})
	require.NoError(t, err)
	defer func() { _ = dir.Close() }()
	engine.Tools, err = toolbox(dir)
	require.NoError(t, err)
	var out bytes.Buffer
	require.ErrorIs(t, work(ctx, stage.Printer{Out: &out}, engine, config, nil), context.Canceled)
}
