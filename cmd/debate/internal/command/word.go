package command

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
)

// beginnings are the commands with which other programs begin a conversation.
func beginnings() []string { return []string{"debate", "run", "new", "start", "ask", "chat"} }

// others has, by the word of another program or of an earlier form of this one, what is done here.
func others() map[string]string {
	out := make(map[string]string)
	for words, said := range map[string]string{
		strings.Join(beginnings(), " "): `debate "the problem" begins a conversation`,
		"cancel":                        "debate stop ID --no-result ends a conversation without a result",
		"config agents":                 "debate check FILE checks a config, and says who takes part",
		"configure init setup login auth doctor": "a key is set in the environment, such as OPENAI_API_KEY, " +
			"and debate check says which one is missing",
		"force-agent":                        "debate amend ID --next AGENT lets an agent act next",
		"graph":                              "debate report ID has the course of a conversation",
		"kill end exit quit":                 "debate stop ID ends a conversation",
		"mcp":                                "debate --mcp SERVER offers the tools of an MCP server",
		"open view info log logs cost usage": "debate show ID shows a conversation and its cost",
		"prompts":                            "debate check --prompts lists the prompts",
		"rerun-step":                         "debate amend ID --rerun STEP has a step done again",
		"search find sessions":               "debate list shows the conversations, and with --text those that contain a text",
		"skip-step":                          "debate amend ID --skip STEP leaves out a step",
		"version update upgrade":             "debate --version prints the version; the program is updated as it was installed",
	} {
		for word := range strings.FieldsSeq(words) {
			out[word] = said
		}
	}
	return out
}

// begun drops the word with which other programs begin a conversation, if a problem or a command follows it.
func begun(args []string) []string {
	operand := func(arg string) bool { return arg == "-" || !strings.HasPrefix(arg, "-") }
	if len(args) > 1 && slices.Contains(beginnings(), args[0]) && slices.ContainsFunc(args[1:], operand) {
		return args[1:]
	}
	return args
}

// oneProblem refuses several arguments of the command debate that check refuses, and says what may have been meant.
func oneProblem(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < 2 || check(c, args) == nil {
			return nil
		}
		word, whole := args[0], progress.Quote(strings.Join(args, " "))
		err := fmt.Errorf("the problem is one argument: debate %s", whole)
		if c.ArgsLenAtDash() == 0 {
			word = ""
		}
		if said := others()[word]; said != "" {
			err = fmt.Errorf("there is no command %q: %s\ndebate -- %s is about these words", word, said, whole)
		} else if name := nearest(c, word); name != "" {
			err = fmt.Errorf("there is no command %q; did you mean %s?", word, progress.Command(name, args[1:]...))
		}
		return exit(exitArguments, err)
	}
}

// meant returns the arguments of a conversation that is to start. A problem of one word that is the name of a file, or looks like a
// command, may be a mistake, which would be paid for: a person is asked, and elsewhere the error says what to type.
func (p *program) meant(c *cobra.Command, args []string) ([]string, error) {
	switch {
	case len(args) == 0:
		return nil, p.bare(c)
	case c.ArgsLenAtDash() == 0 || args[0] == "-" || strings.ContainsAny(args[0], " \t\r\n") || c.Flags().Changed("problemDescription"):
		return args, nil
	}
	word := args[0]
	about := "debate -- " + progress.Quote(word) + " is about this word"
	if said := others()[word]; said != "" {
		return nil, exit(exitArguments, fmt.Errorf("there is no command %q: %s\n%s", word, said, about))
	}
	if info, err := os.Stat(word); err == nil {
		return p.fileMeant(c, args, info.IsDir(), about)
	}
	name := nearest(c, word)
	if name == "" {
		return args, nil
	}
	said := fmt.Errorf("there is no command %q; did you mean debate %s?\n%s", word, name, about)
	return args, p.sure(c, fmt.Sprintf("Is the problem the word %s, and not the command %s?", word, name), said)
}

// fileMeant returns the arguments if the problem is the name of a file or folder.
func (p *program) fileMeant(c *cobra.Command, args []string, folder bool, about string) ([]string, error) {
	path, name := args[0], progress.Quote(args[0])
	if folder {
		said := fmt.Errorf(`%s is a folder: debate --file %s "…" reads it beside a problem`+"\n%s", path, name, about)
		return args, p.sure(c, fmt.Sprintf("Is the problem the word %s, and not the folder?", path), said)
	}
	if !p.interactive() {
		return nil, exit(exitArguments, fmt.Errorf("%s is a file: debate -p %s reads it\n%s", path, name, about))
	}
	ctx, stop := p.interruptible(c.Context())
	defer stop()
	yes, err := p.yes(ctx, fmt.Sprintf("Is the problem in the file %s?", path), true)
	if err != nil || !yes {
		return args, interruption(ctx, err)
	}
	return nil, c.Flags().Set("problemDescription", path)
}

// sure asks a person. If nobody can be asked, or the answer is no, the error is said.
func (p *program) sure(c *cobra.Command, question string, said error) error {
	if !p.interactive() {
		return exit(exitArguments, said)
	}
	ctx, stop := p.interruptible(c.Context())
	defer stop()
	switch yes, err := p.yes(ctx, question, false); {
	case err != nil:
		return interruption(ctx, err)
	case !yes:
		return exit(exitArguments, said)
	default:
		return nil
	}
}

// bare says how the program is used if nothing was typed but the name of the program, and no config says what the problem is.
func (p *program) bare(c *cobra.Command) error {
	if c.Flags().NFlag() > 0 || !terminal(p.In) {
		return nil
	}
	if source, err := settings.Open(""); err != nil || source.Subject() != "" {
		return nil //nolint:nilerr // the conversation that is to start fails with it
	}
	writeUsage(p.Err, c.Root())
	_, _ = fmt.Fprint(p.Err, "\ndebate --help shows the commands and flags.\n")
	return exit(exitArguments, nil)
}

// nearest returns the command whose name, or another name of it, is one slip of the fingers away from a word in lower case; "": there is
// none. Names of two letters have no neighbours: too many words are.
func nearest(c *cobra.Command, word string) string {
	if word != strings.ToLower(word) {
		return ""
	}
	for _, one := range c.Root().Commands() {
		for _, name := range append([]string{one.Name()}, one.Aliases...) {
			if len(name) > 2 && near(name, word) {
				return one.Name()
			}
		}
	}
	return ""
}

// near reports whether two words differ by one letter that is missing, added, wrong, or in the place of its neighbour.
func near(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch {
	case a == b || len(b)-len(a) > 1:
		return false
	case len(a) < len(b):
		return a[i:] == b[i+1:]
	case a[i+1:] == b[i+1:]:
		return true
	default:
		return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	}
}
