package main

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"os"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/tool"
)

// material is the folder that the agents may read, embedded so that the example runs from anywhere.
//
//go:embed testdata/shop
var material embed.FS

// unpack writes the material into a temporary folder.
func unpack() (folder string, remove func(), err error) {
	folder, err = os.MkdirTemp("", "agenttools")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(folder) }
	shop, err := fs.Sub(material, "testdata/shop")
	if err == nil {
		err = os.CopyFS(folder, shop)
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return folder, remove, nil
}

// target holds the arguments with which the model has the downtime computed. The tool's schema is made
// from this struct. Arguments that do not match it never reach the function.
type target struct {
	Percent float64 `json:"percent" jsonschema:"minimum=0,maximum=100,description=how much of the time it has to work"`
	Days    int     `json:"days"    jsonschema:"minimum=1,maximum=366,description=of how many days"`
}

// toolbox returns the tools of the engine: the ready-made ones for a folder, and one of our own. Models
// are bad at arithmetic; a function is not.
func toolbox(dir *tool.Dir) (map[string]debate.Tool, error) {
	downtime, err := flow.NewTool(
		flow.ToolInfo{Description: "How many minutes of downtime an availability allows.", ReadOnly: true},
		func(_ context.Context, _ flow.ToolUse, t target) (string, error) {
			minutes := float64(t.Days) * 24 * 60 * (100 - t.Percent) / 100
			return fmt.Sprintf("%g %% of %d days allow %.1f minutes of downtime.", t.Percent, t.Days, minutes), nil
		},
	)
	if err != nil {
		return nil, err
	}
	tools, err := tool.Tools(dir)
	if err != nil {
		return nil, err
	}
	tools = maps.Clone(tools)
	tools["downtime"] = downtime
	return tools, nil
}
