package export

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/util"

	"github.com/agonist-dev/debate/flow"
)

// maxPassage is how many characters of a passage stand beside its source. The whole turn is above it.
const maxPassage = 160

// source is a page on the web that a turn rests on. All of its texts are hostile.
type source struct {
	Title   string // the host if the page has none
	Address string // of the link; "": Title is text
	Host    string // to which the link leads, whatever the title claims; "": it is the title
	Passage string // of the turn
	Quote   string // from the page
}

// sources returns a block of what a turn cites, in the order of the reply; nil: it cites nothing. A citation that names no
// page is left out.
func sources(t *flow.Turn) []block {
	var out []source
	for i := range t.Citations {
		c := &t.Citations[i]
		s := source{Title: line(c.Title), Quote: line(c.Quote)}
		if len(t.Data) == 0 { // else nobody sees the text as the model wrote it
			s.Passage = short(passage(t.Text, c.Start, c.End), maxPassage)
		}
		s.Address, s.Host = website(c.URL)
		switch address := short(line(c.URL), 100); {
		case s.Title == "" && s.Address == "":
			s.Title = address
		case s.Title == "":
			s.Title, s.Host = s.Host, ""
		case s.Address == "":
			s.Host = address
		}
		if s.Title != "" {
			out = append(out, s)
		}
	}
	if out == nil {
		return nil
	}
	return []block{{Label: "Sources", Sources: out}}
}

// passage returns the text from start to end on one line; "" if that is no place in it.
func passage(text string, start, end int) string {
	if start < 0 || end <= start || end > len(text) {
		return ""
	}
	return line(strings.ToValidUTF8(text[start:end], ""))
}

// website returns the address of a web page in the form for a link, and its host. Both are empty if the address is not
// absolute, or of another scheme than http and https.
func website(address string) (link, host string) {
	if len(address) > maxAddress {
		return "", ""
	}
	link = string(encoded(util.URLEscape([]byte(strings.TrimSpace(address)), false)))
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || line(u.Hostname()) == "" {
		return "", ""
	}
	return link, line(u.Hostname())
}

// sources writes the list of what a turn cites.
func (m *markdown) sources(all []source) {
	lines := make([]string, len(all))
	for i, s := range all {
		words := literal(s.Title)
		if s.Address != "" {
			words = "[" + escaped(s.Title) + "](" + string(bare([]byte(s.Address))) + ")"
		}
		if s.Host != "" {
			words += " (" + literal(s.Host) + ")"
		}
		if s.Passage != "" {
			words += ", on “" + literal(s.Passage) + "”"
		}
		if s.Quote != "" {
			words += ": “" + literal(s.Quote) + "”"
		}
		lines[i] = strconv.Itoa(i+1) + ". " + words
	}
	m.paragraph(strings.Join(lines, "\n"))
}
