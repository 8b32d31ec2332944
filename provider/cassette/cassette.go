package cassette

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// Mode says how a cassette handles a request.
type Mode int

// These are the modes of a cassette.
const (
	// Replay answers from the file and calls no provider. A request that the file does not hold fails.
	Replay Mode = iota
	// Record calls the wrapped provider, and writes a new file.
	Record
	// Extend answers from the file, calls the wrapped provider for requests that the file does not hold,
	// and adds their answers to the file. The file need not exist.
	Extend
)

// String returns the name of the mode.
func (m Mode) String() string {
	switch m {
	case Replay:
		return "replay"
	case Record:
		return "record"
	case Extend:
		return "extend"
	default:
		return fmt.Sprintf("mode %d", int(m))
	}
}

// Options configures a cassette. The zero value replays.
type Options struct {
	Mode Mode
	// Secrets are never written, in any known form: plain, wrapped, in JSON, HTML, a URL, base64 and
	// hexadecimal. Of a secret of 16 bytes or more, not even eight consecutive bytes are written. A replay finds a request that
	// holds a secret only if it has the same secrets. Text that looks like a vendor's key is never written,
	// whether it is listed here or not.
	Secrets []string
	// Labels writes the labels of requests too. They do not count when requests are compared.
	Labels bool
	// Repeat returns the last recorded answer again if a request is made more often than it was recorded.
	// Without it, such a request fails like one that the file does not hold.
	Repeat bool
	// Interval is the pause before each chunk of a replayed reply except the first; 0: none.
	Interval time.Duration
}

// String returns the options without the secrets.
func (o Options) String() string {
	return fmt.Sprintf("%s, %d secrets, labels %t, repeat %t, interval %s", o.Mode, len(o.Secrets), o.Labels, o.Repeat, o.Interval)
}

// GoString is String, for %#v.
func (o Options) GoString() string { return o.String() }

// Cassette holds recorded exchanges. Any number of providers may share one. It is safe for concurrent
// use.
type Cassette struct {
	file    string
	options Options
	secrets *redactor

	mu        sync.Mutex
	entries   []*entry            // as the file has them
	known     map[string][]*entry // by question: the entries with answers to it, in the order of entries
	providers map[string]*wrapped
	began     int   // how many exchanges have begun so far
	pending   int   // how many of them have not ended
	changed   bool  // there is something to write
	unwritten error // why the last attempt to write failed
	lost      error // why an exchange is not in the file and never will be
	closed    bool
}

// Open opens the cassette in a file. In mode Record it creates the file, and fails with [fs.ErrExist] if
// the file exists: it never overwrites a recording. In mode Replay the file must exist. In mode Extend it
// is created if it is missing. If the file is not a cassette, Open fails with a [*FileError]. Other
// errors come from the file system.
func Open(file string, options Options) (*Cassette, error) {
	c := newCassette(file, options)
	var err error
	switch options.Mode {
	case Replay, Extend:
		var data []byte
		if data, err = read(file); err == nil {
			err = c.load(data)
		} else if options.Mode == Extend && errors.Is(err, fs.ErrNotExist) {
			err = c.create()
		}
	case Record:
		if _, err = os.Lstat(file); err == nil {
			err = &fs.PathError{Op: "record", Path: file, Err: fs.ErrExist}
		} else if errors.Is(err, fs.ErrNotExist) {
			err = c.create()
		}
	default:
		err = fmt.Errorf("cassette: %w", text.Unknown("mode", options.Mode.String(), Replay.String(), Record.String(), Extend.String()))
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Load reads a cassette from memory to replay it; options.Mode must be Replay. If data is not a cassette,
// Load fails with a [*FileError].
func Load(data []byte, options Options) (*Cassette, error) {
	if options.Mode != Replay {
		return nil, fmt.Errorf("cassette: mode %s needs a file", options.Mode)
	}
	c := newCassette("", options)
	if err := c.load(data); err != nil {
		return nil, err
	}
	return c, nil
}

func newCassette(file string, options Options) *Cassette {
	return &Cassette{
		file: file, options: options, secrets: newRedactor(options.Secrets),
		known: make(map[string][]*entry), providers: make(map[string]*wrapped),
	}
}

// create creates the file, so that an unusable path is found before anything is paid.
func (c *Cassette) create() error {
	c.changed = true
	c.save()
	return c.unwritten
}

func (c *Cassette) load(data []byte) error {
	from, err := parse(c.file, data)
	if err != nil {
		return err
	}
	for i, e := range from.Entries {
		e.began = i
	}
	slices.SortFunc(from.Entries, compareEntries)
	for _, e := range from.Entries {
		c.known[e.key] = append(c.known[e.key], e)
	}
	c.entries, c.began = from.Entries, len(from.Entries)
	if from.Providers != nil {
		c.providers = from.Providers
	}
	return nil
}

// Unused returns the exchanges of the file that were not replayed. Each is the name of its provider and
// the id of its request, in the order of the file. A test that replays should require that there are
// none.
func (c *Cassette) Unused() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var unused []string
	for _, e := range c.entries {
		if !e.used {
			unused = append(unused, e.Provider+" "+e.ID)
		}
	}
	return unused
}

// Close ends the cassette: its providers fail from now on. It tries once more to write what could not be
// written. Its error reports what the file lacks: content that could not be written, and exchanges that
// have not ended, which are no longer recorded. A second Close does nothing.
func (c *Cassette) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	c.save()
	var pending error
	if c.pending > 0 {
		pending = fmt.Errorf("cassette: %d exchanges have not ended: they are not recorded", c.pending)
	}
	return errors.Join(c.lost, c.unwritten, pending)
}

