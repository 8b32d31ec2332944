package google

import "encoding/json"

// vendor is the vendor's name in the model table.
const vendor = "google"

// seal is what goes back to the model with a tool call ([provider.ToolCall.Opaque]). Its vendor tells it
// from another adapter's.
type seal struct {
	Vendor    string `json:"vendor"`
	ID        string `json:"id,omitempty"` // the model's own; "" if it gave none
	Signature []byte `json:"signature,omitempty"`
}

func (s seal) opaque() json.RawMessage {
	s.Vendor = vendor
	data, _ := json.Marshal(s) //nolint:errchkjson // strings and bytes always marshal
	return data
}

// unseal reads a seal; another adapter's is the zero one.
func unseal(opaque json.RawMessage) seal {
	var s seal
	if json.Unmarshal(opaque, &s) != nil || s.Vendor != vendor {
		return seal{}
	}
	return s
}
