package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"maps"
	"math"
	"slices"

	"github.com/agonist-dev/debate/provider"
)

// keyVersion changes with the content of a key.
const keyVersion = "debate cache key 1"

// keyOf returns the key of a request: the SHA-256 hash, in hexadecimal, of everything that equal requests
// share.
func keyOf(scope string, req *provider.Request, f *fences) string {
	c := canon{hash: sha256.New(), fences: f}
	c.exact(keyVersion)
	c.exact(scope)
	c.exact(req.Model)
	c.text(req.System)
	c.text(req.Self)
	c.number(uint64(len(req.Messages)))
	for i := range req.Messages {
		c.message(&req.Messages[i])
	}
	c.message(&req.Last)
	c.number(uint64(req.MaxTokens)) //nolint:gosec // distinct numbers stay distinct
	if c.given(req.Temperature != nil) {
		c.number(math.Float64bits(*req.Temperature))
	}
	if c.given(req.Schema != nil) {
		c.text(req.Schema.Name)
		c.text(string(req.Schema.JSON))
	}
	c.number(uint64(len(req.Tools)))
	for i := range req.Tools {
		t := &req.Tools[i]
		c.text(t.Name)
		c.text(t.Description)
		c.text(string(t.Parameters))
	}
	c.options(req.Options)
	c.labels(req)
	return hex.EncodeToString(c.hash.Sum(nil))
}

// canon writes a request so that no two requests have the same bytes. It writes every text after its
// length, every list after its number of elements, and every pointer after whether it is nil. What follows all that may be missing.
type canon struct {
	hash   hash.Hash
	fences *fences
}

func (c *canon) message(m *provider.Message) {
	c.text(m.Speaker)
	c.text(m.Text)
	c.text(m.Fence)
	c.number(uint64(len(m.ToolCalls)))
	for i := range m.ToolCalls {
		t := &m.ToolCalls[i]
		c.text(t.ID)
		c.text(t.Name)
		c.text(string(t.Arguments))
		c.exact(string(t.Opaque)) // belongs to its owner, down to the byte
	}
	if c.given(m.ToolResult != nil) {
		c.text(m.ToolResult.ID)
		c.text(m.ToolResult.Text)
		c.given(m.ToolResult.Error)
	}
	c.number(uint64(len(m.Parts)))
	for i := range m.Parts {
		p := &m.Parts[i]
		c.exact(p.Type)
		c.text(p.Name)
		sum := sha256.Sum256(p.Data) // the hash that the part names is a claim
		_, _ = c.hash.Write(sum[:])
	}
}

// labels writes the labels of messages, each with its place, behind all else. A request without labels keeps the key that it had before
// there were any.
func (c *canon) labels(req *provider.Request) {
	for i := range req.Messages {
		c.label(i, &req.Messages[i])
	}
	c.label(len(req.Messages), &req.Last)
}

func (c *canon) label(place int, m *provider.Message) {
	if m.Label != "" {
		c.number(uint64(place)) //nolint:gosec // distinct numbers stay distinct
		c.text(m.Label)
	}
}

// options writes what a request asks for beyond its text. No options are the same as empty ones.
func (c *canon) options(o *provider.Options) {
	if o == nil {
		o = &provider.Options{}
	}
	c.exact(string(o.Effort))
	if c.given(o.TopP != nil) {
		c.number(math.Float64bits(*o.TopP))
	}
	c.number(uint64(len(o.Stop)))
	for _, text := range o.Stop {
		c.text(text)
	}
	if c.given(o.Seed != nil) {
		c.number(uint64(*o.Seed)) //nolint:gosec // distinct numbers stay distinct
	}
	c.exact(o.ServiceTier)
	c.exact(string(o.Verbosity))
	c.given(o.Search)
	c.exact(string(o.Reasoning))
	c.number(uint64(len(o.Extra)))
	for _, name := range slices.Sorted(maps.Keys(o.Extra)) {
		c.exact(name)
		c.exact(string(o.Extra[name]))
	}
	c.number(uint64(len(o.Header)))
	for _, name := range slices.Sorted(maps.Keys(o.Header)) {
		c.exact(name)
		c.exact(o.Header[name])
	}
}

// text writes the canonical form of a text.
func (c *canon) text(s string) { c.exact(c.fences.hide(s)) }

// Errors are ignored below: a hash never fails to write.

func (c *canon) exact(s string) {
	c.number(uint64(len(s)))
	_, _ = c.hash.Write([]byte(s))
}

func (c *canon) number(n uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	_, _ = c.hash.Write(b[:])
}

func (c *canon) given(yes bool) bool {
	if yes {
		c.number(1)
	} else {
		c.number(0)
	}
	return yes
}
