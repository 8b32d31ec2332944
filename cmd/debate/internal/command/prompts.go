package command

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

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

// listPrompts lists the templates of the library, or prints one.
func (p *program) listPrompts() *cobra.Command {
	return &cobra.Command{
		Use: "prompts [name]", Short: "List the templates of what models are asked, or print one",
		Long: `List the templates of what models are asked, with whose they are and what each
is for, or print the text of one. They are in the language of Go's
text/template. The comment on top names what a template sees: the fields of
that type in https://pkg.go.dev/github.com/agonist-dev/debate/prompt. A copy
that you have changed takes the place of one with --prompt name=file, or under
the key prompts of a config. That page also says what may stand in it: values,
conditions and lists, but no {{define}} and few functions.`,
		Example: `  debate prompts
  debate prompts judge > judge.tmpl
  debate "Is it safe?" --flow debate --prompt judge=judge.tmpl`,
		Args: arguments(cobra.MaximumNArgs(1)),
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return none()
			}
			return beginning(promptNames(), begun), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := templates()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return p.showPrompts(set)
			}
			text := set.Text(args[0])
			if text == "" {
				return exit(exitArguments, flow.Unknown("template", args[0], set.Names()...))
			}
			if p.json {
				return p.printValue(promptOf(args[0], text))
			}
			_, err = fmt.Fprintln(p.Out, strings.TrimRight(text, "\n"))
			return err
		},
	}
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

func (p *program) showPrompts(set *prompt.Set) error {
	all := []listedPrompt{}
	for _, name := range set.Names() {
		all = append(all, promptOf(name, set.Text(name)))
	}
	if p.json {
		return p.printValue(all)
	}
	t := newTable(p.Out)
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
	if found := described().FindStringSubmatch(text); found != nil {
		what, _, _ := strings.Cut(found[1], ". ")
		out.What = strings.TrimSuffix(what, ".")
	}
	return out
}

func described() *regexp.Regexp { return regexp.MustCompile(`^\{\{- /\* (.*?) \*/`) }

// promptTexts reads the files that take the place of templates, each given as name=file.
func promptTexts(given []string) (map[string]string, error) {
	out := make(map[string]string, len(given))
	for _, one := range given {
		name, path, ok := strings.Cut(one, "=")
		if !ok || name == "" || path == "" {
			return nil, exit(exitArguments, fmt.Errorf("--prompt: %q is not name=file", one))
		}
		if _, twice := out[name]; twice {
			return nil, exit(exitArguments, fmt.Errorf("--prompt: %s is given twice", name))
		}
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
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(file, flow.MaxPrompt+1))
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
