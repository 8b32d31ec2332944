package flow

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/media"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/internal/transcript"
	"github.com/agonist-dev/debate/provider"
)

// Bounds of the files of one conversation. The sum is what a request of any vendor can carry: Gemini takes 20 MB of
// inline data, and Anthropic 32 MB in a request, in base64.
const (
	MaxFile  = 10 << 20 // bytes of one file
	MaxFiles = 14 << 20 // bytes of all files of a conversation, each mention counted: 19 MiB in base64

	maxFileCount = 64 // files of a conversation
	maxFileName  = 128
	maxFileType  = 100
	maxFileURL   = 2000
)

// File is an image, a PDF or another file that requests carry. The host program gives the bytes in Data, or a URL that
// Engine.Fetch reads. The start replaces both: it stores the bytes as a blob of the conversation, and the log holds the
// name, the type, the hash and the size. A File with a Hash and without Data refers to bytes that another file of the config
// has, or to a blob that the store has. What it says of them must be true.
//
// In JSON, Data is base64. No path is read: a config may come from a user, who must not name files of the server. Its
// [Settings].Prompts may not.
type File struct {
	// Name is the name of the file, without a folder: at most 128 printable bytes. It may be empty.
	Name string `json:"name,omitempty"`
	// Type is the media type, such as "image/png". If it is empty, the start sets the type that the bytes show.
	Type string `json:"type,omitempty" redact:"-"`
	// Hash is the SHA-256 of the bytes, in lower-case hexadecimal digits. Size is their number. Pages is the number of pages of
	// a PDF: 100 at least, if a part of the PDF cannot be read. The start sets all three.
	Hash  string `json:"hash,omitempty" redact:"-"`
	Size  int    `json:"size,omitempty"`
	Pages int    `json:"pages,omitempty"`
	// URL is where Engine.Fetch finds the bytes. No vendor gets it. A File with a Hash is not fetched. The start keeps the
	// scheme, the host and the path: a user or a query may hold a password or a signature.
	URL string `json:"url,omitempty"`
	// Data are the bytes, at most MaxFile. No log holds them. The caller must not change them afterwards.
	Data []byte `json:"data,omitempty"`
}

// Document is something that everybody who is asked in a conversation reads.
type Document struct {
	// Name is what the document is called in prompts, at most 128 printable bytes.
	Name string `json:"name,omitempty"`
	// Files are its files, at least one.
	Files []File `json:"files"`
}

// Filed is a [Config] with files, implemented by the pointer that Flow.Normalize returns. Files yields each of them with its
// field, such as "documents[0].files[0]". The start writes to them. Settings.Documents holds the same files.
type Filed interface {
	Config
	Files() iter.Seq2[string, *File]
}

// Files yields the files of a config, or nothing if it is not [Filed].
func Files(c Config) iter.Seq2[string, *File] {
	if filed, ok := Unnamed(c).(Filed); ok {
		return filed.Files()
	}
	return func(func(string, *File) bool) {}
}

// EachFile yields attachments and the files of documents with their fields, as [Filed] does.
func EachFile(attachments []File, documents []Document) iter.Seq2[string, *File] {
	return func(yield func(string, *File) bool) {
		for i := range attachments {
			if !yield(fmt.Sprintf("attachments[%d]", i), &attachments[i]) {
				return
			}
		}
		for i := range documents {
			for k := range documents[i].Files {
				if !yield(fmt.Sprintf("documents[%d].files[%d]", i, k), &documents[i].Files[k]) {
					return
				}
			}
		}
	}
}

// TopicDocuments returns the documents for the [Settings] of a config: first one without a name that holds the attachments, which
// belong to the topic, then the documents of the config.
func TopicDocuments(attachments []File, documents []Document) []Document {
	if len(attachments) == 0 {
		return documents
	}
	return append([]Document{{Files: attachments}}, documents...)
}

// CloneDocuments returns a copy. The bytes of the files are shared: they are read only.
func CloneDocuments(documents []Document) []Document {
	documents = slices.Clone(documents)
	for i := range documents {
		documents[i].Files = slices.Clone(documents[i].Files)
	}
	return documents
}

// partOf returns the file as requests carry it, without its bytes.
func partOf(f *File) provider.Part { return provider.Part{Type: f.Type, Name: f.Name, Hash: f.Hash} }

