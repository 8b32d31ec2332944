package prompt_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/prompt"
)

var update = flag.Bool("update", false, "rewrite the files under testdata")

const topic = "Should cities ban cars from their centres?"

var (
	names  = []string{"Ada", "Ben", "Cy"}
	rubric = []prompt.Criterion{
		{Name: "logical consistency", Weight: 62.5, Low: "contradictory", High: "perfectly consistent"},
		{Name: "evidence quality", Weight: 37.5, Low: "none", High: "strong throughout"},
	}
	people = []prompt.Person{
		{Name: "Ada", Side: "for", Position: "Ban them."},
		{Name: "Ben", Side: "against", Position: "Price them."},
		{Name: "Cy"},
	}
)

// full is a debater with every value given.
func full() prompt.Debater {
	return prompt.Debater{
		Topic:          topic,
		Name:           "Ada",
		Side:           "for",
		Position:       "Ban them.",
		Persona:        "A traffic planner who has closed three streets.",
		Instructions:   "Use metric units.",
		Format:         "structured-rounds",
		FormatGuidance: "Openings come first, rebuttals follow, closings end the debate.",
		Others:         people[1:],
		Rounds:         3,
		Fence:          "k7qz",
	}
}

func judge() prompt.Judge {
	return prompt.Judge{
		Name:           "Grace",
		Topic:          topic,
		Format:         "structured-rounds",
		FormatGuidance: "Openings come first, rebuttals follow, closings end the debate.",
		Participants:   people,
		Rounds:         3,
		Fence:          "k7qz",
	}
}

func debater(change func(*prompt.Debater)) render {
	d := full()
	change(&d)
	return func(s *prompt.Set) (string, error) { return s.Debater(d) }
}

// chair is one who leads the talk.
func chair(change func(*prompt.Debater)) render {
	return debater(func(d *prompt.Debater) {
		*d = prompt.Debater{
			Topic: topic, Name: "Fay", Persona: "A patient teacher.", Format: "roundtable", Role: "to open the talk and to sum it up",
			Chair: true, Others: people, Fence: "k7qz",
		}
		change(d)
	})
}

func turn(v prompt.Turn) render { return func(s *prompt.Set) (string, error) { return s.Turn(v) } }

func judged(change func(*prompt.Judge)) render {
	j := judge()
	change(&j)
	return func(s *prompt.Set) (string, error) { return s.Judge(j) }
}

func assess(v prompt.Assess) render {
	return func(s *prompt.Set) (string, error) { return s.Assess(v) }
}

func verdict(v prompt.Verdict) render {
	return func(s *prompt.Set) (string, error) { return s.Verdict(v) }
}

func tools(v prompt.Tools) render { return func(s *prompt.Set) (string, error) { return s.Tools(v) } }

func again(v prompt.Again) render { return func(s *prompt.Set) (string, error) { return s.Again(v) } }

func assign(v prompt.AssignPositions) render {
	return func(s *prompt.Set) (string, error) { return s.AssignPositions(v) }
}

func findings(v prompt.Findings) render {
	return func(s *prompt.Set) (string, error) { return s.Findings(v) }
}

func voter(change func(*prompt.Voter)) render {
	v := prompt.Voter{
		Topic:          topic,
		Name:           "Vera",
		Persona:        "A florist who delivers by van.",
		For:            "ban them",
		Against:        "let them drive",
		Format:         "oxford",
		FormatGuidance: "The audience votes before and after.",
		Participants:   people,
		Fence:          "k7qz",
	}
	change(&v)
	return func(s *prompt.Set) (string, error) { return s.Voter(v) }
}

func ballot(v prompt.Ballot) render {
	return func(s *prompt.Set) (string, error) { return s.Ballot(v) }
}

func summarizer(v prompt.Summarizer) render {
	return func(s *prompt.Set) (string, error) { return s.Summarizer(v) }
}

func summary(v prompt.Summary) render {
	return func(s *prompt.Set) (string, error) { return s.Summary(v) }
}

func language(name string) render {
	return func(s *prompt.Set) (string, error) { return s.Render("language", prompt.Language{Language: name}) }
}

func stance(d prompt.Debater) render {
	return func(s *prompt.Set) (string, error) { return s.Render("stance", d) }
}

