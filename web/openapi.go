package web

import _ "embed"

// openAPI describes the API (OpenAPI 3.1), as the table of operations and the types of their bodies have it. A test writes it.
//
//go:embed openapi.json
var openAPI []byte

// openapi sends the description of the API.
func (x *exchange) openapi() error {
	if x.has(tagOf(openAPI)) {
		return nil
	}
	x.response.Header().Set("Content-Type", x.operation.media[0])
	x.write(x.operation.status, openAPI, writeTime)
	return nil
}
