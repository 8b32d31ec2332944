// Package redaction removes texts and files from the log of a conversation.
//
// Whoever wants something forgotten names it; nobody else's words may change. So the events are rewritten as JSON, text by text.
// Identifiers stay, because the log refers to them; shape says which strings they are. A record that is folded from the new log is then
// compared with the old one, and a redaction that has changed more than texts is refused.
package redaction

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/secret"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

const (
	defaultWith  = "[redacted]"
	maxWith      = 100
	maxRedacted  = 100 // texts, events and files each
	minQuoted    = 16
	maxKept      = 20
	keptNameSize = 80
)

// Apply returns the events of a log that a redaction changes, and the fact that is to be appended. of is the flow of the log, whose
// types say which strings are identifiers; nil: it is unknown. blanks are the files that take the place of Redaction.Files, by the
// hash of the former. The log itself is not changed.
//
// If nothing of it stands in the log, the fact is nil. The caller then checks that the log still folds, with [SameButTexts].
func Apply(
	r flow.Redaction, of *flow.Flow, log []flow.Event, blanks map[string]flow.File,
) (changed []flow.Event, fact *flow.Redacted, err error) {
	if r, err = checked(r); err != nil {
		return nil, nil, err
	}
	w := &redactor{
		Redaction: r, reading: newReading(of), blanks: blanks,
		counts: make(map[string]int), sizes: make(map[string]int), whole: make(map[int64]bool),
	}
	if err := w.address(log); err != nil {
		return nil, nil, err
	}
	if w.holds(w.By) || w.holds(w.Reason) {
		return nil, nil, unredacted("reason", "repeats what is to be removed")
	}
	for i := range log {
		e, err := w.event(log[i])
		if err != nil {
			return nil, nil, err
		}
		if e.Body != nil {
			changed = append(changed, e)
		}
	}
	if len(changed) == 0 {
		return nil, nil, w.nowhere()
	}
	return changed, w.fact(changed), nil
}

// checked returns the redaction with its default.
func checked(r flow.Redaction) (flow.Redaction, error) {
	refuse := func(field, format string, args ...any) (flow.Redaction, error) {
		return r, unredacted(field, format, args...)
	}
	r.With = cmp.Or(r.With, defaultWith)
	switch {
	case len(r.Texts)+len(r.Events)+len(r.Files) == 0:
		return refuse("texts", "name nothing: texts, events or files are missing")
	case max(len(r.Texts), len(r.Events), len(r.Files)) > maxRedacted:
		return refuse("texts", "are more than %d", maxRedacted)
	case len(r.With) > maxWith || strings.ContainsFunc(r.With, func(c rune) bool { return !unicode.IsPrint(c) }):
		return refuse("with", "is not one line of at most %d bytes that print", maxWith)
	case text.NotALine(r.Reason, flow.MaxReason) != "":
		return refuse("reason", "%s", text.NotALine(r.Reason, flow.MaxReason))
	case text.NotALine(r.By, flow.MaxReason) != "":
		return refuse("by", "%s", text.NotALine(r.By, flow.MaxReason))
	}
	for i, part := range r.Texts {
		at := fmt.Sprintf("texts[%d]", i)
		switch {
		case part == "" || !utf8.ValidString(part):
			return refuse(at, "is empty, or no UTF-8")
		case strings.Contains(r.With, part):
			return refuse(at, "is contained in what takes its place, %q", r.With)
		}
	}
	for i, hash := range r.Files {
		if !flow.IsHash(hash) {
			return refuse(fmt.Sprintf("files[%d]", i), "is no SHA-256 in small hexadecimal digits")
		}
	}
	return r, nil
}

// unredacted is the error that a redaction changes nothing.
func unredacted(field, format string, args ...any) error {
	return &flow.Error{Kind: provider.KindValidation, Op: "redact", Field: field, Err: fmt.Errorf(format, args...)}
}

// redactor carries one redaction out.
type redactor struct {
	flow.Redaction
	*reading

	blanks map[string]flow.File
	whole  map[int64]bool // the events that lose all their texts
	counts map[string]int // how often something was removed, by text or hash
	sizes  map[string]int // of files, by hash
	kept   []string
	fence  string
	seq    int64 // of the event that is rewritten

	touched []string // where its texts have changed
}

// address finds the texts of the events that are named.
func (w *redactor) address(log []flow.Event) error {
	for i, seq := range w.Events {
		refuse := func(why string) error { return unredacted(fmt.Sprintf("events[%d]", i), "event %d %s", seq, why) }
		if seq < 1 || seq > int64(len(log)) {
			return refuse("is not in the log")
		}
		e := &log[seq-1]
		switch e.Body.(type) {
		case *flow.Start, *flow.Redacted:
			return refuse("holds what the conversation is started with, or what was removed: name the texts")
		}
		w.whole[seq] = true
		if turn, ok := e.Body.(*flow.Turn); ok {
			for k := range log {
				if part, ok := log[k].Body.(*flow.Continued); ok && part.Call == turn.Call {
					w.whole[log[k].Seq] = true
				}
			}
		}
	}
	for i := range log {
		body := w.body(&log[i])
		if !w.whole[log[i].Seq] {
			continue
		}
		if err := w.take(&log[i], body); err != nil {
			return err
		}
	}
	return nil
}

