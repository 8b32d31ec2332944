package deliberation

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// Role is the point of view of an agent: who it is, and what it looks at in each phase. It is data, and read only once
// a [Config] has it.
type Role struct {
	// Name is what Agent.Role refers to. It has 1 to 64 ASCII letters, digits, '-' and '_'.
	Name string `json:"name" redact:"-"`
	// Title is what people are shown, such as "Software architect".
	Title string `json:"title,omitempty"`
	// System says who the agent is. It ends the agent's system prompt, after the problem, the context and the
	// clarifications, which all prompts hold. Summaries of the agent's history are made without it.
	System string `json:"system"`
	// Propose, Critique, Refine and Summarize say what the role looks at in that phase. An empty one is taken from the
	// generalist.
	Propose   string `json:"propose,omitempty"`
	Critique  string `json:"critique,omitempty"`
	Refine    string `json:"refine,omitempty"`
	Summarize string `json:"summarize,omitempty"`
	// Source says where the texts come from: SourceBuiltIn or "". SHA256 is the hash of the Markdown that they were read
	// from, in hexadecimal digits. This package sets both, and JSON does not hold them. A host program that sets them, or
	// changes a text of a role that was read, makes the role one of the config's own ([SourceConfig]). So the source in a
	// record always has the text that the agent was given.
	Source string `json:"-"`
	SHA256 string `json:"-"`

	seal string // of all that was read, where and with which hash; "": it was made elsewhere
}

// sealed marks a role as it was read.
func sealed(r Role) Role {
	r.seal = r.print()
	return r
}

// print is a hash of the role, each part with its length before it.
func (r *Role) print() string {
	var all strings.Builder
	for _, part := range []string{r.Name, r.Title, r.System, r.Propose, r.Critique, r.Refine, r.Summarize, r.Source, r.SHA256} {
		fmt.Fprintf(&all, "%d:%s", len(part), part)
	}
	return flow.HashOf([]byte(all.String()))
}

// words is a hash of what an agent of the role is told.
func (r *Role) words() string {
	told := Role{Title: r.Title, System: r.System, Propose: r.Propose, Critique: r.Critique, Refine: r.Refine, Summarize: r.Summarize}
	return told.print()
}

// origin returns where the texts come from, and their hash: what was read, if it still is that, else the config.
func (r *Role) origin() (source, hash string) {
	if r.seal != "" && r.seal == r.print() {
		return cmp.Or(r.Source, SourceConfig), r.SHA256
	}
	return SourceConfig, flow.HashOf([]byte(r.System))
}

// SourceBuiltIn is the Source of what comes with this package.
const SourceBuiltIn = "built-in"

// maxPromptFile is the largest size of a role's Markdown, and of a prompt's file, in bytes: 64 KiB.
const maxPromptFile = 64 << 10

// The names of the built-in roles.
const (
	RoleArchitect    = "architect"
	RoleSecurity     = "security"
	RolePerformance  = "performance"
	RoleTesting      = "testing"
	RoleDataModeling = "data-modeling"
	RoleSimplicity   = "simplicity"
	RoleGeneralist   = "generalist"
)

//go:embed roles/*.md
var roleFiles embed.FS

// BuiltinRoles returns the roles of this package, in a fresh slice.
func BuiltinRoles() []Role {
	names := []string{
		RoleArchitect, RoleSecurity, RolePerformance, RoleTesting, RoleDataModeling, RoleSimplicity, RoleGeneralist,
	}
	roles := make([]Role, 0, len(names))
	for _, name := range names {
		data, err := roleFiles.ReadFile("roles/" + name + ".md")
		if err != nil {
			continue // it is embedded
		}
		if role, err := readSections(name, data); err == nil {
			role.Source = SourceBuiltIn
			roles = append(roles, sealed(role))
		}
	}
	return roles
}

// FindRole returns the role of that name: one of own, or else a built-in one. A role of own replaces a built-in role of
// the same name. Phases about which it says nothing are taken from the generalist. If the name is unknown, the error is
// a [flow.Error] of kind validation that lists the known names.
func FindRole(name string, own []Role) (Role, error) {
	all := append(slices.Clone(own), BuiltinRoles()...)
	var known []string
	for i := range all {
		if all[i].Name == name {
			return completed(all[i]), nil
		}
		if !slices.Contains(known, all[i].Name) {
			known = append(known, all[i].Name)
		}
	}
	return Role{}, invalidf("role", "role", "%w", flow.Unknown("role", name, known...))
}

// completed fills in what a role does not say.
func completed(r Role) Role {
	data, err := roleFiles.ReadFile("roles/" + RoleGeneralist + ".md")
	if err != nil {
		return r // it is embedded
	}
	if general, err := readSections(RoleGeneralist, data); err == nil {
		for _, title := range sectionTitles() {
			mine, its := r.section(title), general.section(title)
			*mine = cmp.Or(*mine, *its)
		}
	}
	r.Title = cmp.Or(r.Title, r.Name)
	return r
}

// ParseRole reads a role from Markdown:
//
//   - A first line "# Title" is its title.
//   - The text up to the first line that begins with "## " says who the agent is.
//   - The sections "## Propose", "## Critique", "## Refine" and "## Summarize", in any order, say what the role
//     looks at in that phase. A missing section is taken from the generalist.
//
// A text that is empty, too large or not UTF-8 is a [flow.Error] of kind validation whose Field names it. So is a
// section that is unknown, empty or repeated. Source stays empty.
func ParseRole(name string, data []byte) (Role, error) {
	role, err := readSections(name, data)
	if err != nil {
		return Role{}, err
	}
	return sealed(completed(role)), nil
}

