package requests_test

import "flag"

var _ = flag.Bool("update", false, "rewrite the golden files under testdata")
