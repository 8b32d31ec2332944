package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/examples/internal/stage"
)

func TestEverybodySeesTheChart(t *testing.T) {
	var out bytes.Buffer
	engine, model := stage.Choose(func(string) string { return "" }, script())
	require.NoError(t, run(t.Context(), &out, engine, model))
	text := out.String()
	assert.Equal(t, 3, strings.Count(text, "I see cyclists.png, image/png of"), text)
	assert.NotContains(t, text, "I see no chart")
	assert.Contains(t, text, "[image: cyclists.png] image/png, ")
	assert.Contains(t, text, "At most ")
}
