package google

import "github.com/agonist-dev/debate/provider/wire"

// vendor is the vendor's name in the model table.
const vendor = "google"

// sealed is kept with a tool call, and sent back to its owner with it.
type sealed struct {
	ID        string `json:"id,omitempty"` // the model's own; "" if it gave none
	Signature []byte `json:"signature,omitempty"`
}

// owner returns whose the signatures are. The Gemini API and Vertex AI do not say that they accept each other's.
func (p *Provider) owner() wire.Owner {
	if p.Vertex != "" {
		return p.Owner("", "aiplatform.googleapis.com", "googleapis.com")
	}
	return p.Owner("", "generativelanguage.googleapis.com")
}