// String returns the file and the mode.
func (c *Cassette) String() string { return fmt.Sprintf("cassette %q (%s)", c.file, c.options.Mode) }

// GoString is String, for %#v.
func (c *Cassette) GoString() string { return c.String() }

// question is a request whose answer is looked for.
type question struct {
	scribe *scribe
	entry  *entry // without the answer
}

// question converts a request into the form of the file. It fails if the request cannot be written.
func (c *Cassette) question(e *entry, s *scribe) (*question, error) {
	asked, err := e.Request.canonical()
	if err != nil {
		return nil, &provider.Error{Kind: provider.KindValidation, Message: "the request cannot be written: " + err.Error(), NotSent: true}
	}
	e.Provider, e.ID = c.plain().write(e.Provider), c.plain().write(e.ID)
	e.key = keyOf(e.Provider, asked)
	return &question{scribe: s, entry: e}, nil
}

// begin looks up the recorded answer to a question. If it returns nil, the caller asks the wrapped
// provider, and then calls end.
func (c *Cassette) begin(q *question, asks bool) (*entry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, &provider.Error{Kind: provider.KindValidation, Code: CodeClosed, Message: "the cassette is closed", NotSent: true}
	}
	if c.options.Mode != Record {
		if e := c.take(q.entry); e != nil {
			return e, nil
		}
	}
	switch {
	case c.options.Mode == Replay:
		return nil, c.unseen(q.entry)
	case !asks:
		message := "there is nobody to ask what the cassette does not hold"
		return nil, &provider.Error{Kind: provider.KindValidation, Code: CodeUnseen, Message: message, NotSent: true}
	}
	q.entry.began = c.began
	c.began++
	c.pending++
	return nil, nil //nolint:nilnil // the wrapped provider is asked
}

// take uses up the next answer to a request. An answer with the same id comes first, because equal
// requests can be made at the same time.
func (c *Cassette) take(q *entry) *entry {
	var next *entry
	all := c.known[q.key]
	for _, e := range all {
		if !e.used && (next == nil || e.ID == q.ID && next.ID != q.ID) {
			next = e
		}
	}
	if next == nil && c.options.Repeat && len(all) > 0 {
		next = all[len(all)-1]
	}
	if next != nil {
		next.used = true
	}
	return next
}

// giveBack makes an answer available again: its replay was broken off, and will be asked for again.
func (c *Cassette) giveBack(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.used = false
}

// end adds an exchange. An exchange that was broken off is not recorded.
func (c *Cassette) end(q *question, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending--
	if !whole || c.closed {
		return
	}
	e := q.entry
	e.used = true
	if err := e.settle(); err != nil {
		c.lose(e, err)
		return
	}
	body, err := indented(e, "    ")
	if err != nil {
		c.lose(e, err)
		return
	}
	e.body = body
	c.entries = insert(c.entries, e)
	c.known[e.key] = insert(c.known[e.key], e)
	c.changed = true
	c.save()
	if errors.Is(c.unwritten, errTooLong) { // there is room for a shorter one
		c.entries, c.known[e.key] = without(c.entries, e), without(c.known[e.key], e)
		c.lose(e, c.unwritten)
		c.save()
	}
}

// insert adds an entry at its place in the order.
func insert(all []*entry, e *entry) []*entry {
	i, _ := slices.BinarySearchFunc(all, e, compareEntries)
	return slices.Insert(all, i, e)
}

func without(all []*entry, e *entry) []*entry {
	return slices.DeleteFunc(all, func(other *entry) bool { return other == e })
}

func (c *Cassette) lose(e *entry, err error) {
	if c.lost == nil {
		c.lost = fmt.Errorf("cassette: the exchange %q of provider %q is not recorded: %w", clip(e.ID), clip(e.Provider), err)
	}
}

// save writes the file if it has changed.
func (c *Cassette) save() {
	if !c.changed {
		return
	}
	out := contents{Version: Version, Providers: c.providers, Entries: c.entries}
	data, err := out.encode()
	if err == nil {
		err = write(c.file, data)
	}
	c.unwritten, c.changed = err, err != nil
}