func aim(j prompt.Judge) render { return func(s *prompt.Set) (string, error) { return s.Aim(j) } }

type render func(*prompt.Set) (string, error)

// everything renders each template once, with values.
func everything(t testing.TB, set *prompt.Set) map[string]string {
	t.Helper()
	all := map[string]render{
		"debater":    debater(func(*prompt.Debater) {}),
		"turn":       turn(prompt.Turn{Phase: "rebuttal", Rounds: 3}),
		"judge":      judged(func(*prompt.Judge) {}),
		"assess":     assess(prompt.Assess{Participants: names, Rounds: 3}),
		"verdict":    verdict(prompt.Verdict{Participants: names, Rounds: 3}),
		"again":      again(prompt.Again{Problems: []string{"one", "two"}}),
		"tools":      tools(prompt.Tools{Left: "3"}),
		"assign":     assign(prompt.AssignPositions{Topic: topic, Count: 3}),
		"findings":   findings(prompt.Findings{Items: []string{"one", "two"}}),
		"voter":      voter(func(*prompt.Voter) {}),
		"ballot":     ballot(prompt.Ballot{Before: true}),
		"summarizer": summarizer(prompt.Summarizer{Topic: topic, Participants: people, Fence: "k7qz"}),
		"summary":    summary(prompt.Summary{Words: "300"}),
		"fence":      func(s *prompt.Set) (string, error) { return s.FenceRule("k7qz"), nil },
		"language":   language("German"),
		"stance":     stance(prompt.Debater{Stance: "open", Position: "Ban them."}),
		"aim":        aim(prompt.Judge{Aim: "truth"}),
	}
	texts := make(map[string]string, len(all))
	for name, do := range all {
		texts[name] = text(t, set, do)
	}
	return texts
}

func text(t testing.TB, set *prompt.Set, do render) string {
	t.Helper()
	got, err := do(set)
	require.NoError(t, err)
	return got
}