// ReadPrompt reads a whole system prompt from a text file. It returns the text without white space around it, and where it comes from:
// the absolute path, and the file's hash. If the file is missing, empty, not UTF-8 or larger than 64 KiB, the error is a [flow.Error] of
// kind validation whose Field is the path.
func ReadPrompt(path string) (text string, from *Origin, err error) {
	data, source, err := readPromptFile(path)
	if err != nil {
		return "", nil, err
	}
	if text, err = promptText(data); err != nil {
		return "", nil, &flow.Error{Kind: provider.KindValidation, Op: "read prompt", Field: source, Err: err}
	}
	return text, &Origin{source, flow.HashOf(data), flow.HashOf([]byte(text))}, nil
}

// readPromptFile reads a file of bounded size. What is no file is not even opened: a pipe might never end.
func readPromptFile(path string) (data []byte, source string, err error) {
	const op = "read prompt"
	source, err = filepath.Abs(path)
	if err != nil {
		return nil, path, invalidf(op, path, "has no absolute form: %w", err)
	}
	if strings.TrimSpace(path) == "" {
		return nil, path, invalidf(op, "path", "is empty")
	}
	info, err := os.Stat(source)
	if err != nil {
		return nil, source, invalidf(op, source, "cannot be read: %w", withoutPath(err))
	}
	if !info.Mode().IsRegular() {
		return nil, source, invalidf(op, source, "is no file")
	}
	file, err := os.Open(source)
	if err != nil {
		return nil, source, invalidf(op, source, "cannot be read: %w", withoutPath(err))
	}
	defer func() { _ = file.Close() }() // it was only read
	data, err = io.ReadAll(io.LimitReader(file, maxPromptFile+1))
	if err != nil {
		return nil, source, invalidf(op, source, "cannot be read: %w", withoutPath(err))
	}
	return data, source, nil
}

// withoutPath returns what is behind an error of package os: the path is told already.
func withoutPath(err error) error {
	if failure, ok := errors.AsType[*fs.PathError](err); ok {
		return failure.Err
	}
	return err
}

// readSections takes a role's Markdown apart, and adds nothing.
func readSections(name string, data []byte) (Role, error) {
	if !roleName(name) {
		return Role{}, invalidf("read role", "name", "%.64q is not 1 to 64 ASCII letters, digits, '-' and '_'", name)
	}
	text, err := promptText(data)
	if err != nil {
		return Role{}, &flow.Error{Kind: provider.KindValidation, Op: "read role", Field: name, Err: err}
	}
	role := Role{Name: name, SHA256: flow.HashOf(data)}
	front, rest, _ := strings.Cut("\n"+text, "\n"+sectionMark)
	front = strings.TrimSpace(front)
	if title, ok := strings.CutPrefix(front, "# "); ok {
		title, front, _ = strings.Cut(title, "\n")
		role.Title, front = strings.TrimSpace(title), strings.TrimSpace(front)
	}
	if role.System = front; front == "" {
		return Role{}, invalidf("read role", name, "has no text before its first section: that text says who the agent is")
	}
	if rest == "" {
		return role, nil
	}
	for section := range strings.SplitSeq(rest, "\n"+sectionMark) {
		title, body, _ := strings.Cut(section, "\n")
		title, body = strings.TrimSpace(title), strings.TrimSpace(body)
		field := fmt.Sprintf("%s%.64s", sectionMark, title)
		into := role.section(title)
		switch {
		case into == nil:
			return Role{}, invalidf("read role", field, "is not a section of a role: the sections are %s", strings.Join(sectionTitles(), ", "))
		case *into != "":
			return Role{}, invalidf("read role", field, "is a duplicate")
		case body == "":
			return Role{}, invalidf("read role", field, "is empty: leave it out to have the generalist's")
		}
		*into = body
	}
	return role, nil
}

// sectionMark begins the line that begins a section.
const sectionMark = "## "

func sectionTitles() []string { return []string{"Propose", "Critique", "Refine", "Summarize"} }

// section returns the text under a title; nil: there is no such section.
func (r *Role) section(title string) *string {
	switch title {
	case "Propose":
		return &r.Propose
	case "Critique":
		return &r.Critique
	case "Refine":
		return &r.Refine
	case "Summarize":
		return &r.Summarize
	default:
		return nil
	}
}

// roleName reports whether a name can be told apart, typed and listed everywhere.
func roleName(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// promptText returns the text of a file: lines end as everywhere, and editors' marks are gone.
func promptText(data []byte) (string, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	switch {
	case len(data) > maxPromptFile:
		return "", fmt.Errorf("is larger than %d bytes", maxPromptFile)
	case !utf8.Valid(data):
		return "", errors.New("is not valid UTF-8")
	case bytes.IndexByte(data, 0) >= 0:
		return "", errors.New("holds a NUL character")
	}
	text := strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)))
	if text == "" {
		return "", errors.New("is empty")
	}
	return text, nil
}

// invalidf is a failure of kind validation that names what is wrong.
func invalidf(op, field, format string, args ...any) error {
	return &flow.Error{Kind: provider.KindValidation, Op: op, Field: field, Err: fmt.Errorf(format, args...)}
}
