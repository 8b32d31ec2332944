package flow_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// survey is the config of a flow that has nothing of a debate: people are asked for marks.
type survey struct {
	ID     string          `json:"id,omitempty"`
	Topic  string          `json:"topic"`
	People []string        `json:"people"`
	Model  string          `json:"model"`
	Tone   json.RawMessage `json:"tone,omitempty"`
	// Labels and Part may be left out.
	Labels map[string]string `json:"labels,omitempty"`
	Part   *flowPart         `json:"part,omitempty"`
}

func (*survey) Flow() string { return "survey" }

func (s *survey) Settings() flow.Settings {
	return flow.Settings{ID: s.ID, Topic: s.Topic, Participants: s.People, Rounds: 1, Labels: s.Labels}
}

func (s *survey) Seats() flow.Seats { return stage.Seats(s.Model, s.People...) }

// grade is what somebody answers.
type grade struct {
	Mark int `json:"mark"`
}

// opinion is the body of an event that only a survey has.
type opinion struct {
	flow.Spend

	By   string `json:"by"`
	Mark int    `json:"mark"`
}

func (*opinion) EventKind() flow.EventKind { return "opinion" }

// grades are what a survey keeps for itself.
type grades struct {
	people []string
	given  map[string]int
}

func (g *grades) Fold(e *debate.Event) error {
	body, ok := e.Body.(*opinion)
	if !ok {
		return nil
	}
	if !slices.Contains(g.people, body.By) {
		return &debate.Error{Kind: provider.KindValidation, Op: "survey", Field: "opinion.by", Err: fmt.Errorf("%q is not asked", body.By)}
	}
	g.given[body.By] = body.Mark
	return nil
}

// gradesOf yields what a survey keeps.
func gradesOf(r *debate.Record) map[string]int {
	if g, ok := r.Projection().(*grades); ok {
		return g.given
	}
	return nil
}

// surveyFlow asks each of the people for a mark, one after the other.
func surveyFlow(t *testing.T) *debate.Flow {
	t.Helper()
	schema := flow.AnswerSchema[grade]("mark", flow.AnswerOf[grade]{
		Body: func(_ *debate.Record, in *flow.Intent, spend flow.Spend, g *grade) flow.Body {
			return &opinion{Spend: spend, By: in.By, Mark: g.Mark}
		},
	})
	next := func(*debate.Record) (debate.Trigger, flow.Exit, bool) { return "asked", flow.Exit{}, true }
	calls := func(r *debate.Record) []*flow.Call {
		for i, name := range r.Active() {
			if id := "mark." + name; !r.Done(id) {
				config, _ := r.Config().(*survey)
				return []*flow.Call{{ID: id, Kind: "mark", By: name, Model: config.Model, Slot: i, Schema: "mark"}}
			}
		}
		return nil
	}
	return &debate.Flow{
		Name: "survey", Version: 1, Start: "asking",
		Rules:   []debate.Rule{{From: "asking", On: "asked", To: flow.StateCompleting}},
		Steps:   map[debate.State]flow.Step{"asking": {Calls: calls, Next: next}},
		Schemas: map[string]*flow.Schema{"mark": schema},
		Bodies:  []flow.Body{&opinion{}},
		Decode: func(data []byte) (flow.Config, error) {
			s := new(survey)
			return s, flow.DecodeStrict("read config", data, s)
		},
		Normalize: func(config flow.Config) (flow.Config, error) {
			given, ok := config.(*survey)
			if !ok {
				return nil, &debate.Error{Kind: provider.KindValidation, Field: "config", Err: fmt.Errorf("a %T is no survey", config)}
			}
			s := *given
			s.ID, s.People, s.Tone, s.Labels = "", slices.Clone(s.People), slices.Clone(s.Tone), maps.Clone(s.Labels)
			return &s, nil
		},
		Check: func(config flow.Config, _ any, known flow.Registry) []error {
			s, _ := config.(*survey)
			if err := known.Model(s.Model); err != nil {
				return []error{&debate.Error{Kind: provider.KindValidation, Op: "config", Field: "model", Err: err}}
			}
			return nil
		},
		Open: func(r *debate.Record, _ *flow.Start) (flow.Projection, error) {
			return &grades{r.Settings().Participants, map[string]int{}}, nil
		},
	}
}

// newSurvey is a survey of two, and an engine whose models give them the marks 3 and 4.
func newSurvey(t *testing.T) (*survey, *debate.Engine, *scripted.Provider) {
	t.Helper()
	p := &scripted.Provider{Record: true, Reply: func(req *provider.Request) scripted.Reply {
		return scripted.Reply{Text: fmt.Sprintf(`{"mark":%d}`, map[string]int{"Ada": 3, "Ben": 4}[req.Self])}
	}}
	config := &survey{ID: "asked", Topic: "How was the debate?", People: []string{"Ada", "Ben"}, Model: "test/any"}
	return config, &debate.Engine{
		Providers: map[string]debate.Provider{"test": p}, Flows: map[string]*debate.Flow{"survey": surveyFlow(t)},
	}, p
}

// flowPart is a config of a flow as a host may write it, with all that encoding/json allows.
type flowPart struct {
	base
	*more

	Name    string
	Renamed int            `json:"other,omitempty"`
	Quoted  int            `json:"quoted,string"`
	Hidden  int            `json:"-"`
	Any     any            `json:"any"`
	Bytes   []byte         `json:"bytes"`
	Pair    [2]int         `json:"pair"`
	Big     *big.Int       `json:"big"`
	At      *time.Time     `json:"at"`
	Small   uint8          `json:"small"`
	Config  *debate.Config `json:"config"`
	own     int
}
