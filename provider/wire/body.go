package wire

import (
	"bytes"
	"encoding/json"
)

// Body encodes v as JSON for a request, without escaping and without a newline at its end. [json.Marshal] would escape every < in the
// markers of fences. It fails with [Unwritable], code "request".
func Body(v any) ([]byte, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, Unwritable("request", "the request cannot be written as JSON: "+Clip(err.Error()))
	}
	return bytes.TrimSuffix(body.Bytes(), []byte("\n")), nil
}
