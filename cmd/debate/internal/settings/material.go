package settings

import (
	"fmt"
	"strings"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
)

// Text is a text that belongs to what a conversation is about.
type Text struct{ Name, Text string }

// material adds what belongs to the problem: texts to the context of a deliberation, behind the task of arbitrated work, and as documents
// of a debate; images and PDFs as attachments.
func (d *draft) material(w *Wish) {
	at := flag("file")
	switch d.flow {
	case debate.FlowName:
		for _, text := range w.Texts {
			all, files, document := d.list("documents", at), &node{form: formList, Place: at}, objectNode(at)
			d.fill(files, fmt.Sprintf("documents[%d].files", len(all.items)), at,
				flow.File{Name: text.Name[strings.LastIndexByte(text.Name, '/')+1:], Data: []byte(text.Text)})
			document.set(keyName, textNode(at, text.Name))
			document.set("files", files)
			all.items = append(all.items, document)
		}
	case arbiter.FlowName:
		d.extend(subject(d.flow), w.Texts, at)
	default:
		d.extend("context", w.Texts, at)
	}
	for _, file := range w.Files {
		d.fill(d.list("attachments", at), "attachments", at, file)
	}
}

// extend adds texts to that of a key, each under its name.
func (d *draft) extend(key string, texts []Text, at Place) {
	said := d.root.get(key)
	if len(texts) == 0 || said != nil && said.form != formText { // the flow says what is wrong with it
		return
	}
	var parts []string
	if said != nil {
		parts, at = append(parts, strings.TrimRight(said.value, "\n")), said.Place
	}
	for _, text := range texts {
		parts = append(parts, "## "+text.Name, strings.TrimRight(text.Text, "\n"))
	}
	d.root.set(key, textNode(at, strings.Join(parts, "\n\n")))
}

// fill adds a file to a list, and keeps its bytes for attach.
func (d *draft) fill(list *node, field string, at Place, file flow.File) {
	entry := objectNode(at)
	entry.set(keyName, textNode(at, file.Name))
	d.attached = append(d.attached, attachment{field: fmt.Sprintf("%s[%d]", field, len(list.items)), data: file.Data})
	list.items = append(list.items, entry)
}

// list returns the list of the config under a key. If there is none, it makes one.
func (d *draft) list(key string, at Place) *node {
	if list := d.root.get(key); list != nil {
		return list
	}
	list := &node{form: formList, Place: at}
	d.root.set(key, list)
	return list
}