// variants are the golden files: one for each branch that a reader of the prompts should see.
var variants = map[string]render{
	"debater-full":    debater(func(*prompt.Debater) {}),
	"debater-empty":   func(s *prompt.Set) (string, error) { return s.Debater(prompt.Debater{}) },
	"debater-against": debater(func(d *prompt.Debater) { d.Name, d.Side, d.Position, d.Others = "Ben", "against", "", people[:1] }),
	"debater-neutral": debater(func(d *prompt.Debater) {
		d.Side, d.Means, d.Position, d.Persona, d.Instructions = "neutral", "neither yes nor no", "", "", ""
	}),
	"debater-other-side": debater(func(d *prompt.Debater) { d.Side, d.Format, d.Rounds = "affirmative", "", 0 }),
	"debater-arguments":  debater(func(d *prompt.Debater) { d.KeyArguments = []string{"Air", "Room for trams"} }),
	"debater-role": debater(func(d *prompt.Debater) {
		d.Side, d.Position, d.Role = "", "", "to criticise what the others propose, and to offer no plan"
	}),
	"chair-full":       chair(func(*prompt.Debater) {}),
	"chair-empty":      func(s *prompt.Set) (string, error) { return s.Debater(prompt.Debater{Chair: true}) },
	"turn-opening":     turn(prompt.Turn{Phase: "opening", Opening: true, Rounds: 3, Words: 400}),
	"turn-rebuttal":    turn(prompt.Turn{Phase: "rebuttal", Rounds: 3}),
	"turn-closing":     turn(prompt.Turn{Phase: "closing", Closing: true, Rounds: 3}),
	"turn-only":        turn(prompt.Turn{Opening: true, Closing: true, Rounds: 1}),
	"turn-instruction": turn(prompt.Turn{Phase: "cross-examination", Instruction: "Put one short question to Ben.", Words: 40}),
	"turn-empty":       turn(prompt.Turn{}),
	"turn-target":      turn(prompt.Turn{Phase: "rebuttal", Target: "Ben"}),
	"turn-question": turn(prompt.Turn{
		Phase: "cross-examination", Question: true, Target: "Ben", Words: 40, Rounds: 3, Instruction: "Test the evidence.",
	}),
	"turn-answer":         turn(prompt.Turn{Phase: "cross-examination", Answer: true, Target: "Ada", Words: 80}),
	"turn-question-first": turn(prompt.Turn{Question: true, Target: "Ben", First: true, Rounds: 6}),
	"turn-question-all":   turn(prompt.Turn{Phase: "audience", Question: true}),
	"turn-answer-all":     turn(prompt.Turn{Phase: "audience", Answer: true}),
	"turn-chair":          turn(prompt.Turn{Phase: "exchange", Chair: true}),
	"turn-chair-opening":  turn(prompt.Turn{Phase: "opening", Chair: true, Opening: true, Words: 100}),
	"turn-chair-closing":  turn(prompt.Turn{Phase: "closing", Chair: true, Closing: true}),
	"turn-chair-only":     turn(prompt.Turn{Chair: true, Opening: true, Closing: true, Target: "Ben", Instruction: "Name a value."}),
	"judge-full":          judged(func(*prompt.Judge) {}),
	"judge-criteria":      judged(func(j *prompt.Judge) { j.Criteria = []string{"courage", "wit (0: none, 10: sparkling)"} }),
	"judge-rubric":        judged(func(j *prompt.Judge) { j.Rubric = rubric }),
	"judge-chairs": judged(func(j *prompt.Judge) {
		j.Format, j.FormatGuidance, j.Chairs, j.NoWinner = "roundtable", "", []string{"Fay", "Gil"}, true
	}),
	"judge-truth":         judged(func(j *prompt.Judge) { j.Aim, j.Roles = "truth", []string{"for: to make a proposal"} }),
	"judge-understanding": judged(func(j *prompt.Judge) { j.Aim, j.Instructions, j.Language = "understanding", "Be brief.", "German" }),
	"judge-empty":         func(s *prompt.Set) (string, error) { return s.Judge(prompt.Judge{}) },
	"assess-first":        assess(prompt.Assess{Rounds: 3, First: true, Fields: "The fields."}),
	"assess-later":        assess(prompt.Assess{Rounds: 3, Fields: "The fields."}),
	"assess-empty":        assess(prompt.Assess{}),
	"verdict-full":        verdict(prompt.Verdict{Participants: names, Rounds: 3, Fields: "The fields."}),
	"verdict-unfinished":  verdict(prompt.Verdict{Rounds: 3, Unfinished: true, Fields: "The fields."}),
	"verdict-empty":       verdict(prompt.Verdict{}),
	"again-problems":      again(prompt.Again{Problems: []string{"/qualityScore: must be <= 10 but found 80", "Ben is missing"}}),
	"again-empty":         again(prompt.Again{}),
	"tools-left":          tools(prompt.Tools{Left: "3"}),
	"tools-none":          tools(prompt.Tools{}),
	"assign-full": assign(prompt.AssignPositions{
		Topic: topic, FormatGuidance: "Two sides contend over a motion.", Count: 2, Diversity: "binary",
		Open: []prompt.Person{{Name: "Ben", Side: "against"}, {Name: "Cy", Persona: "A grocer."}}, Taken: people[:1],
		Instructions: "No politicians.", Language: "German", Fields: prompt.SampleFields,
	}),
	"assign-binary": assign(prompt.AssignPositions{
		Topic: topic, Count: 2, Diversity: "binary", Open: []prompt.Person{{Name: "Ada"}, {Name: "Ben"}}, Fields: prompt.SampleFields,
	}),
	"assign-spectrum":    assign(prompt.AssignPositions{Topic: topic, Count: 3, Diversity: "spectrum", Fields: prompt.SampleFields}),
	"assign-angles":      assign(prompt.AssignPositions{Topic: topic, Count: 3, Diversity: "multi-perspective", Fields: prompt.SampleFields}),
	"assign-empty":       assign(prompt.AssignPositions{}),
	"findings":           findings(prompt.Findings{Items: []string{"Ada: 41 % of this speech repeats an earlier one.", "Quality has fallen for three rounds."}}),
	"voter-full":         voter(func(*prompt.Voter) {}),
	"voter-empty":        voter(func(v *prompt.Voter) { *v = prompt.Voter{} }),
	"voter-instructed":   voter(func(v *prompt.Voter) { v.Instructions, v.For, v.Against = "You live there.", "", "" }),
	"ballot-before":      ballot(prompt.Ballot{Before: true, Fields: "The fields."}),
	"ballot-after":       ballot(prompt.Ballot{Former: "for", Fields: "The fields."}),
	"ballot-empty":       ballot(prompt.Ballot{}),
	"summarizer-full":    summarizer(prompt.Summarizer{Topic: topic, Participants: people, Fence: "k7qz"}),
	"summarizer-empty":   summarizer(prompt.Summarizer{}),
	"summary-first":      summary(prompt.Summary{Words: "300"}),
	"summary-former":     summary(prompt.Summary{Words: "300", Former: true}),
	"summary-empty":      summary(prompt.Summary{}),
	"language-given":     language("German"),
	"language-empty":     language(""),
	"stance-assigned":    stance(prompt.Debater{Side: "for"}),
	"stance-free":        stance(prompt.Debater{Place: "number 1 of 2"}),
	"stance-alone":       stance(prompt.Debater{}),
	"stance-open":        stance(prompt.Debater{Stance: "open"}),
	"stance-open-given":  stance(prompt.Debater{Stance: "open", Position: "Ban them."}),
	"stance-shared":      stance(prompt.Debater{Stance: "shared"}),
	"stance-shared-free": stance(prompt.Debater{Stance: "shared", Place: "number 2 of 3"}),
	"stance-examined":    stance(prompt.Debater{Stance: "examined"}),
	"stance-proposal":    stance(prompt.Debater{Stance: "proposal"}),
	"stance-critic":      stance(prompt.Debater{Stance: "critic"}),
	"stance-released":    stance(prompt.Debater{Side: "for", Released: true}),

	"stance-open-side": stance(prompt.Debater{Stance: "open", Side: "for"}), "stance-shared-side": stance(prompt.Debater{Stance: "shared", Side: "for"}),
	"stance-examined-side": stance(prompt.Debater{Stance: "examined", Side: "for"}),
	"stance-proposal-side": stance(prompt.Debater{Stance: "proposal", Side: "for"}),
	"stance-critic-side":   stance(prompt.Debater{Stance: "critic", Side: "against"}),
	"stance-role":          stance(prompt.Debater{Role: "to speak as a resident", Place: "number 2 of 2"}),

	"turn-released":     turn(prompt.Turn{Instruction: "Join the two plans.", Released: "side"}),
	"debater-sources":   debater(func(d *prompt.Debater) { d.Sources = true }),
	"judge-sources":     judged(func(j *prompt.Judge) { j.Sources, j.Closing = true, true }),
	"aim-truth":         aim(prompt.Judge{Aim: "truth", NoWinner: true}),
	"aim-understanding": aim(prompt.Judge{Aim: "understanding"}),
}

