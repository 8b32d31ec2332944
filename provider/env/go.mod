module github.com/agonist-dev/debate/provider/env

go 1.26.0

require github.com/agonist-dev/debate v0.0.0

replace github.com/agonist-dev/debate => ../..
