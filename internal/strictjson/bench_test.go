package strictjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agonist-dev/debate/internal/strictjson"
)

// assessment is what a judge says after a round with three speakers, about 600 bytes.
const assessment = `{"shouldContinue":true,"qualityScore":7.5,"assessments":[` +
	`{"participant":"Ada","strengths":["clear thesis","cites the Oslo study"],"weaknesses":["ignores costs"],"score":8},` +
	`{"participant":"Ben","strengths":["strong rebuttal of the toll"],"weaknesses":["repeats round one"],"score":6.5},` +
	`{"participant":"Cleo","strengths":["new point on freight"],"weaknesses":["no evidence"],"score":7.0}],` +
	`"flags":{"repetitive":false,"drifting":false,"diminishingReturns":false,"convergenceReached":false},` +
	`"reasoning":"The round moved from slogans to figures; freight was new.","recommendations":"Ask Ben for a source on prices."}`

func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(assessment)))
	for b.Loop() {
		if _, err := strictjson.Decode(assessment, strictjson.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncodingJSON is what Decode is measured against.
func BenchmarkEncodingJSON(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(assessment)))
	for b.Loop() {
		var v any
		if err := json.Unmarshal([]byte(assessment), &v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnwrap(b *testing.B) {
	text := "<think>" + strings.Repeat("hm ", 500) + "</think>\n```json\n" + assessment + "\n```\n"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := strictjson.Unwrap(text); err != nil {
			b.Fatal(err)
		}
	}
}
