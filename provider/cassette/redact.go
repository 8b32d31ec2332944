package cassette

import "github.com/agonist-dev/debate/internal/redact"

// redactor finds secrets in texts: the given ones, in every known form, and texts that look like a
// vendor's key.
type redactor struct{ secrets *redact.Set }

func newRedactor(secrets []string) *redactor {
	var all []redact.Secret
	for _, secret := range secrets {
		all = append(all, redact.Secret{Text: secret}, redact.Key(secret))
	}
	return &redactor{redact.NewSet(all...)}
}

// find returns the parts of a text that are secret, in order and without overlap.
func (r *redactor) find(text string) []redact.Span {
	return redact.Merge(append(r.secrets.Find(text), redact.Likely(text)...))
}
