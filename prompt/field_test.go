package prompt_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/schema"
	"github.com/agonist-dev/debate/internal/strictjson"
	"github.com/agonist-dev/debate/prompt"
)

var (
	criteria6 = []string{"logical consistency", "evidence quality", "engagement", "novelty", "persuasiveness", "relevance"}
	speakers  = []string{"Ada", "Ben"}
)

// assessment is what a judge is asked after a round, and verdict at the end.
func assessment(people []string) prompt.Fields {
	return prompt.Fields{
		{Name: "assessments", Kind: prompt.List, Ask: "for each of " + prompt.Names, Of: prompt.Fields{
			{Name: "participant", Kind: prompt.Choice, Ask: "the name as given", Names: people},
			{Name: "strengths", Kind: prompt.Texts, Ask: "lists of up to three sentences, each on a point that was made"},
			{Name: "weaknesses", Kind: prompt.Texts, Ask: "lists of up to three sentences, each on a point that was made"},
			{Name: "criteria", Kind: prompt.ByName, Ask: "for each criterion, 0 to 10", Names: criteria6, Of: prompt.Fields{{Kind: prompt.Number}}},
		}},
		{Name: "reasoning", Ask: "what happened in the round, what was new, what is open; three to six sentences"},
		{Name: "ending", Ask: `if the debate should end before its last round, why, with the words that show it; else ""`},
		{Name: "flags", Kind: prompt.Object, Ask: "each true or false", Of: prompt.Fields{
			{Name: "repetitive", Kind: prompt.Truth, Ask: "most of the round had been said before"},
			{Name: "drifting", Kind: prompt.Truth, Ask: "most of the round is not about the topic"},
			{Name: "diminishingReturns", Kind: prompt.Truth, Ask: "each of the last two rounds brought less than the round before it"},
			{
				Name: "convergenceReached", Kind: prompt.Truth,
				Ask: "all now give the same answer to the topic, or agree that they will not agree, and on what; clear views alone do not suffice",
			},
		}},
		{Name: "qualityScore", Kind: prompt.Number, Ask: "the round as a whole, 0 to 10"},
		{Name: "shouldContinue", Kind: prompt.Truth, Ask: "whether a further round would bring what a reader would miss; false ends the debate"},
	}
}

func finalVerdict(people []string) prompt.Fields {
	return prompt.Fields{
		{Name: "summary", Ask: "what was disputed and how it went, for somebody who has read nothing of it"},
		{Name: "keyPoints", Kind: prompt.List, Ask: "for each of " + prompt.Names, Of: prompt.Fields{
			{Name: "participant", Kind: prompt.Choice, Ask: "the name as given", Names: people},
			{Name: "mainArguments", Kind: prompt.Texts, Ask: "what carried the case, and whether it held"},
		}},
		{Name: "areasOfAgreement", Kind: prompt.Texts, Ask: "as they are at the end"},
		{Name: "areasOfDisagreement", Kind: prompt.Texts, Ask: "as they are at the end"},
		{Name: "criteria", Kind: prompt.ByName, Ask: "by each criterion, a sentence that compares the participants", Names: criteria6},
		{Name: "scores", Kind: prompt.ByName, Ask: "0 to 100 for " + prompt.Names, Names: people, Of: prompt.Fields{{Kind: prompt.Number}}},
		{
			Name: "winner", Kind: prompt.Object, Null: true, Ask: "null if the best two scores are less than 3 apart, else who is ahead",
			Of: prompt.Fields{
				{Name: "reasoning", Ask: "the points that decided it"},
				{Name: "participant", Kind: prompt.Choice, Ask: "the name as given", Names: people},
			},
		},
		{Name: "qualityScore", Kind: prompt.Number, Ask: "the discussion as a whole, 0 to 100"},
		{Name: "insights", Kind: prompt.Texts, Ask: "at most five, for somebody who must decide the question"},
	}
}

