// Package agentfile reads the agents of arbitrated work from files: one file for each agent, with YAML front matter and a
// Markdown body.
//
//	---
//	name: reviewer
//	description: finds what is wrong with a change
//	model: anthropic/claude-sonnet-4-5
//	tools: [read_file, run_command]
//	maxIterations: 6
//	---
//	You review changes. Name each fault with its file and line.
//
// The keys are the JSON names of the fields of [arbiter.Agent]. The body is its Prompt. An agent without a name gets
// the name of the file without its extension.
package agentfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Bounds of what is read.
const (
	mostFiles = 100
	mostBytes = 256 << 10 // of a file

	extension = ".md"
	mark      = "---"
)

// Load reads all files "*.md" directly in the folder, in the order of their names. The error joins one error for
// each mistake; each is a [flow.Error] of kind validation whose Op is the file with the line and
// the column, as "reviewer.md:3:5", and whose Field is the path of the key. Broken YAML has no column. What else
// an agent needs, such as a model, is checked when the work starts.
func Load(folder fs.FS) ([]arbiter.Agent, error) {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil, mistake(".", place{}, "", err)
	}
	var agents []arbiter.Agent
	var wrong []error
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || !strings.EqualFold(path.Ext(name), extension) {
			continue
		}
		if len(agents) == mostFiles {
			wrong = append(wrong, mistake(name, place{}, "", fmt.Errorf("there are more than %d agents", mostFiles)))
			break
		}
		agent, err := read(folder, name)
		if err != nil {
			wrong = append(wrong, err)
		}
		if i := slices.IndexFunc(agents, func(a arbiter.Agent) bool { return a.Name == agent.Name }); i >= 0 && err == nil {
			wrong = append(wrong, mistake(name, place{line: 1}, "name", fmt.Errorf("another file has an agent %q", agent.Name)))
		}
		agents = append(agents, agent)
	}
	if len(agents) == 0 && len(wrong) == 0 {
		wrong = append(wrong, mistake(".", place{}, "", errors.New("there is no file *.md")))
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return agents, nil
}

func read(folder fs.FS, name string) (arbiter.Agent, error) {
	info, err := fs.Stat(folder, name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no file") // to open a pipe without a writer takes for ever
	}
	if err != nil {
		return arbiter.Agent{}, mistake(name, place{}, "", err)
	}
	file, err := folder.Open(name)
	if err != nil {
		return arbiter.Agent{}, mistake(name, place{}, "", err)
	}
	data, err := io.ReadAll(io.LimitReader(file, mostBytes+1))
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return arbiter.Agent{}, mistake(name, place{}, "", err)
	}
	return Parse(name, data)
}

// Parse reads one file; see [Load]. name is the name of the file, for errors and for an agent without a name.
func Parse(name string, data []byte) (arbiter.Agent, error) {
	switch {
	case len(data) > mostBytes:
		return arbiter.Agent{}, mistake(name, place{}, "", fmt.Errorf("the file is larger than %d bytes", mostBytes))
	case !utf8.Valid(data):
		return arbiter.Agent{}, mistake(name, place{}, "", errors.New("the file is not valid UTF-8"))
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
	front, body, err := split(text)
	if err != nil {
		return arbiter.Agent{}, mistake(name, place{line: 1}, "", err)
	}
	agent, err := decode(name, front)
	if agent.Prompt = strings.TrimSpace(body); agent.Name == "" {
		agent.Name = strings.TrimSuffix(path.Base(name), path.Ext(name))
	}
	return agent, err
}

// split divides a file into its front matter and its body.
func split(text string) (front, body string, err error) {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(first, " \t") != mark {
		return "", "", fmt.Errorf("the file does not begin with front matter, a line %q", mark)
	}
	var out strings.Builder
	for rest != "" {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		if strings.TrimRight(line, " \t") == mark {
			return out.String(), rest, nil
		}
		out.WriteString(line + "\n")
	}
	return "", "", fmt.Errorf("the front matter does not end with a line %q", mark)
}

// before is how many lines stand before the front matter: the line that begins it.
const before = 1

// decode reads the front matter, key by key, so that each mistake has its place.
func decode(file, front string) (arbiter.Agent, error) {
	var agent arbiter.Agent
	var tree yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(front))
	if err := decoder.Decode(&tree); errors.Is(err, io.EOF) {
		return agent, nil
	} else if err != nil {
		return agent, mistake(file, place{line: lineOf(err) + before}, "", plainly(err))
	}
	if len(tree.Content) != 1 || tree.Content[0].Kind != yaml.MappingNode {
		return agent, mistake(file, placeOf(&tree), "", errors.New("the front matter is not a mapping of keys to values"))
	}
	var wrong []error
	seen := make(map[string]bool)
	pairs := tree.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		key, value := pairs[i], pairs[i+1]
		switch {
		case seen[key.Value]:
			wrong = append(wrong, mistake(file, placeOf(key), key.Value, errTwice))
		case key.Value == "prompt":
			wrong = append(wrong, mistake(file, placeOf(key), key.Value, errors.New("is not a key: write the prompt below the front matter")))
		default:
			for _, m := range set(&agent, key, value) {
				wrong = append(wrong, mistake(file, placeOf(m.node), m.field, m.err))
			}
		}
		seen[key.Value] = true
	}
	return agent, errors.Join(wrong...)
}

// set sets the field of a key. It returns what is wrong with the value.
func set(agent *arbiter.Agent, key, value *yaml.Node) []finding {
	if wrong := unspeakable(key.Value, value); len(wrong) > 0 {
		return wrong
	}
	var v any
	if err := value.Decode(&v); err != nil {
		return []finding{{key, key.Value, plainly(err)}}
	}
	data, err := json.Marshal(map[string]any{key.Value: v})
	if err != nil {
		return []finding{{key, key.Value, errNoJSON}}
	}
	err = flow.DecodeStrict("", data, agent)
	if err == nil {
		return nil
	}
	var wrong []finding
	for _, err := range flow.Within("", "", err) {
		found := finding{key, key.Value, err}
		if failure, ok := errors.AsType[*flow.Error](err); ok && failure.Err != nil {
			found.err = failure.Err
			if within, ok := strings.CutPrefix(failure.Field, key.Value); ok {
				found.node, found.field = at(key, value, within), failure.Field
			}
		}
		wrong = append(wrong, found)
	}
	return wrong
}

// lineOf returns the line that an error of the YAML parser names; 0: it names none.
func lineOf(err error) (line int) {
	_, rest, ok := strings.Cut(err.Error(), "line ")
	if !ok {
		return 0
	}
	if _, err := fmt.Sscanf(rest, "%d", &line); err != nil {
		return 0
	}
	return line
}

// plainly returns an error of the YAML parser without its name and its line, which count from the front matter.
func plainly(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.HasPrefix(text, "line ") {
		_, text, _ = strings.Cut(text, ": ")
	}
	return errors.New(string(bytes.ToValidUTF8([]byte(text), nil)))
}

// mistake is the error about a file.
func mistake(file string, where place, field string, err error) error {
	at := file
	if where.line > 0 {
		at = fmt.Sprintf("%s:%d", file, where.line)
	}
	if where.column > 0 {
		at += fmt.Sprintf(":%d", where.column)
	}
	return &flow.Error{Kind: provider.KindValidation, Op: at, Field: field, Err: err}
}
