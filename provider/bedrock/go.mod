module github.com/agonist-dev/debate/provider/bedrock

go 1.26.0

require (
	github.com/agonist-dev/debate v0.0.0
	github.com/aws/aws-sdk-go-v2 v1.47.7
	github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream v1.7.26
	github.com/aws/smithy-go v1.28.8
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/santhosh-tekuri/jsonschema/v5 v5.3.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/agonist-dev/debate => ../..
