package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// savedDebate is a debate as dialectic saves it. All of it is hostile. What else such a file has is not shown.
type savedDebate struct {
	ID      string `json:"id"`
	Problem string `json:"problem"`
	Context string `json:"context"`
	Rounds  []struct {
		Contributions []savedContribution `json:"contributions"`
	} `json:"rounds"`
	Solution *struct {
		Description     string   `json:"description"`
		Tradeoffs       []string `json:"tradeoffs"`
		Recommendations []string `json:"recommendations"`
		Confidence      *float64 `json:"confidence"`
		By              string   `json:"synthesizedBy"`
	} `json:"finalSolution"`
}

// savedContribution is what an agent has said.
type savedContribution struct {
	Agent   string `json:"agentId"`
	Role    string `json:"agentRole"`
	Kind    string `json:"type"`
	Content string `json:"content"`
	Target  string `json:"targetAgentId"`
}

// Saved returns the document of a debate that the program dialectic has saved, as JSON. It has no Record: the file tells who said
// what in which round, and the solution, but no times, models and costs. If the data is no such debate, the error is of kind
// validation.
func Saved(data []byte) (*Document, error) {
	refused := func(err error) error {
		return &flow.Error{Kind: provider.KindValidation, Op: "export", Field: "data", Err: err}
	}
	var d savedDebate
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, refused(fmt.Errorf("is no debate that dialectic has saved: %w", err))
	}
	if line(d.Problem) == "" || len(d.Rounds) == 0 && d.Solution == nil {
		return nil, refused(errors.New("is no debate that dialectic has saved: it has no problem, or neither rounds nor a solution"))
	}
	return &Document{saved: d.report()}, nil
}

// report returns the content of the document.
func (d *savedDebate) report() *report {
	r := &report{
		Title: flow.TopicOf(d.Problem, "A problem"), Kicker: strings.TrimSpace("Debate " + d.ID), State: "saved",
		Standing: "This is what dialectic has saved. The times, the models and the costs are not in it.",
	}
	r.Answer = filled(d.solution())
	agents, tones := d.agents()
	r.add(agents)
	r.add(asked(d.Problem, d.Context))
	for i := range d.Rounds {
		n := strconv.Itoa(i + 1)
		s := &section{ID: "round-" + n, Title: "Round " + n}
		for j := range d.Rounds[i].Contributions {
			c := &d.Rounds[i].Contributions[j]
			s.Articles = append(s.Articles, &article{
				ID: fmt.Sprintf("turn-%s-%d", n, j+1), Class: "turn", Title: c.Agent, Tone: tones[c.Agent],
				Marks: notes(c.Kind + prefixed(" of ", c.Target)), Blocks: []block{spoken(c.Content)},
			})
		}
		s.folded(len(d.Rounds))
		r.add(s)
	}
	return r
}

// solution shows the result.
func (d *savedDebate) solution() *section {
	s := &section{ID: "solution", Title: "Solution"}
	f := d.Solution
	if f == nil {
		s.Blocks = []block{{Headline: "There is no solution."}}
		return s
	}
	said := notes(prefixed("by ", f.By))
	if f.Confidence != nil {
		said = append(said, fmt.Sprintf("with a confidence of %s of 100", mark(*f.Confidence)))
	}
	s.Blocks = []block{{Headline: sentence(strings.Join(said, ", "))}, spoken(f.Description)}
	s.list("Trade-offs", f.Tradeoffs)
	s.list("Recommendations", f.Recommendations)
	return s
}

// agents lists who has said something, and gives everybody a colour.
func (d *savedDebate) agents() (s *section, tone map[string]string) {
	s = &section{ID: "agents", Title: "Agents"}
	tone = make(map[string]string)
	roles, said := make(map[string]string), make(map[string]int)
	var names []string
	total := 0
	for i := range d.Rounds {
		for _, c := range d.Rounds[i].Contributions {
			if said[c.Agent] == 0 {
				tone[c.Agent] = "seat-" + strconv.Itoa(len(names)%tones+1)
				names, roles[c.Agent] = append(names, c.Agent), c.Role
			}
			said[c.Agent]++
			total++
		}
	}
	s.Blocks = []block{{Box: true, Fields: []field{{"Rounds", count(len(d.Rounds))}, {"Contributions", count(total)}}}}
	for _, name := range names {
		s.Articles = append(s.Articles, &article{
			Class: classPerson, Title: name, Tone: tone[name], Marks: notes(roles[name], plural(said[name], "contribution")),
		})
	}
	return s, tone
}