// TestFieldsYieldTextAndSchemaInOneOrder: what a model is told and what a schema demands come from one list.
func TestFieldsYieldTextAndSchemaInOneOrder(t *testing.T) {
	for name, of := range map[string]func([]string) prompt.Fields{"assess": assessment, "verdict": finalVerdict} {
		t.Run(name, func(t *testing.T) {
			words, err := os.ReadFile(filepath.Join("testdata", "fields", name+".txt"))
			require.NoError(t, err)
			shape, err := os.ReadFile(filepath.Join("testdata", "fields", name+".json"))
			require.NoError(t, err)
			fields := of(speakers)
			text := prompt.FillNames(fields.String(), speakers)
			assert.Equal(t, string(words), text+"\n")
			assert.Equal(t, strings.TrimSpace(string(shape)), string(fields.Schema()))
			assert.Equal(t, of(nil).String(), fields.String(), "the words are rendered before the names are known")
			_, err = schema.Compile(name, fields.Schema())
			require.NoError(t, err)
			assert.Equal(t, namesIn(text), propertiesOf(t, fields.Schema(), criteria6, speakers))
		})
	}
}

// TestNamesInFields: they stand in the order of the call, whatever characters they have.
func TestNamesInFields(t *testing.T) {
	ask := "each of " + prompt.Names
	assert.Equal(t, `each of "Ben", "Ada"`, prompt.FillNames(ask, []string{"Ben", "Ada"}))
	assert.Equal(t, `each of "O'Neil \"Q\"", "日本 太郎", "علي"`, prompt.FillNames(ask, []string{`O'Neil "Q"`, "日本 太郎", "علي"}))
	assert.Equal(t, `each of "Aroundz"`, prompt.FillNames(ask, []string{"A" + prompt.Round + "z"}), "a name holds no placeholder")
	assert.Equal(t, "each", prompt.FillNames("each", []string{"Ada"}))
	both := prompt.FillNames(prompt.Fill("round "+prompt.Round+": "+prompt.Names, 2, 3), []string{"Ada"})
	assert.Equal(t, `round 2: "Ada"`, both, "the two placeholders are filled one by one")
	first, second := finalVerdict([]string{"Ada", "Ben"}).Schema(), finalVerdict([]string{"Ben", "Ada"}).Schema()
	assert.Contains(t, string(first), `"scores":{"type":"object","properties":{"Ada":`)
	assert.Contains(t, string(second), `"scores":{"type":"object","properties":{"Ben":`)
}

// TestWhatFieldsAllow: each kind accepts its own values and nothing else.
func TestWhatFieldsAllow(t *testing.T) {
	for name, c := range map[string]struct {
		field         prompt.Field
		fits, refused []string
	}{
		"text":            {prompt.Field{}, []string{`"a"`, `""`}, []string{`1`, `null`}},
		"texts":           {prompt.Field{Kind: prompt.Texts}, []string{`[]`, `["a"]`}, []string{`"a"`, `[1]`}},
		"texts of a list": {prompt.Field{Kind: prompt.Texts, Names: speakers}, []string{`["Ben"]`}, []string{`["Cy"]`}},
		"truth":           {prompt.Field{Kind: prompt.Truth}, []string{`true`}, []string{`"true"`, `0`}},
		"number":          {prompt.Field{Kind: prompt.Number}, []string{`7`, `6.5`}, []string{`"7"`}},
		"choice":          {prompt.Field{Kind: prompt.Choice, Names: speakers}, []string{`"Ada"`}, []string{`"Cy"`, `null`}},
		"choice or null":  {prompt.Field{Kind: prompt.Choice, Names: speakers, Null: true}, []string{`"Ada"`, `null`}, []string{`"Cy"`}},
		"object": {
			prompt.Field{Kind: prompt.Object, Of: prompt.Fields{{Name: "why"}, {Name: "more", Optional: true}}},
			[]string{`{"why":"a"}`, `{"why":"a","more":"b"}`},
			[]string{`{}`, `{"why":"a","other":"b"}`},
		},
		"list": {
			prompt.Field{Kind: prompt.List, Of: prompt.Fields{{Name: "why"}}}, []string{`[]`, `[{"why":"a"}]`}, []string{`{"why":"a"}`, `[{}]`},
		},
		"by name": {
			prompt.Field{Kind: prompt.ByName, Names: speakers, Of: prompt.Fields{{Kind: prompt.Number}}},
			[]string{`{"Ada":1,"Ben":2}`},
			[]string{`{"Ada":1}`, `{"Ada":1,"Ben":2,"Cy":3}`, `{"Ada":1,"Ben":"2"}`},
		},
		"texts by name": {prompt.Field{Kind: prompt.ByName, Names: speakers}, []string{`{"Ada":"a","Ben":"b"}`}, []string{`{"Ada":1,"Ben":2}`}},
	} {
		t.Run(name, func(t *testing.T) {
			c.field.Name = "it"
			compiled, err := schema.Compile("it", prompt.Fields{c.field}.Schema())
			require.NoError(t, err)
			for _, value := range append(c.fits, c.refused...) {
				tree, err := strictjson.Decode(`{"it":`+value+`}`, strictjson.Limits{})
				require.NoError(t, err)
				if problems := compiled.Validate(tree); len(c.fits) > 0 {
					assert.Empty(t, problems, value)
					c.fits = c.fits[1:]
				} else {
					assert.NotEmpty(t, problems, value)
				}
			}
		})
	}
}

