package format_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// townHall is a format that a host has defined, with a cast for it.
func townHall(t testing.TB) (*debate.Format, debate.Config) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "formats", "town-hall.json"))
	require.NoError(t, err)
	f, err := format.Parse(data)
	require.NoError(t, err)
	return &f, debate.Config{
		Topic:        "Should the market square be closed to cars?",
		Participants: stage.Actors("Mia neutral", "Ada", "Mayor", "Ben"), Audience: listeners(1),
	}
}

// In a ring each speaker reads the one before it, and the chair; the chair reads all.
func TestAFormatOfTheHosts(t *testing.T) {
	f, config := townHall(t)
	config.CustomFormat = f
	engine, source := stage.Ready(config)
	require.NoError(t, engine.Validate(t.Context(), config))
	stage.Run(t, engine, config)
	for _, request := range source.Requests() {
		if !strings.Contains(request.ID, "/r3.") {
			continue
		}
		read := make(map[string]bool)
		for _, m := range request.Messages {
			read[m.Speaker] = true
		}
		for name, want := range map[string][]bool{ // whether Ada, Ben, the mayor and the chair are read
			"Ada": {true, true, false, true}, "Mayor": {true, false, true, true},
			"Ben": {false, true, true, true}, "Mia": {true, true, true, true},
		} {
			if request.Self == name {
				assert.Equal(t, want, []bool{read["Ada"], read["Ben"], read["Mayor"], read["Mia"]}, "%s in %s", name, request.ID)
			}
		}
	}
}

// A format is data: a host stores it as JSON.
func Example_format() {
	data, err := os.ReadFile("testdata/formats/town-hall.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := format.Parse(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	config := debate.Config{
		Topic:        "Should the market square be closed to cars?",
		CustomFormat: &f,
		Participants: []debate.Participant{
			{Name: "Mia", Side: debate.Neutral, Model: "openai/gpt-5"},
			{Name: "Ada", Model: "openai/gpt-5"},
			{Name: "Mayor", Model: "openai/gpt-5"},
			{Name: "Ben", Model: "openai/gpt-5"},
		},
	}
	for _, speech := range f.Schedule(config.Cast(), 1) {
		fmt.Printf("%s: %s, %d words, group %d\n", speech.Kind, speech.Speaker, speech.Words, speech.Group)
	}
	// Output:
	// opening: Mia, 140 words, group 0
	// statement: Ada, 210 words, group 1
	// statement: Mayor, 210 words, group 1
	// statement: Ben, 210 words, group 1
}

// Text that is no format is refused at once.
func TestParseFormatIsStrict(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"unknown key":        {`{"name":"own","phasis":[]}`, "phasis"},
		"unknown inner key":  {`{"name":"own","phases":[{"name":"a","slots":[{"who":"all","minute":3}]}]}`, "minute"},
		"a key in two cases": {`{"name":"own","Name":"other"}`, "Name"},
		"a key twice":        {`{"name":"own","name":"other"}`, "name"},
		"no name":            {`{"end":"rounds"}`, "name"},
		"no object":          {`["own"]`, ""},
		"nothing":            {``, ""},
		"null":               {`null`, "name"},
		"more behind":        {`{"name":"own"} {}`, ""},
		"half":               {`{"name":"own"`, ""},
		"NaN":                {`{"name":"own","phases":[{"name":"a","slots":[{"who":"all","minutes":NaN}]}]}`, ""},
		"a huge number":      {`{"name":"own","phases":[{"name":"a","slots":[{"who":"all","minutes":1e999}]}]}`, ""},
		"no whole number":    {`{"name":"own","rounds":1.5}`, "rounds"},
		"another type":       {`{"name":7}`, "name"},
		"deep":               {strings.Repeat("[", 100_000), ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := format.Parse([]byte(tc.text))
			var e *debate.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, provider.KindValidation, e.Kind)
			assert.Contains(t, err.Error(), tc.want)
			assert.Less(t, len(err.Error()), 500)
			assert.Empty(t, f)
		})
	}
}

