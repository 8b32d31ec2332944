package flow

import (
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/internal/transcript"
	"github.com/agonist-dev/debate/provider"
)

// papers are messages with files that come before the conversation in a request. They are read only.
type papers struct {
	messages []provider.Message
	bound    int // of their tokens
}

// add adds a message with files. Its text names them, because not every vendor shows a model the names.
func (p *papers) add(m provider.Message, load int) {
	p.messages = append(p.messages, m)
	p.bound += transcript.Bound(&m) + load
}

// readDocuments makes the messages of the documents.
func (r *Record) readDocuments() {
	for i := range r.terms.Documents {
		d := &r.terms.Documents[i]
		parts, names, load := r.carried(d.Parts)
		title := "Files that belong to the topic: "
		if d.Name != "" {
			title = "Document \"" + d.Name + "\": "
		}
		r.papers.add(provider.Message{Text: text.Escape(title+names, r.fence), Fence: r.fence, Parts: parts}, load)
	}
}

// carried returns files as a message carries them, their names, and a bound of their tokens.
func (r *Record) carried(files []File) (parts []provider.Part, names string, load int) {
	shown := make([]string, len(files))
	for i := range files {
		parts = append(parts, files[i].Part())
		shown[i] = files[i].String()
		load += files[i].tokens()
		images, _ := files[i].units()
		r.images += images
	}
	return parts, strings.Join(shown, " "), load
}

// attached returns the text of a turn as others read it, with the names of its files, the files, and a bound of their tokens.
// Calls that read no view read the turn as well, because it has files.
func (r *Record) attached(t *Turn) (content string, parts []provider.Part, load int) {
	if len(t.Parts) == 0 {
		return t.Text, nil, 0
	}
	parts, names, load := r.carried(t.Parts)
	content = t.Text + "\n" + names
	r.handed.add(provider.Message{Speaker: t.Speaker, Text: text.Escape(content, r.fence), Fence: r.fence, Parts: parts}, load)
	return content, parts, load
}

// papersOf returns what comes before the conversation in the request of a call: the documents, and for a call that reads no
// view the turns with files.
func (r *Record) papersOf(call *Call) papers {
	if call.Performer != ByModel || !call.View.None || call.span != nil || len(r.handed.messages) == 0 {
		return r.papers
	}
	return papers{slices.Concat(r.papers.messages, r.handed.messages), r.papers.bound + r.handed.bound}
}

// surplus bounds the tokens that a model takes for images and pages beyond what the bounds of all models hold.
func (r *Record) surplus(m Model) int { return r.images * max(0, m.ImageTokens-imageTokens) }

// tokensOfImage returns the most tokens that an image takes if a model is known to take more than others: GPT-4o mini takes
// 2,833 and 5,667 for each of at most 8 tiles.
func tokensOfImage(id string) int {
	if strings.Contains(id, "gpt-4o-mini") {
		return 2833 + 8*5667
	}
	return 0
}

// maxNamed bounds the bytes of the names of files in a note.
const maxNamed = 400

// namesOfParts names files that are left out.
func namesOfParts(parts []provider.Part) string {
	shown := make([]string, len(parts))
	for i := range parts {
		f := File{Type: parts[i].Type, Name: parts[i].Name, Hash: parts[i].Hash}
		shown[i] = f.String()
	}
	return text.OneLine(strings.Join(shown, " "), maxNamed-60)
}