// String returns the file as transcripts show it: "[image: chart.png]".
func (f *File) String() string {
	what := "file"
	switch provider.MediaAbility(f.Type) {
	case provider.AbilityImage:
		what = "image"
	case provider.AbilityPDF:
		what = "PDF"
	}
	name := f.Name
	if name == "" && len(f.Hash) >= shownHash {
		name = f.Hash[:shownHash]
	}
	return "[" + what + ": " + strings.Map(plainRune, name) + "]"
}

// shownHash is how many digits of a hash stand for a file without a name.
const shownHash = 12

// plainRune keeps the brackets that enclose a name its own.
func plainRune(r rune) rune {
	if r == '[' || r == ']' {
		return '_'
	}
	return r
}

// The tokens of files, in the worst case. They are counted against windows, and reserved in budgets.
//
//   - An image: OpenAI's models with tiles take at most 85 + 8 × 170 = 1,445 tokens, those with patches at most 1,536 of
//     them times 2.46; Anthropic's take 1,568, and 4,784 in high resolution; Gemini's 2,240. Model.ImageTokens has what is
//     more.
//   - A page of a PDF: Anthropic names 1,500 to 3,000 tokens of text a page, beside its image of up to 1,568.
//   - Text: no tokenizer makes more tokens than there are bytes.
//   - Other files, such as those of office programs: they are compressed, mostly to no less than an eighth.
const (
	imageTokens = 5000 // of an image, and of a page
	otherTokens = 8    // of a byte of a file that is neither text, image nor PDF
)

// unitsOf returns how many images or pages a file has, and the tokens of what is neither.
func unitsOf(f *File) (images, tokens int) {
	switch provider.MediaAbility(f.Type) {
	case provider.AbilityImage:
		return 1, 0
	case provider.AbilityPDF:
		return max(1, f.Pages), 0
	}
	if f.IsText() {
		return 0, f.Size
	}
	return 0, otherTokens * f.Size
}

// IsText reports whether the file is text: its type is one of text, JSON or XML. Quotations from it can be checked, and models that read no
// files get the text itself.
func (f *File) IsText() bool {
	return strings.HasPrefix(f.Type, "text/") || f.Type == "application/json" || f.Type == "application/xml"
}

// HashOf returns the hash of bytes as a [File] has it.
func HashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Described returns a file with the bytes given: with their type if it had none, their hash, their size, their number of
// pages, and without Data. The error says why the bytes cannot be those of the file.
func (f *File) Described(data []byte) (File, error) {
	out := *f
	out.Data, out.Hash, out.Size = nil, HashOf(data), len(data)
	shown := media.TypeOf(data)
	switch {
	case len(data) == 0:
		return out, errors.New("the file is empty")
	case len(data) > MaxFile:
		return out, fmt.Errorf("the file has %d bytes: at most %d are allowed", len(data), MaxFile)
	case f.Hash != "" && f.Hash != out.Hash:
		return out, errors.New("the bytes of the file have another hash")
	case f.Size != 0 && f.Size != out.Size:
		return out, fmt.Errorf("the file has %d bytes, not %d", out.Size, f.Size)
	case f.Type == "" && shown == "":
		return out, errors.New("the type of the file cannot be detected: set it")
	case f.Type == "":
		out.Type = shown
	case media.Signed(f.Type) && f.Type != shown:
		return out, fmt.Errorf("the file is no %s: it does not begin like one", text.OneLine(f.Type, 40))
	case media.Signed(shown) && f.Type != shown:
		return out, fmt.Errorf("the file is %s, not %s", shown, text.OneLine(f.Type, 40))
	}
	if out.Type == media.PDF {
		out.Pages = media.Pages(data)
	}
	if f.Pages != 0 && f.Pages != out.Pages {
		return out, fmt.Errorf("the PDF has %d pages, not %d", out.Pages, f.Pages)
	}
	return out, nil
}

// IsHash reports whether a text is a hash as a [File] has it.
func IsHash(hash string) bool { return fileHash.MatchString(hash) }

var (
	fileHash = regexp.MustCompile(`^[0-9a-f]{64}$`)
	fileType = regexp.MustCompile(`^[a-z]+/[a-z0-9][a-z0-9.+-]*$`)
)