// own writes a format of one phase with one slot, and what is put into them.
func own(f, phase, slot string) string {
	return fmt.Sprintf(`{"name":"own","end":"rounds"%s,"phases":[{"name":"talk","first":1,"last":-1%s,"slots":[{"who":"all"%s}]}]}`,
		f, phase, slot)
}

// badFormats parse but make no sense, by the field that is named.
func badFormats() map[string]struct{ field, text string } {
	who := func(who string) string { return strings.Replace(own("", "", ""), `"all"`, strconv.Quote(who), 1) }
	phases := func(phases string) string { return `{"name":"own","end":"rounds","phases":[` + phases + `]}` }
	many := func(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	const phase, slot = "customFormat.phases[0]", "customFormat.phases[0].slots[0]"
	return map[string]struct{ field, text string }{
		"no phases":              {"customFormat.phases", phases("")},
		"too many phases":        {"customFormat.phases", phases(many(101, `{"name":"a","first":1,"last":1}`))},
		"a name of two lines":    {"customFormat.name", `{"name":"a\nb","end":"rounds","phases":[{"name":"a","first":1,"last":1}]}`},
		"a fence as a name":      {phase + ".name", phases(`{"name":"<<<x>>>","first":1,"last":1}`)},
		"a phase without a name": {phase + ".name", phases(`{"first":1,"last":1}`)},
		"a phase twice":          {"customFormat.phases[1].name", phases(many(2, `{"name":"a","first":1,"last":1}`))},
		"a speech as a verdict":  {slot + ".kind", own("", "", `,"kind":"verdict"`)},
		"named like a vote":      {phase + ".name", phases(`{"name":"ballot","first":1,"last":1}`)},
		"named like a summary":   {phase + ".name", phases(`{"name":"summary","first":1,"last":1,"slots":[{"who":"all","kind":"x"},{"who":"for"}]}`)},
		"named like a text":      {phase + ".name", phases(`{"name":"a.only","first":1,"last":1}`)},
		"round 0":                {phase, phases(`{"name":"a","first":0,"last":1}`)},
		"back to the future":     {phase + ".back", own("", `,"back":-1`, "")},
		"too many slots":         {phase + ".slots", phases(`{"name":"a","first":1,"last":1,"slots":[` + many(101, `{"who":"all"}`) + `]}`)},
		"fits nobody":            {"format.phases[0].slots", who("audience:1")},
		"for:0":                  {slot + ".who", who("for:0")},
		"for:-1":                 {slot + ".who", who("for:-1")},
		"for:x":                  {slot + ".who", who("for:x")},
		"for:":                   {slot + ".who", who("for:")},
		"nobody":                 {slot + ".who", who("nobody")},
		"empty":                  {slot + ".who", who("")},
		"name:":                  {slot + ".who", who("name:")},
		"name:Zoe":               {"format.phases[0].slots[0].who", who("name:Zoe")},
		"others ask":             {slot + ".who", who("others")},
		"to nobody":              {slot + ".to", own("", "", `,"to":"for:0"`)},
		"to a stranger":          {"format.phases[0].slots[0].to", own("", "", `,"to":"name:Zoe"`)},
		"negative minutes":       {slot + ".minutes", own("", "", `,"minutes":-1`)},
		"hours":                  {slot + ".minutes", own("", "", `,"minutes":120.5`)},
		"minutes beyond number":  {slot + ".minutes", own("", "", `,"minutes":1e308`)},
		"negative exchanges":     {slot + ".exchanges", own("", "", `,"to":"others","exchanges":-1`)},
		"too many exchanges":     {slot + ".exchanges", own("", "", `,"to":"others","exchanges":21`)},
		"endless exchanges":      {slot + ".exchanges", own("", "", `,"to":"others","exchanges":1000000000`)},
		"nobody answers":         {slot + ".to", own("", "", `,"exchanges":1`)},
		"answers at once":        {slot + ".group", own("", "", `,"to":"others","exchanges":1,"group":1`)},
		"negative group":         {slot + ".group", own("", "", `,"group":-1`)},
		"negative words":         {slot + ".words", own("", "", `,"words":-1`)},
		"negative tokens":        {slot + ".maxTokens", own("", "", `,"maxTokens":-1`)},
		"a kind of two lines":    {slot + ".kind", own("", "", `,"kind":"a\nb"`)},
		"a NUL":                  {slot + ".instruction", own("", "", `,"instruction":"\u0000"`)},
		"an endless instruction": {phase + ".instruction", own("", `,"instruction":"`+strings.Repeat("x", 30_000)+`"`, "")},
		"an endless answer":      {slot + ".answer", own("", "", `,"answer":"`+strings.Repeat("x", 30_000)+`"`)},
		"too many speeches": {
			"format.phases[0]",
			phases(`{"name":"a","first":1,"last":1,"slots":[` + many(26, `{"who":"all","to":"others","exchanges":20}`) + `]}`),
		},
		"an end unknown":       {"customFormat.end", strings.Replace(own("", "", ""), "rounds", "never", 1)},
		"no end":               {"customFormat.end", strings.Replace(own("", "", ""), `"end":"rounds",`, "", 1)},
		"a decision unknown":   {"customFormat.decide", own(`,"decide":"dice"`, "", "")},
		"a stance unknown":     {"customFormat.stance", own(`,"stance":"stubborn"`, "", "")},
		"seats of no stance":   {"customFormat.seats[0].stance", own(`,"seats":[{"side":"for","stance":"stubborn"}]`, "", "")},
		"an aim unknown":       {"customFormat.aim", own(`,"aim":"applause"`, "", "")},
		"a graph unknown":      {"customFormat.reads.graph", own(`,"reads":{"graph":"star"}`, "", "")},
		"edges of a stranger":  {"format.reads.edges", own(`,"reads":{"graph":"edges","edges":{"Zoe":["Ada"]}}`, "", "")},
		"edges to a stranger":  {"format.reads.edges", own(`,"reads":{"graph":"edges","edges":{"Ada":["Zoe"]}}`, "", "")},
		"edges of no graph":    {"customFormat.reads.edges", own(`,"reads":{"edges":{"Ada":["Ben"]}}`, "", "")},
		"a graph of no edges":  {"customFormat.reads.edges", own(`,"reads":{"graph":"edges"}`, "", "")},
		"a chair unknown":      {"customFormat.chair", own(`,"chair":"throne"`, "", "")},
		"a detector unknown":   {"customFormat.watch[0]", own(`,"watch":["lies"]`, "", "")},
		"no detector to stop":  {"customFormat.stopOn[1]", own(`,"stopOn":["drift","lies"]`, "", "")},
		"negative rounds":      {"customFormat.rounds", own(`,"rounds":-1`, "", "")},
		"negative seats":       {"customFormat.seats[0]", own(`,"seats":[{"side":"for","min":-1}]`, "", "")},
		"more least than most": {"customFormat.seats[0]", own(`,"seats":[{"side":"for","min":3,"max":2}]`, "", "")},
		"seats of a side unknown": {
			"customFormat.seats[0].side", own(`,"seats":[{"side":"left","min":1}]`, "", ""),
		},
		"seats of one side twice": {
			"customFormat.seats[1].side", own(`,"seats":[{"side":"for","max":1},{"side":"for","min":1}]`, "", ""),
		},
		"seats for others": {"participants[1].side", own(`,"seats":[{"side":"for","min":1}]`, "", "")},
		"empty seats":      {"participants", own(`,"seats":[{"side":"for"},{"side":"against"},{"side":"neutral","min":1}]`, "", "")},
		"an endless role":  {"customFormat.seats[0].role", own(`,"seats":[{"side":"for","role":"`+strings.Repeat("x", 30_000)+`"}]`, "", "")},
		"a crowd at least": {"customFormat.minParticipants", own(`,"minParticipants":5,"maxParticipants":3`, "", "")},
		"fewer than none":  {"customFormat.minParticipants", own(`,"maxParticipants":-3`, "", "")},
		"a cast too small": {"participants", own(`,"minParticipants":3`, "", "")},
		"endless guidance": {"customFormat.guidance", own(`,"guidance":"`+strings.Repeat("x", 30_000)+`"`, "", "")},
	}
}

func TestBadFormatsAreRefusedByField(t *testing.T) {
	for name, tc := range badFormats() {
		t.Run(name, func(t *testing.T) {
			f, err := format.Parse([]byte(tc.text))
			require.NoError(t, err)
			config := stage.TwoDebaters()
			config.Format, config.CustomFormat = "", &f
			engine, _ := stage.Ready(config)
			stage.Refused(t, engine.Validate(t.Context(), config), tc.field)
			_, err = engine.Start(t.Context(), config)
			stage.Refused(t, err, tc.field)
		})
	}
	f, err := format.Parse([]byte(own("", "", "")))
	require.NoError(t, err)
	config := stage.TwoDebaters()
	config.Format, config.CustomFormat = "", &f
	engine, _ := stage.Ready(config)
	require.NoError(t, engine.Validate(t.Context(), config), "without a fault it is taken")

	// A name of a phase that no speech has as its kind may be that of anything.
	f, err = format.Parse([]byte(strings.ReplaceAll(own("", "", `,"kind":"talk"`), `"name":"talk"`, `"name":"verdict"`)))
	require.NoError(t, err)
	require.NoError(t, engine.Validate(t.Context(), config))

	engine, _ = stage.Ready(config)
	engine.Formats = map[string]debate.Format{"bad": {Name: "bad", End: format.EndByRounds}}
	stage.Refused(t, engine.Validate(t.Context(), stage.TwoDebaters()), "Formats[bad].phases")
}

// A format within its bounds by every number, and far beyond them by their product, costs no time.
func TestAHugeFormatIsRefusedSoon(t *testing.T) {
	slot := format.Slot{Who: format.Everyone, To: format.Others, Exchanges: 20}
	huge := debate.Format{Name: "huge", End: format.EndByRounds}
	for i := range 20 {
		huge.Phases = append(huge.Phases, format.Phase{
			Name: strconv.Itoa(i), First: 1, Last: 1, Slots: slices.Repeat([]format.Slot{slot}, 100),
		})
	}
	config := stage.TwoDebaters()
	config.Format, config.CustomFormat = "", &huge
	for i := range 8 {
		config.Participants = append(config.Participants, debate.Participant{Name: "P" + strconv.Itoa(i), Model: "test/debater"})
	}
	engine, _ := stage.Ready(config)
	stage.Soon(t, func() { stage.Refused(t, engine.Validate(t.Context(), config), "format.phases[0]") })

	crowded := debate.Format{Name: "crowded", End: format.EndByRounds, Phases: []format.Phase{{Name: "a", First: 1, Last: 1}}}
	crowded.Seats = slices.Repeat([]format.Seats{{Side: debate.For, Role: "x"}}, 2_000)
	config = stage.TwoDebaters()
	config.Format, config.CustomFormat = "", &crowded
	stage.Soon(t, func() { require.Error(t, engine.Validate(t.Context(), config)) })
}

// FuzzParseFormat: whatever is given is refused with a validation error, or is a format that survives
// a round trip; checking it neither panics nor takes long.
func FuzzParseFormat(f *testing.F) {
	for _, shape := range format.Builtin() {
		f.Add([]byte(stage.JSON(shape)))
	}
	town, _ := townHall(f)
	f.Add([]byte(stage.JSON(town)))
	for _, bad := range badFormats() {
		f.Add([]byte(bad.text))
	}
	base := castings(format.Oxford)[1].config
	engine, _ := stage.Ready(base)
	f.Fuzz(func(t *testing.T, data []byte) {
		stage.Soon(t, func() {
			shape, err := format.Parse(data)
			if err != nil {
				var e *debate.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, provider.KindValidation, e.Kind)
				return
			}
			if again, err := format.Parse([]byte(stage.JSON(shape))); assert.NoError(t, err) {
				assert.Equal(t, stage.JSON(shape), stage.JSON(again))
			}
			config := base
			config.Format, config.CustomFormat = "", &shape
			err = engine.Validate(t.Context(), config)
			var e *debate.Error
			if err != nil && (!errors.As(err, &e) || e.Kind != provider.KindValidation) {
				t.Errorf("validate: %v", err)
			}
			if err == nil {
				for round := 1; round <= 3; round++ {
					assert.NotEmpty(t, shape.Schedule(config.Cast(), round))
				}
			}
		})
	})
}
