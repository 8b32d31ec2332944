module github.com/agonist-dev/debate/provider/vertex

go 1.26.0

require (
	cloud.google.com/go/auth v0.24.3
	github.com/agonist-dev/debate v0.0.0
	github.com/agonist-dev/debate/provider/anthropic v0.0.0
	github.com/agonist-dev/debate/provider/google v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	cloud.google.com/go/compute/metadata v0.10.0 // indirect
	github.com/googleapis/enterprise-certificate-proxy v0.3.23 // indirect
	github.com/googleapis/gax-go/v2 v2.27.0 // indirect
	github.com/santhosh-tekuri/jsonschema/v5 v5.3.1 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

// A module's replaces do not reach those who require it: these are for work in this repository.
replace (
	github.com/agonist-dev/debate => ../..
	github.com/agonist-dev/debate/provider/anthropic => ../anthropic
	github.com/agonist-dev/debate/provider/google => ../google
)
