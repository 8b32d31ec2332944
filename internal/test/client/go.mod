module github.com/agonist-dev/debate/internal/test/client

go 1.26.0

tool (
	github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen
	github.com/ogen-go/ogen/cmd/ogen
)

require (
	github.com/agonist-dev/debate v0.0.0
	github.com/getkin/kin-openapi v0.153.0
	github.com/go-faster/errors v0.8.0
	github.com/go-faster/jx v1.2.0
	github.com/oapi-codegen/runtime v1.9.0
	github.com/ogen-go/ogen v1.24.0
	github.com/stretchr/testify v1.12.1
)

require github.com/oapi-codegen/oapi-codegen/v2 v2.8.2 // indirect

replace github.com/agonist-dev/debate => ../../..