// namesIn returns the fields that an instruction names, in their order.
func namesIn(text string) (names []string) {
	for line := range strings.SplitSeq(text, "\n") {
		head := regexp.MustCompile(`^ *- ("[^"]*"(?:, "[^"]*")*)`).FindStringSubmatch(line)
		if head == nil {
			continue
		}
		for name := range strings.SplitSeq(head[1], ", ") {
			names = append(names, strings.Trim(name, `"`))
		}
	}
	return names
}

// propertiesOf returns the properties of a schema, in their order, without those that are names.
func propertiesOf(t *testing.T, data json.RawMessage, without ...[]string) (names []string) {
	t.Helper()
	left := make(map[string]bool)
	for _, list := range without {
		for _, name := range list {
			left[name] = true
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	var walk func(key string)
	walk = func(key string) {
		token, err := decoder.Token()
		require.NoError(t, err)
		delim, ok := token.(json.Delim)
		if !ok {
			return
		}
		for decoder.More() {
			inner := ""
			if delim == '{' {
				name, err := decoder.Token()
				require.NoError(t, err)
				inner, _ = name.(string)
				if key == "properties" && !left[inner] {
					names = append(names, inner)
				}
				if key == "properties" {
					inner = "" // a property may have any name
				}
			}
			walk(inner)
		}
		_, err = decoder.Token()
		require.NoError(t, err)
	}
	walk("")
	return names
}

// FuzzFields: whatever a field is called and asked, the schema is one that compiles, and it has the name as it is.
func FuzzFields(f *testing.F) {
	f.Add("winner", "who is ahead", "Ada", uint8(4))
	f.Add("a \"b\"\n", "\\", "\u202eAda", uint8(7))
	f.Add("", "", "", uint8(5))
	f.Add("\xff", "\xee\x80", "<Ada>&\u2028", uint8(3))
	f.Fuzz(func(t *testing.T, name, ask, person string, kind uint8) {
		inner := prompt.Field{Name: name + "'", Kind: prompt.Kind(kind % 5), Ask: ask, Names: []string{person}}
		fields := prompt.Fields{
			{Name: name, Kind: prompt.Kind(kind % 8), Ask: ask, Names: []string{person}, Of: prompt.Fields{inner}, Null: kind&64 != 0, Optional: kind&128 != 0},
			inner,
		}
		data := fields.Schema()
		require.True(t, json.Valid(data), "%s", data)
		_, err := schema.Compile("fuzz", data)
		require.NoError(t, err, "%s", data)
		text := fields.String()
		assert.Contains(t, text, strconv.Quote(name))
		assert.Contains(t, text, strconv.Quote(name+"'"))
		assert.NotContains(t, prompt.FillNames(prompt.Names, []string{person}), "\uE000")
	})
}
