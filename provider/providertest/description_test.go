package providertest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider/providertest"
)

func TestDescription(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"$defs":{
		"Request":{"allOf":[{"$ref":"#/$defs/Named"},{"type":"object","properties":{
			"list":{"type":"array","items":{"oneOf":[{"$ref":"#/$defs/Text"},{"$ref":"#/$defs/Tool"}]}},
			"labels":{"type":"object","additionalProperties":{"type":"string"}},"any":{"type":"object"},"again":{"$ref":"#/$defs/Request"}
		},"required":["list"]}]},
		"Named":{"type":"object","properties":{"model":{"type":"string"}},"required":["model"]},
		"Text":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]},
		"Tool":{"type":"object","properties":{"tool":{"type":"integer","maximum":3}},"required":["tool"],"additionalProperties":false}
	}}`), 0o600))
	d, err := providertest.ReadDescription(path, "Request")
	require.NoError(t, err)
	for body, want := range map[string]string{
		`{"model":"m","list":[{"text":"a"},{"tool":1}]}`:                   "",
		`{"model":"m","list":[],"labels":{"a":"b"},"any":{"x":{"y":1}}}`:   "",
		`{"model":"m","list":[],"again":{"model":"n","list":[]}}`:          "",
		`{"model":"m","list":[{"text":"a","sort":1}]}`:                     "/list/0/sort: the description names no such field",
		`{"model":"m","list":[],"modal":"n"}`:                              "/modal: the description names no such field",
		`{"model":"m","list":[],"again":{"model":"n","list":[],"any2":1}}`: "/again/any2",
		`{"model":"m"}`:                         "list",
		`{"model":"m","list":[{"tool":4}]}`:     "/list/0",
		`{"model":"m","list":[],"labels":"no"}`: "labels",
		`{"model":`:                             "EOF",
	} {
		err := d.Check([]byte(body))
		if want == "" {
			assert.NoError(t, err, body)
			continue
		}
		assert.ErrorContains(t, err, want, body)
	}
	for _, name := range []string{"Missing", "x/y"} {
		_, err = providertest.ReadDescription(path, name)
		assert.Error(t, err, name)
	}
	_, err = providertest.ReadDescription(path+"x", "Request")
	assert.Error(t, err)
}