// take adds the texts of an event that is named to those that are removed.
func (w *redactor) take(e *flow.Event, body *shape) error {
	find := func(value string) {
		if len(value) >= minQuoted && !slices.Contains(w.Texts, value) && !strings.Contains(w.With, value) {
			w.Texts = append(w.Texts, value)
		}
	}
	_, err := rewriteBody(e, body, &rewriting{
		leaf: func(_ []string, value string, name bool) string {
			if !name {
				find(value)
			}
			return value
		},
		number: func(_ []string, value string, free bool) (string, bool) {
			if free {
				find(value)
			}
			return "", false
		},
	})
	return err
}

// holds reports whether one of the texts stands in a value.
func (w *redactor) holds(value string) bool {
	for v := range views(value) {
		if slices.ContainsFunc(w.Texts, func(part string) bool { return strings.Contains(v.text, part) }) {
			return true
		}
	}
	return false
}

// replaced returns a value without the texts, and counts them.
func (w *redactor) replaced(value string) string {
	out, found := w.without(value)
	for _, part := range found {
		w.counts[part]++
	}
	return out
}

// without returns a value without the texts, and those that stood there. Where several begin, the longest is removed. If what takes
// their place forms one of them anew with what stands beside it, as "[redacted]" and "x" form "]x", the whole value goes.
func (w *redactor) without(value string) (string, []string) {
	var all []hit
	for v := range views(value) {
		for _, part := range w.Texts {
			all = v.find(part, all)
		}
	}
	if len(all) == 0 {
		return value, nil
	}
	slices.SortStableFunc(all, func(a, b hit) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	var out strings.Builder
	var found []string
	done := 0 // bytes of the value
	for _, h := range all {
		if h.from < done {
			continue
		}
		out.WriteString(value[done:h.from])
		out.WriteString(w.With)
		found, done = append(found, h.part), h.to
	}
	out.WriteString(value[done:])
	if left := out.String(); !w.holds(left) {
		return left, found
	}
	return w.With, found
}

// event returns an event without what is removed. If nothing of it stands there, the body is nil.
func (w *redactor) event(e flow.Event) (flow.Event, error) {
	if start, ok := e.Body.(*flow.Start); ok {
		w.fence = secret.Fence(start.Seed)
	}
	w.seq, w.touched = e.Seq, nil
	as := &rewriting{leaf: w.leaf, key: w.key, number: w.number, object: w.object, gone: w.gone}
	body, err := rewriteBody(&e, w.body(&e), as)
	if err != nil {
		return flow.Event{}, HeldBySetting(fmt.Errorf("event %d: %s: %w", e.Seq, strings.Join(w.touched, ", "), err))
	}
	if body == nil {
		return flow.Event{}, nil
	}
	turn, ok := body.(*flow.Turn)
	if was, is := e.Body.(*flow.Turn); ok && is && was.Text != turn.Text { // passages are counted in bytes of the text
		for i := range turn.Citations {
			turn.Citations[i].Start, turn.Citations[i].End = 0, 0
		}
		for i := range turn.Quotations {
			turn.Quotations[i].Start, turn.Quotations[i].End = 0, 0
		}
	}
	e.Body = body
	return e, nil
}

// leaf rewrites one string of an event.
func (w *redactor) leaf(path []string, value string, name bool) string {
	switch {
	case name:
		if w.holds(value) {
			w.keep(path)
		}
		return value
	case w.whole[w.seq] && value != "":
		if !slices.Contains(w.Texts, value) { // it is short
			w.counts[value]++
			return w.With
		}
	}
	out := w.replaced(value)
	if out != value {
		w.touch(path)
	}
	if w.seq == 1 && strings.Count(out, w.fence) != strings.Count(value, w.fence) { // a prompt must name the fence as it is
		w.keep(path)
		return value
	}
	return out
}

// key rewrites one key of an event.
func (w *redactor) key(path []string, name bool) string {
	key := path[len(path)-1]
	if name {
		if w.holds(key) {
			w.keep(path)
		}
		return key
	}
	out := w.replaced(key)
	if out != key {
		w.touch(path)
	}
	return out
}

// number returns what takes the place of a number that is one of the texts. Where a program counts with it, it stays: free means that it
// stands in JSON without a type.
func (w *redactor) number(path []string, value string, free bool) (string, bool) {
	named := slices.Contains(w.Texts, value)
	switch {
	case free && (named || w.whole[w.seq]):
		w.counts[value]++
		w.touch(path)
		return w.With, true
	case named:
		w.keep(path)
	}
	return "", false
}

// gone reports whether a field goes because one of the texts stands in it, or because the event loses all its texts.
func (w *redactor) gone(path []string, value json.RawMessage) bool {
	found := w.whole[w.seq]
	search := func(part string) string {
		found = w.replaced(part) != part || found
		return part
	}
	_, _, err := rewritten(value, nil, &rewriting{
		leaf: func(_ []string, value string, _ bool) string { return search(value) },
		key:  func(path []string, _ bool) string { return search(path[len(path)-1]) },
		number: func(_ []string, value string, _ bool) (string, bool) {
			found = found || slices.Contains(w.Texts, value)
			return "", false
		},
	})
	if found = found || err != nil; found { // what cannot be searched goes, too
		w.touch(path)
	}
	return found
}

// touch notes where a text was removed from the event.
func (w *redactor) touch(path []string) {
	if at := w.place(path); len(w.touched) < maxKept && !slices.Contains(w.touched, at) {
		w.touched = append(w.touched, at)
	}
}

func (w *redactor) keep(path []string) {
	place := w.place(path)
	at := fmt.Sprintf("event %d: %s", w.seq, place)
	if place == w.With || w.holds(at) {
		at = fmt.Sprintf("event %d", w.seq)
	}
	if len(w.kept) < maxKept && !slices.Contains(w.kept, at) {
		w.kept = append(w.kept, at)
	}
}

// place returns a path in one line, without the texts that keys may hold.
func (w *redactor) place(path []string) string {
	at, _ := w.without(strings.Join(path, "."))
	return text.OneLine(at, keptNameSize)
}

// object describes a file that is removed by the one that takes its place. What has other fields than files have only tells of one, as a
// quotation does: it stays.
func (w *redactor) object(fields []field) []field {
	var hash string
	file := w.shapes.of(reflect.TypeFor[flow.File]())
	for i := range fields {
		switch {
		case !file.isKey(fields[i].key):
			return fields
		case fields[i].key == "hash":
			_ = json.Unmarshal(fields[i].value, &hash) // no text: it is no file
		}
	}
	if !slices.Contains(w.Files, hash) {
		return fields
	}
	blank, ok := w.blanks[hash]
	if !ok {
		return fields
	}
	w.counts[hash]++
	var out []field
	for _, f := range fields {
		switch size := 0; f.key {
		case "name":
			out = append(out, f)
		case "size":
			if json.Unmarshal(f.value, &size) == nil {
				w.sizes[hash] = size
			}
		}
	}
	add := func(key string, value any) {
		data, _ := json.Marshal(value) //nolint:errchkjson // texts and numbers
		out = append(out, field{key, data})
	}
	add("type", blank.Type)
	add("hash", blank.Hash)
	add("size", blank.Size)
	if blank.Pages > 0 {
		add("pages", blank.Pages)
	}
	return out
}

// nowhere is the error that nothing was found.
func (w *redactor) nowhere() error {
	if len(w.kept) > 0 {
		return unredacted("texts", "stand only where the log needs them, as numbers or as names: %s", strings.Join(w.kept, ", "))
	}
	return unredacted("texts", "stand nowhere in the log, as they are")
}

// fact returns what the log keeps of the redaction.
func (w *redactor) fact(changed []flow.Event) *flow.Redacted {
	out := &flow.Redacted{Kept: w.kept, With: w.With, By: w.By, Reason: w.Reason}
	for i := range changed {
		out.Events = append(out.Events, changed[i].Seq)
	}
	for _, hash := range w.Files {
		if n := w.counts[hash]; n > 0 {
			out.Files = append(out.Files, flow.Removed{Hash: hash, Size: w.sizes[hash], Count: n, As: w.blanks[hash].Hash})
			delete(w.counts, hash)
		}
	}
	for part, n := range w.counts {
		out.Texts = append(out.Texts, flow.Removed{Hash: flow.HashOf([]byte(part)), Size: len(part), Count: n})
	}
	slices.SortFunc(out.Texts, func(a, b flow.Removed) int { return strings.Compare(a.Hash, b.Hash) })
	return out
}

// Done returns the last fact of a log by which the texts and files of this redaction were removed from it; nil: there is none.
func Done(r flow.Redaction, log []flow.Event) *flow.Redacted {
	hashes := slices.Clone(r.Files)
	for _, part := range r.Texts {
		hashes = append(hashes, flow.HashOf([]byte(part)))
	}
	for i := len(log) - 1; i >= 0 && len(hashes) > 0; i-- {
		fact, ok := log[i].Body.(*flow.Redacted)
		if !ok {
			continue
		}
		had := func(hash string) bool {
			return slices.ContainsFunc(slices.Concat(fact.Texts, fact.Files), func(m flow.Removed) bool { return m.Hash == hash })
		}
		if !slices.ContainsFunc(hashes, func(hash string) bool { return !had(hash) }) {
			return fact
		}
	}
	return nil
}
