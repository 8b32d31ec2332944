package settings

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/arbiter/agentfile"
	"github.com/agonist-dev/debate/flow"
)

// beside returns a path that is relative to a file.
func beside(file, path string) string {
	if file == "" || path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), filepath.FromSlash(path))
}

// promptsOf makes the paths of prompt files in a config relative to the file in which they stand.
func promptsOf(root *node) {
	all := append(slices.Clone(root.get("agents").list()), root.get("evaluators").list()...)
	for _, who := range append(all, root.get(keyJudge)) {
		if path := who.get("promptFile"); path != nil && path.form == formText {
			path.value = beside(path.File, path.value)
		}
	}
}

// fileGiven says how a config of this program has a file.
const fileGiven = "a file is given as documents: [{files: [{path: report.txt}]}], or by --file report.txt"

// ofFiles reports whether a field belongs to what a conversation has files in.
func ofFiles(field string) bool {
	return strings.HasPrefix(field, "documents") || strings.HasPrefix(field, "attachments")
}

// withoutBytes returns which files of a config have no bytes, by their fields.
func withoutBytes(config flow.Config) map[string]bool {
	out := make(map[string]bool)
	for field, file := range flow.Files(config) {
		out[field] = file.Data == nil && file.Hash == ""
	}
	return out
}

// attachments takes the paths of attached files out of a config: a config of the library holds bytes or a URL, for it may
// come from a user who must name no file of a server. The key "path" is this program's.
func (d *draft) attachments() {
	take := func(files *node, field string) {
		for i, file := range files.list() {
			if path := file.remove("path"); path != nil {
				d.attached = append(d.attached, attachment{field: fmt.Sprintf("%s[%d]", field, i), path: path})
			}
		}
	}
	take(d.root.get("attachments"), "attachments")
	for i, document := range d.root.get("documents").list() {
		take(document.get("files"), fmt.Sprintf("documents[%d].files", i))
	}
}

// attachment is a file that belongs to a config.
type attachment struct {
	field string
	path  *node  // nil: its bytes are known
	data  []byte // those of a path are read once the config is decoded
}

// attach reads the attached files into the config.
func (d *draft) attach(config flow.Config) {
	filed, ok := config.(flow.Filed)
	if !ok || len(d.attached) == 0 {
		return
	}
	for field, file := range filed.Files() {
		for _, a := range d.attached {
			if a.field != field {
				continue
			}
			if a.path == nil {
				file.Data = a.data
				continue
			}
			if a.path.form != formText {
				d.wrong.addf(a.path.Place, "is %s, not a text", a.path.form)
				d.cut = append(d.cut, a.path.Path)
				continue
			}
			path := beside(a.path.File, a.path.value)
			data, err := ReadFile(path, flow.MaxFile)
			if err != nil {
				d.wrong.addf(a.path.Place, "%s %w", path, err)
				d.cut = append(d.cut, a.path.Path) // that it has no bytes follows from it
				continue
			}
			file.Data = data
			if file.Name == "" {
				file.Name = filepath.Base(path)
			}
		}
	}
}

// agentFolder adds the agents of a folder to those of the config: the folder of --agent-dir, or that of the key "agentDir",
// which is this program's.
func (d *draft) agentFolder(w *Wish) {
	var folder *node
	if d.flow == arbiter.FlowName {
		folder = d.root.remove("agentDir")
	}
	if w.AgentDir != "" && d.only("agent-dir", arbiter.FlowName) {
		folder = textNode(flag("agent-dir"), w.AgentDir)
	}
	if folder == nil {
		return
	}
	if folder.form != formText {
		d.wrong.addf(folder.Place, "is %s, not a text", folder.form)
		return
	}
	path := beside(folder.File, folder.value)
	if info, err := os.Stat(path); err != nil {
		d.wrong.addf(folder.Place, "%s %w", path, cause(err))
		return
	} else if !info.IsDir() {
		d.wrong.addf(folder.Place, "%s is no folder", path)
		return
	}
	agents, err := agentfile.Load(os.DirFS(path))
	for _, one := range each(err) {
		d.wrong = append(d.wrong, inFolder(path, one))
	}
	if err != nil {
		return
	}
	files := agentFiles(path, agents)
	d.agents = slices.Collect(maps.Values(files))
	list := d.root.get("agents")
	if list == nil {
		list = &node{form: formList, Place: folder.Place}
	}
	model := d.defaultModel(w)
	for i := range agents {
		at := Place{File: cmp.Or(files[agents[i].Name], path), Path: agents[i].Name}
		if agents[i].Model == "" && model != "" {
			agents[i].Model = model
			d.notes = append(d.notes, fmt.Sprintf("%s: the agent %s names no model: it is %s", path, agents[i].Name, model))
		}
		list.items = append(list.items, nodeOf(at, agents[i]))
	}
	d.root.set("agents", list)
}

// agentFiles returns the file of each agent of a folder, which has one agent in each Markdown file, in the order of their names.
func agentFiles(folder string, agents []arbiter.Agent) map[string]string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool {
		return e.IsDir() || !strings.EqualFold(filepath.Ext(e.Name()), ".md")
	})
	if len(entries) != len(agents) { // it has changed meanwhile
		return nil
	}
	out := make(map[string]string)
	for i := range agents {
		out[agents[i].Name] = filepath.Join(folder, entries[i].Name())
	}
	return out
}

// inFolder places an error of package agentfile, which names the file, the line and mostly the column in its operation.
func inFolder(folder string, err error) *Error {
	failure, ok := errors.AsType[*flow.Error](err)
	if !ok {
		return &Error{Place{File: folder}, err}
	}
	name, where, _ := strings.Cut(failure.Op, ":")
	at := Place{File: filepath.Join(folder, name), Path: failure.Field}
	line, column, _ := strings.Cut(where, ":")
	if at.Line, err = strconv.Atoi(line); err == nil {
		if at.Column, err = strconv.Atoi(column); err != nil { // only the line is known
			at.Column = 1
		}
	}
	return &Error{at, failure.Err}
}
