module github.com/agonist-dev/debate/provider/env

go 1.26.0

require (
	github.com/agonist-dev/debate v0.0.0
	github.com/agonist-dev/debate/provider/anthropic v0.0.0
	github.com/agonist-dev/debate/provider/google v0.0.0
	github.com/agonist-dev/debate/provider/openai v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

// A module's replaces do not reach those who require it: these are for work in this repository.
replace (
	github.com/agonist-dev/debate => ../..
	github.com/agonist-dev/debate/provider/anthropic => ../anthropic
	github.com/agonist-dev/debate/provider/google => ../google
	github.com/agonist-dev/debate/provider/openai => ../openai
)
