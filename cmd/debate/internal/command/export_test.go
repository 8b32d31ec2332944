package command

import (
	"context"
	"errors"
	"io"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// Tree returns the root of all commands.
func Tree() *cobra.Command { return (&program{}).tree() }

// Find returns the id that a name stands for in a store, and ShortID the short form of an id.
func Find(ctx context.Context, kept store.Store, name string) (string, error) {
	return find(ctx, kept, name, anyNewest())
}

func ShortID(id string) string { return shortID(id) }

// Unwritable reports whether a store that cannot be opened so may still be read.
func Unwritable(err error) bool { return unwritable(err) }

// ListTable writes the list of conversations for a terminal of so many columns; 0: for a pipe.
func ListTable(out io.Writer, width int, infos ...store.Info) error {
	found := make([]listed, len(infos))
	for i := range infos {
		found[i].Info = infos[i]
	}
	return (&program{System: System{Out: out}}).listTable(found, width, false)
}

// At says where a vendor is.
func At(system System, vendor string) string { return (&program{System: system}).at(vendor) }

// Finish ends the command that leads a session which has failed without a record.
func Finish(out io.Writer, session *debate.Session, err error) error {
	return (&leader{program: &program{System: System{Err: out}}, session: session}).finish(nil, err)
}

// BeginServer begins a session with an MCP server, and lists its tools.
func BeginServer(ctx context.Context, address string, transport sdk.Transport, say func(format string, args ...any)) error {
	_, _, err := new(toolFlags).begin(ctx, address, transport, say)
	return err
}

// Table writes rows for a terminal of so many columns.
func Table(out io.Writer, width int, rows ...[]any) error {
	t := &table{out: out, width: width}
	for _, row := range rows {
		t.row(row...)
	}
	return t.end()
}

// Page has a pager show a text, and reports whether there is one.
func Page(system System, text string) bool {
	return (&program{System: system}).page([]byte(text), system.Out)
}

// Read writes what events let people read on a terminal of so many columns, or into a pipe if columns is 0.
func Read(system System, columns int, events ...flow.Event) {
	p := &program{System: system, viewing: viewing{columns: columns}}
	r := p.reader(p.Out, func(id string) string { return id })
	for i := range events {
		r.event(&events[i])
	}
}

// Tables writes the lists of all models and templates for a terminal of so many columns; 0: for a pipe.
func Tables(out io.Writer, width int) error {
	var models []knownModel
	for name, model := range flow.KnownModels() {
		models = append(models, knownModel{name, model})
	}
	set, err := templates()
	if err != nil {
		return err
	}
	var prompts []listedPrompt
	for _, name := range set.Names() {
		prompts = append(prompts, promptOf(name, set.Text(name)))
	}
	onto := func() *table { return &table{out: out, width: width} }
	return errors.Join(modelTable(onto(), models), promptTable(onto(), prompts))
}