func TestGolden(t *testing.T) {
	set := parsed(t, nil)
	for name, do := range variants {
		t.Run(name, func(t *testing.T) {
			got := text(t, set, do) + "\n"
			path := filepath.Join("testdata", "golden", name+".txt")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
}

func TestGoldenFilesAreAllUsed(t *testing.T) {
	paths, err := filepath.Glob("testdata/golden/*.txt")
	require.NoError(t, err)
	assert.Len(t, paths, len(variants), "a file without a variant is never compared")
}

func TestLayout(t *testing.T) {
	set := parsed(t, nil)
	for name, do := range variants {
		t.Run(name, func(t *testing.T) {
			got := text(t, set, do)
			assert.NotContains(t, got, "\n\n\n", "empty values leave no gap")
			assert.NotRegexp(t, `(?m)[ \t]+$`, got, "white space at the end of a line")
			assert.NotRegexp(t, `(?m)^(Topic|Motion|Your (side|position|persona|role)[^:\n]*|Format|Planned rounds):$`, got, "a name without its value")
			assert.NotRegexp(t, `(?m)^## .*\n+(##|\z)`, got, "a heading without a text")
			assert.NotRegexp(t, `(?m)^(What you may build on|The (others|(other )?speakers)|The participants|Participants|Leading[^:\n]*|Criteria|What was measured):\n+([^-\n]|\z)`, got, "a list without entries")
			assert.NotRegexp(t, `(?m)^- (:|\(|$)`, got, "an entry without a name")
			assert.NotContains(t, got, "<no value>")
			assert.NotContains(t, got, "{{")
		})
	}
}
