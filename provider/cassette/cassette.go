package cassette

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/internal/text"
)

// Mode says how a cassette handles a request.
type Mode int

// These are the modes of a cassette.
const (
	// Replay answers from the file and calls no provider. A request that the file does not hold fails.
	Replay Mode = iota
	// Record calls the wrapped provider, and writes a new file.
	Record
	// Extend answers from the file, calls the wrapped provider for requests that the file does not hold, and adds their answers to
	// the file. The file need not exist.
	Extend
)

// String returns the name of the mode.
func (m Mode) String() string {
	names := []string{"replay", "record", "extend"}
	if m < 0 || int(m) >= len(names) {
		return fmt.Sprintf("mode %d", int(m))
	}
	return names[m]
}

// Options configures a cassette. The zero value replays.
type Options struct {
	Mode Mode
	// Secrets are never written, in any known form: plain, wrapped, in JSON, HTML, a URL, base64 and hexadecimal. Of a secret of
	// 16 bytes or more, not even eight consecutive bytes are written. A replay finds a request that holds a secret only if it has
	// the same secrets. Text that looks like a vendor's key is never written, whether it is listed here or not.
	Secrets []string
	// Labels writes the labels of requests too. They do not count when requests are compared.
	Labels bool
	// Repeat returns the last recorded answer again if a request is made more often than it was recorded. Without it, such a
	// request fails like one that the file does not hold.
	Repeat bool
}

// String returns the options without the secrets.
func (o Options) String() string {
	return fmt.Sprintf("%s, %d secrets, labels %t, repeat %t", o.Mode, len(o.Secrets), o.Labels, o.Repeat)
}

// GoString is String, for %#v.
func (o Options) GoString() string { return o.String() }

// Cassette holds recorded exchanges. Any number of providers may share one. It is safe for concurrent use.
type Cassette struct {
	file    string
	options Options
	plain   *scribe // for texts that belong to no request

	mu        sync.Mutex
	entries   []*entry            // as the file has them
	known     map[string][]*entry // by key, in the order of entries
	providers map[string]wrapped
	began     int   // how many exchanges have begun so far
	pending   int   // how many of them have not ended
	unwritten error // why the last attempt to write failed
	lost      error // why an exchange is not in the file and never will be
	closed    bool
}

// Open opens the cassette in a file. In mode Record it creates the file, and fails with [fs.ErrExist] if the file exists: it
// never overwrites a recording. In mode Replay the file must exist. In mode Extend it is created if it is missing. If the file
// is not a cassette, Open fails with a [*FileError]. Other errors come from the file system.
func Open(file string, options Options) (*Cassette, error) {
	c := newCassette(file, options)
	data, err := os.ReadFile(file)
	missing := errors.Is(err, fs.ErrNotExist)
	switch mode := options.Mode; {
	case mode != Replay && mode != Record && mode != Extend:
		err = fmt.Errorf("cassette: %w", text.Unknown("mode", mode.String(), Replay.String(), Record.String(), Extend.String()))
	case mode != Replay && missing: // now, so that an unusable path is found before anything is paid
		c.save()
		err = c.unwritten
	case mode == Record:
		err = &fs.PathError{Op: "record", Path: file, Err: fs.ErrExist}
	case err == nil:
		err = c.load(data)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Load reads a cassette from memory to replay it; options.Mode must be Replay. If data is not a cassette, Load fails with a
// [*FileError].
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
	var secrets []redact.Secret
	for _, secret := range options.Secrets {
		secrets = append(secrets, redact.Secret{Text: secret}, redact.Key(secret))
	}
	return &Cassette{
		file: file, options: options, plain: &scribe{secrets: redact.NewSet(secrets...)},
		known: make(map[string][]*entry), providers: make(map[string]wrapped),
	}
}

func (c *Cassette) load(data []byte) error {
	providers, entries, err := parse(c.file, data)
	if err != nil {
		return err
	}
	for i, e := range entries {
		e.began = i
	}
	slices.SortFunc(entries, compareEntries)
	for _, e := range entries {
		c.known[e.key] = append(c.known[e.key], e)
	}
	c.entries, c.began = entries, len(entries)
	maps.Copy(c.providers, providers)
	return nil
}

// Unused returns the exchanges of the file that were not replayed. Each is the name of its provider and the id of its request,
// in the order of the file. A test that replays should require that there are none.
func (c *Cassette) Unused() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var unused []string
	for _, e := range c.entries {
		if !e.used {
			unused = append(unused, e.Provider+" "+e.Request.ID)
		}
	}
	return unused
}

// Close ends the cassette: its providers fail from now on. It tries once more to write what could not be written. Its error
// reports what the file lacks: content that could not be written, and exchanges that have not ended, which are no longer
// recorded. A second Close does nothing.
func (c *Cassette) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	if c.unwritten != nil {
		c.save()
	}
	if c.pending > 0 {
		c.lost = errors.Join(c.lost, fmt.Errorf("cassette: %d exchanges have not ended: they are not recorded", c.pending))
	}
	return errors.Join(c.lost, c.unwritten)
}

// String returns the file and the mode.
func (c *Cassette) String() string { return fmt.Sprintf("cassette %q (%s)", c.file, c.options.Mode) }

// GoString is String, for %#v.
func (c *Cassette) GoString() string { return c.String() }

// begin looks up the recorded answer to a request. If it returns nil, the caller asks the wrapped provider, and then calls end.
func (c *Cassette) begin(asked *entry, asks bool) (*entry, error) {
	if !asked.find() {
		return nil, refused("", "the request cannot be written: a number in it is none")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, refused(CodeClosed, "the cassette is closed")
	}
	if c.options.Mode != Record {
		if e := c.take(asked); e != nil {
			return e, nil
		}
	}
	switch {
	case c.options.Mode == Replay:
		return nil, c.unseen(asked)
	case !asks:
		return nil, refused(CodeUnseen, "there is nobody to ask what the cassette does not hold")
	}
	asked.began = c.began
	c.began++
	c.pending++
	return nil, nil //nolint:nilnil // the wrapped provider is asked
}

// take uses up the next answer to a request, first one with the same id: equal requests can be made at the same time.
func (c *Cassette) take(asked *entry) *entry {
	var next *entry
	all := c.known[asked.key]
	for _, e := range all {
		if !e.used && (next == nil || e.Request.ID == asked.Request.ID && next.Request.ID != asked.Request.ID) {
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

// end adds an exchange. An exchange that was broken off is not recorded.
func (c *Cassette) end(e *entry, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending--
	if !whole || c.closed {
		return
	}
	e.used = true
	err := e.settle()
	if err == nil {
		c.entries, c.known[e.key] = insert(c.entries, e), insert(c.known[e.key], e)
		c.save()
		if !errors.Is(c.unwritten, errTooLong) {
			return
		}
		err = c.unwritten // but there is room for a shorter one
		c.entries, c.known[e.key] = without(c.entries, e), without(c.known[e.key], e)
		c.save()
	}
	if c.lost == nil {
		c.lost = fmt.Errorf("cassette: the exchange %q of provider %q is not recorded: %w", clip(e.Request.ID), clip(e.Provider), err)
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

// save writes the file.
func (c *Cassette) save() {
	data := encode(c.providers, c.entries)
	c.unwritten = errTooLong
	if len(data) <= MaxFile {
		c.unwritten = write(c.file, data)
	}
}
