package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
	"github.com/agonist-dev/debate/store"
)

// beginnings are the commands with which other programs begin a conversation.
func beginnings() []string { return []string{"debate", "run", "new", "start", "ask", "chat"} }

// others has, by the word of another program or of an earlier form of this one, what is done here.
func others() map[string]string {
	out := make(map[string]string)
	for words, said := range map[string]string{
		strings.Join(beginnings(), " "): `debate "the problem" begins a conversation`,
		"browser gui ui web":            "debate serve shows the conversations in a browser",
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
		} else if name := nearest(c, word); name != "" && word == strings.ToLower(word) { // a sentence begins otherwise
			err = fmt.Errorf("there is no command %q; did you mean %s?", word, progress.Command(name, args[1:]...))
		}
		return exit(exitArguments, err)
	}
}

// meant returns the arguments of a conversation that is to start. A problem that is the name of a file, or looks like a command, a flag or
// an id, may be a mistake, which would be paid for: a person is asked, and elsewhere the error says what to type.
func (p *program) meant(c *cobra.Command, args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, p.bare(c)
	}
	problem := args[0]
	words := strings.Fields(problem)
	if len(words) == 0 || problem == "-" || c.ArgsLenAtDash() == 0 || c.Flags().Changed("problemDescription") {
		return args, nil
	}
	about := "debate -- " + progress.Quote(problem) + " is about "
	if len(words) > 1 {
		about += "these words"
	} else {
		about += "this word"
		if said := others()[words[0]]; said != "" {
			return nil, exit(exitArguments, fmt.Errorf("there is no command %q: %s\n%s", words[0], said, about))
		}
		if info, err := os.Stat(problem); err == nil {
			return p.fileMeant(c, args, info.IsDir(), about)
		}
	}
	what, help := p.mistaken(c, problem, words)
	if what == "" {
		return args, nil
	}
	return args, p.sure(c, fmt.Sprintf("Is the problem %s, and not %s?", progress.Quote(problem), what), fmt.Errorf("%s\n%s", help, about))
}

// mistaken returns what a problem of these words may be in truth, and what helps; "": it is no mistake.
func (p *program) mistaken(c *cobra.Command, problem string, words []string) (what, help string) {
	const dashes = "‐‑‒–—―−" // with which a word processor replaces those of a flag
	word, name := words[0], nearest(c, words[0])
	begun, _ := utf8.DecodeRuneInString(word)
	switch {
	case strings.ContainsRune(dashes, begun):
		return "a flag", fmt.Sprintf("%s begins with %c, and a flag with -", word, begun)
	case len(words) > 2, len(words) == 2 && (name == "" || !p.operand(c.Context(), words[1])): // a sentence
		return "", ""
	case name != "":
		return "the command " + name, fmt.Sprintf("there is no command %q; did you mean %s?", problem, progress.Command(name, words[1:]...))
	case p.operand(c.Context(), word):
		return "the conversation", fmt.Sprintf("%s is the id of a conversation: %s prints it, and %s continues it",
			word, progress.Command("show", word), progress.Command("resume", word))
	case strings.Contains(word, "/"), len(filepath.Ext(word)) > 1:
		return "a file", fmt.Sprintf("there is no file %s: debate -p FILE reads a problem", word)
	case !strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		return "a question about the program", "debate --help says what can be typed"
	default:
		return "", ""
	}
}

// leastID is how many characters of an id are taken for one.
const leastID = 4

// operand reports whether a word is a flag, "last", a name of a stored conversation, or what ids look like.
func (p *program) operand(ctx context.Context, word string) bool {
	hexadecimal := len(word) == shortLength && strings.Trim(word, "0123456789abcdef") == ""
	switch {
	case strings.HasPrefix(word, "-"), word == newest, shortID(word) != word, hexadecimal && strings.ContainsAny(word, "0123456789"):
		return true
	case len(word) < leastID || store.CheckID(word) != nil:
		return false
	}
	kept, closing, err := p.openStore(ctx)
	if err != nil {
		return false // the conversation that is to start fails with it
	}
	defer closing()
	found, err := candidates(ctx, kept, word)
	return err == nil && len(found) > 0
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
	yes, err := p.yes(c.Context(), fmt.Sprintf("Is the problem in the file %s?", path), true)
	if err != nil || !yes {
		return args, err
	}
	return nil, c.Flags().Set("problemDescription", path)
}

// sure asks a person. If nobody can be asked, or the answer is no, the error is said.
func (p *program) sure(c *cobra.Command, question string, said error) error {
	if !p.interactive() {
		return exit(exitArguments, said)
	}
	switch yes, err := p.yes(c.Context(), question, false); {
	case err != nil:
		return err
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

// nearest returns the command whose name, or another name of it, is a word or one slip of the fingers away from it, in whatever case; "":
// there is none. The two letters of a short name may only have changed places: too many words differ from it in one.
func nearest(c *cobra.Command, word string) string {
	word = strings.ToLower(word)
	for _, one := range c.Root().Commands() {
		for _, name := range append([]string{one.Name()}, one.Aliases...) {
			exchanged := len(word) == 2 && strings.IndexByte(name, word[1]) == 0 && strings.IndexByte(name, word[0]) == 1
			if name == word || near(name, word) && (len(name) > 2 || exchanged) {
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
