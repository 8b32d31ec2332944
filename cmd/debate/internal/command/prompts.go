package command

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/prompt"
)

// listedPrompt is a template of what models are asked.
type listedPrompt struct {
	Name string `json:"name"`
	Flow string `json:"flow"` // whose conversations read it; "all"
	What string `json:"what"`
	Text string `json:"text"`
}

// templates returns those of all flows.
func templates() (*prompt.Set, error) {
	var all []map[string]prompt.Template
	for _, f := range ownFlows() {
		all = append(all, f.Prompts)
	}
	return prompt.Parse(nil, all...)
}

// promptNames returns the names of all templates, in their order.
func promptNames() []string {
	set, err := templates()
	if err != nil {
		return nil
	}
	return set.Names()
}

// showPrompts lists the templates of the library, or prints the one of this name; "": it lists them.
func (p *program) showPrompts(name string) error {
	set, err := templates()
	if err != nil {
		return err
	}
	if name != "" {
		text := set.Text(name)
		switch {
		case text == "":
			return exit(exitArguments, flow.Unknown("template", name, set.Names()...))
		case p.json:
			return p.printValue(promptOf(name, text))
		}
		_, err := fmt.Fprintln(p.Out, strings.TrimRight(text, "\n"))
		return err
	}
	all := []listedPrompt{}
	for _, name := range set.Names() {
		all = append(all, promptOf(name, set.Text(name)))
	}
	if p.json {
		return p.printValue(all)
	}
	return promptTable(newTable(p.Out), all)
}

// promptTable prints templates.
func promptTable(t *table, all []listedPrompt) error {
	t.row("NAME", "FLOW", "WHAT IT IS")
	for i := range all {
		t.row(all[i].Name, all[i].Flow, all[i].What)
	}
	return t.end()
}

// promptOf returns a template with what its first comment says of it, in one sentence.
func promptOf(name, text string) listedPrompt {
	out := listedPrompt{Name: name, Flow: debate.FlowName, Text: text}
	if own, _, ok := strings.Cut(name, "."); ok {
		out.Flow = own
	} else if prompt.Shared(name) {
		out.Flow = "all"
	}
	if found := comment().FindStringSubmatch(text); found != nil {
		what, _, _ := strings.Cut(found[1], ". ")
		out.What = strings.TrimSuffix(what, ".")
	}
	return out
}

// comment matches the comment on top of a template.
func comment() *regexp.Regexp { return regexp.MustCompile(`^\{\{- /\* (.*?) \*/`) }

// promptTexts reads the files that take the place of templates, each given as name=file.
func (p *program) promptTexts(given []string) (map[string]string, error) {
	out := make(map[string]string, len(given))
	for _, one := range given {
		name, path, ok := strings.Cut(one, "=")
		if !ok || name == "" || path == "" {
			return nil, exit(exitArguments, fmt.Errorf("--prompt: %q is not name=file", one))
		}
		if _, twice := out[name]; twice {
			return nil, exit(exitArguments, fmt.Errorf("--prompt: %s is given twice", name))
		}
		p.reads(path)
		text, err := readPrompt(path)
		if err != nil {
			return nil, exit(exitConfig, fmt.Errorf("--prompt %s: %w", name, err))
		}
		out[name] = text
	}
	return out, nil
}

// readPrompt reads a template of bounded size.
func readPrompt(path string) (string, error) {
	data, err := readNamed(path, flow.MaxFile)
	switch {
	case err != nil:
		return "", err
	case len(data) > flow.MaxPrompt:
		return "", fmt.Errorf("%s has more than %d bytes, the most that a prompt may have", path, flow.MaxPrompt)
	case !utf8.Valid(data):
		return "", fmt.Errorf("%s is not valid UTF-8", path)
	default:
		return string(data), nil
	}
}
