package google

import "encoding/json"

// vendor is the vendor's name in the model table.
const vendor = "google"

// seal is sent back to the model with a tool call ([provider.ToolCall.Opaque]). Vendor distinguishes it
// from the seals of other adapters.
type seal struct {
	Vendor    string `json:"vendor"`
	ID        string `json:"id,omitempty"` // the model's own; "" if it gave none
	Signature []byte `json:"signature,omitempty"`
}

func (s seal) opaque() json.RawMessage {
	data, _ := json.Marshal(s) //nolint:errchkjson // strings and bytes always marshal
	return data
}

// unseal reads a seal. A seal of another vendor gives the zero seal: the Gemini API and Vertex AI do not say that they
// accept each other's signatures.
func unseal(opaque json.RawMessage, vendor string) seal {
	var s seal
	if json.Unmarshal(opaque, &s) != nil || s.Vendor != vendor {
		return seal{}
	}
	return s
}
