package cassette

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"

	"github.com/agonist-dev/debate/provider"
)

// Abilities returns what was recorded of a model. Of other models it asks the wrapped provider, if there is one and it can
// tell; otherwise nothing is known of them.
func (t *tape) Abilities(ctx context.Context, model string) (provider.Abilities, error) {
	if err := ctx.Err(); err != nil {
		return nil, ended(err)
	}
	c, s := t.cassette, t.cassette.plain()
	name, written := s.write(t.name), s.write(model)
	if c.options.Mode != Record || t.asked == nil {
		if known, ok := c.abilities(name, written); ok {
			return known, nil
		}
	}
	able, ok := provider.As[provider.Able](t.asked)
	if !ok {
		return provider.Abilities{}, nil
	}
	has, err := able.Abilities(ctx, model)
	if err != nil || len(has) == 0 {
		return has, err
	}
	told := make(provider.Abilities, len(has))
	for ability, can := range has {
		told[provider.Ability(s.write(string(ability)))] = can
	}
	c.note(name, func(w *wrapped) bool {
		if known, ok := w.Abilities[written]; ok && maps.Equal(known, told) {
			return false
		}
		if w.Abilities == nil {
			w.Abilities = make(map[string]provider.Abilities)
		}
		w.Abilities[written] = told
		return true
	})
	return has, nil
}

// abilities returns a copy of what was recorded of a model.
func (c *Cassette) abilities(name, model string) (provider.Abilities, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.providers[name]; w != nil {
		has, ok := w.Abilities[model]
		return maps.Clone(has), ok
	}
	return nil, false
}

// Vet fails as the wrapped provider did for an equal request when it was recorded. Of other requests it asks the wrapped provider,
// if there is one and it can tell.
func (t *tape) Vet(req *provider.Request) error {
	c, s := t.cassette, &scribe{secrets: t.cassette.secrets, fences: fencesOf(req)}
	name := c.plain().write(t.name)
	sum := sha256.Sum256(plainJSON(s.request(req)))
	key := c.plain().write(req.Model) + " " + hex.EncodeToString(sum[:])
	if t.asked == nil {
		r := reader{fences: s.fences}
		failure := r.failure(c.veto(name, key))
		if r.err != nil {
			return unreadable(r.err)
		}
		return failure
	}
	vetter, ok := provider.As[provider.Vetter](t.asked)
	if !ok {
		return nil
	}
	err := vetter.Vet(req)
	if err != nil {
		c.note(name, func(w *wrapped) bool {
			if w.Vetoes[key] != nil {
				return false
			}
			if w.Vetoes == nil {
				w.Vetoes = make(map[string]*failure)
			}
			w.Vetoes[key] = s.failure(err)
			return true
		})
	}
	return err
}

// veto returns the recorded failure of a request; nil: it could be written.
func (c *Cassette) veto(name, key string) *failure {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.providers[name]; w != nil {
		return w.Vetoes[key]
	}
	return nil
}

// note changes what is known of a provider, and saves it if change reports that there was something new.
func (c *Cassette) note(name string, change func(w *wrapped) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || !change(c.wrapped(name)) {
		return
	}
	c.changed = true
	c.save()
}