// fileProblem returns what no log accepts of a file, with the name of the field; "": all is accepted.
func fileProblem(f *File) (field, why string) {
	switch {
	case len(f.Data) > 0:
		return "data", "is not stored as a blob"
	case len(f.Name) > maxFileName || f.Name != "" && !Registrable(f.Name) || strings.ContainsAny(f.Name, `/\`):
		return "name", fmt.Sprintf("is not one line of at most %d bytes that print, without a folder", maxFileName)
	case len(f.Type) > maxFileType || !fileType.MatchString(f.Type):
		return "type", "is no media type in small letters, without parameters"
	case strings.HasPrefix(f.Type, "image/") && !media.Signed(f.Type):
		return "type", "is no image that models read: they read PNG, JPEG, GIF and WebP"
	case !IsHash(f.Hash):
		return "hash", "is no SHA-256 in lower-case hexadecimal digits"
	case f.Size < 1 || f.Size > MaxFile:
		return "size", fmt.Sprintf("is not from 1 to %d bytes", MaxFile)
	case f.Pages < 0 || f.Pages > media.MostPages || (f.Pages > 0) != (f.Type == media.PDF):
		return "pages", fmt.Sprintf("is not from 1 to %d for a PDF, and 0 for any other file", media.MostPages)
	case len(f.URL) > maxFileURL || strings.ContainsFunc(f.URL, text.NotPrinted):
		return "url", fmt.Sprintf("is not one line of at most %d bytes that print", maxFileURL)
	default:
		return "", ""
	}
}

// documents checks Settings.Documents.
func (f *Findings) documents(all []Document) {
	count, size := 0, 0
	for i := range all {
		count += len(all[i].Files)
	}
	if count > maxFileCount || len(all) > maxFileCount {
		f.Addf("documents", "have more than %d files", maxFileCount)
		return
	}
	for i := range all {
		d, at, files := &all[i], documentField(all, i), fieldAttachments
		if at != "" {
			files = at + "files"
			if len(d.Name) > maxFileName || !Registrable(d.Name) || strings.ContainsAny(d.Name, "<>") {
				f.Addf(at+"name", "is not one line of 1 to %d bytes that print, without '<' and '>'", maxFileName)
			}
		}
		if len(d.Files) == 0 {
			f.Addf(files, "is empty")
		}
		for k := range d.Files {
			if field, why := fileProblem(&d.Files[k]); why != "" {
				f.Addf(fmt.Sprintf("%s[%d].%s", files, k, field), "%s", why)
			}
			size += max(0, d.Files[k].Size)
		}
	}
	if size > MaxFiles {
		f.Addf("documents", "have files of %d bytes: at most %d are allowed", size, MaxFiles)
	}
}

// documentField returns how the fields of a document begin in a config: the first one without a name is the topic's.
func documentField(all []Document, i int) string {
	topic := len(all) > 0 && all[0].Name == ""
	switch {
	case topic && i == 0:
		return ""
	case topic:
		i--
	}
	return fmt.Sprintf("documents[%d].", i)
}

// Files returns the files that the conversation's requests may carry, in the order in which they came. Files of the same
// type, hash, size and number of pages come once. A hash may come twice: a log may describe the same bytes in two ways.
func (r *Record) Files() []File {
	var out []File
	if r.settings != nil {
		out = DocumentFiles(r.settings.Documents)
	}
	for _, t := range r.Turns {
		out = appendFiles(out, t.Attachments)
	}
	return out
}

// DocumentFiles returns the files of documents, as [Record.Files] does.
func DocumentFiles(all []Document) []File {
	var out []File
	for i := range all {
		out = appendFiles(out, all[i].Files)
	}
	return out
}

// LogFiles returns the files that a log refers to, as [Record.Files] does.
func LogFiles(events []Event) []File {
	var out []File
	for i := range events {
		switch body := events[i].Body.(type) {
		case *Start:
			out = appendFiles(out, DocumentFiles(body.Settings.Documents))
		case *Turn:
			out = appendFiles(out, body.Attachments)
		}
	}
	return out
}

// appendFiles adds files, unless one is there that says the same of its bytes.
func appendFiles(out, more []File) []File {
	for i := range more {
		same := func(f File) bool {
			return f.Hash == more[i].Hash && f.Type == more[i].Type && f.Size == more[i].Size && f.Pages == more[i].Pages
		}
		if !slices.ContainsFunc(out, same) {
			out = append(out, more[i])
		}
	}
	return out
}

// accepts reports why a turn with these files cannot be added: one is invalid, or there are too many.
func (r *Record) accepts(files []File) (field string, err error) {
	if len(files) == 0 {
		return "", nil
	}
	for i := range files {
		if field, why := fileProblem(&files[i]); why != "" {
			return fmt.Sprintf("attachments[%d].%s", i, field), errors.New(why)
		}
	}
	count, size := 0, 0
	add := func(all []File) {
		for i := range all {
			count++
			size += all[i].Size
		}
	}
	for i := range r.settings.Documents {
		add(r.settings.Documents[i].Files)
	}
	for _, t := range r.Turns {
		add(t.Attachments)
	}
	if add(files); count > maxFileCount || size > MaxFiles {
		return fieldAttachments, fmt.Errorf("the conversation would have %d files of %d bytes: at most %d of %d are allowed",
			count, size, maxFileCount, MaxFiles)
	}
	return "", nil
}

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
	for i := range r.settings.Documents {
		d := &r.settings.Documents[i]
		parts, names, load, beside := carried(d.Files)
		r.surplus = r.surplus.plus(beside)
		title := "Files that belong to the topic: "
		if d.Name != "" {
			title = "Document \"" + d.Name + "\": "
		}
		r.papers.add(provider.Message{Text: text.Escape(title+names, r.fence), Fence: r.fence, Parts: parts}, load)
	}
}

// inlineName bounds what stands before the text of a file in a message, in bytes.
const inlineName = 200

// carried returns files as a message carries them, their names, a bound of their tokens, and what some models take beyond it.
func carried(files []File) (parts []provider.Part, names string, load int, beside surplus) {
	shown := make([]string, len(files))
	for i := range files {
		parts = append(parts, partOf(&files[i]))
		shown[i] = files[i].String()
		count, tokens := unitsOf(&files[i])
		load += count*imageTokens + tokens
		beside.images += count
		if files[i].IsText() {
			beside.inline += files[i].Size/text.ShortestToken + inlineName
		}
	}
	return parts, strings.Join(shown, " "), load, beside
}

// attached returns the text of a turn as others read it, with the names of its files, the files, and a bound of their tokens.
// Calls that read no view read the turn as well, because it has files.
func (r *Record) attached(t *Turn) (content string, parts []provider.Part, load int) {
	if len(t.Attachments) == 0 {
		return t.Text, nil, 0
	}
	parts, names, load, _ := carried(t.Attachments)
	content = t.Text + "\n" + names
	m := provider.Message{Speaker: t.Speaker, Text: text.Escape(content, r.fence), Fence: r.fence, Parts: parts}
	r.handed = append(r.handed, handout{m, transcript.Bound(&m) + load, nil})
	return content, parts, load
}

// handout is a message for calls that read no view.
type handout struct {
	message provider.Message
	bound   int      // of its tokens
	to      []string // the participants who read it; nil: all
}

// papersOf returns what comes before the conversation in the request of a call: the documents, and for a call that reads no
// view the turns with files and the notes.
func (r *Record) papersOf(call *Call) papers {
	if call.Performer != ByModel || !call.View.None || call.span != nil || len(r.handed) == 0 {
		return r.papers
	}
	all := papers{slices.Clone(r.papers.messages), r.papers.bound}
	for i := range r.handed {
		if h := &r.handed[i]; len(h.to) == 0 || r.Seat(call.By) < 0 || slices.Contains(h.to, call.By) {
			all.messages, all.bound = append(all.messages, h.message), all.bound+h.bound
		}
	}
	return all
}

// surplus is what some models take for files beyond what the bounds of all models hold.
type surplus struct {
	images int // how many images and pages there are
	inline int // tokens of names and marks around text files, for models that read no files and get the texts themselves
}

func (s surplus) plus(t surplus) surplus { return surplus{s.images + t.images, s.inline + t.inline} }

// of bounds the tokens that a model takes.
func (s surplus) of(m *Model) int {
	bound := s.images * max(0, m.ImageTokens-imageTokens)
	if m.Lacks(provider.AbilityFile) {
		bound += s.inline
	}
	return bound
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
