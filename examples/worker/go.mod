module github.com/agonist-dev/debate/examples/worker

go 1.26.0

require (
	github.com/agonist-dev/debate v0.0.0
	github.com/agonist-dev/debate/store/sql v0.0.0
	github.com/agonist-dev/debate/worker/river v0.0.0
	github.com/riverqueue/river v0.51.1
	github.com/riverqueue/river/riverdriver/riversqlite v0.51.1
	github.com/stretchr/testify v1.12.1
	modernc.org/sqlite v1.60.0
)

replace (
	github.com/agonist-dev/debate => ../..
	github.com/agonist-dev/debate/store/sql => ../../store/sql
	github.com/agonist-dev/debate/worker/river => ../../worker/river
)
