package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/tool"
)

// module is the go.mod of the folder. It has no dependencies, so that its test needs no network.
const module = "module shorten\n\ngo 1.26\n"

// commandTime is how long a test may run: the first one may have to compile the standard library.
const commandTime = 5 * time.Minute

// newFolder makes a temporary folder with a Go module.
func newFolder() (folder string, remove func(), err error) {
	folder, err = os.MkdirTemp("", "arbiter")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(folder) }
	if err := os.WriteFile(filepath.Join(folder, "go.mod"), []byte(module), 0o600); err != nil {
		remove()
		return "", nil, err
	}
	return folder, remove, nil
}

// toolbox makes the tools of the folder. Those that write and run need approval, because nothing here says otherwise.
func toolbox(dir *tool.Dir) (map[string]debate.Tool, error) {
	list, err := tool.ListFiles(dir)
	if err != nil {
		return nil, err
	}
	read, err := tool.ReadFile(dir)
	if err != nil {
		return nil, err
	}
	writing := tool.Writing{Only: []string{"*.go"}} // go.mod stays as it is
	write, err := tool.WriteFile(dir, writing)
	if err != nil {
		return nil, err
	}
	edit, err := tool.EditFile(dir, writing)
	if err != nil {
		return nil, err
	}
	run, err := tool.RunCommand(dir, tool.Commands{
		Programs: []tool.Program{{Name: "go", Check: onlyTest}},
		// Its variables are these, and no others. Go finds its cache by them.
		Inherit: []string{"PATH", "HOME", "XDG_CACHE_HOME", "GOCACHE", "GOROOT", "GOPATH", "TMPDIR"},
		Env: map[string]string{
			"GOWORK": "off", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOENV": "off", // as it is, and without the network
			"GOFLAGS": "-count=1",
		},
		Timeout:    commandTime,
		Idempotent: true, // a test may run twice
	})
	if err != nil {
		return nil, err
	}
	return map[string]debate.Tool{
		tool.ListFilesName: list, tool.ReadFileName: read, tool.WriteFileName: write, tool.EditFileName: edit, tool.RunCommandName: run,
	}, nil
}

// onlyTest allows nothing but the test. What the test does is up to who wrote it: this is no sandbox.
func onlyTest(_ string, arguments []string) error {
	if !slices.Equal(arguments, []string{"test", "./..."}) {
		return errors.New("only go test ./... may be run")
	}
	return nil
}
