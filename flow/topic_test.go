package flow_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/flow"
)

func TestATopicIsTheFirstLine(t *testing.T) {
	for content, want := range map[string]string{
		"":                             "none",
		"# A heading \n\nand more":     "A heading",
		"a\xffb\x00c":                  "abc",
		strings.Repeat("x", 300):       strings.Repeat("x", 200),
		"x" + strings.Repeat("ü", 150): "x" + strings.Repeat("ü", 99),
	} {
		assert.Equal(t, want, flow.TopicOf(content, "none"))
	}
}
