package export

import "github.com/agonist-dev/debate/deliberation"

// critiques shows who has criticised whose proposals how often.
func (w *reporter) critiques(d *deliberation.Deliberation) *section {
	s := &section{ID: "critiques", Title: "Critiques", Note: "who has criticised whom"}
	type pair struct{ by, of string }
	counts, most := make(map[pair]int), 0
	for _, one := range d.Contributions() {
		if one.Kind == deliberation.KindCritique {
			counts[pair{one.Agent, one.Target}]++
			most = max(most, counts[pair{one.Agent, one.Target}])
		}
	}
	if len(counts) == 0 {
		return nil
	}
	t := &table{Head: []string{"Critiques by"}, Figures: 1}
	for _, of := range w.config.Participants {
		t.Head = append(t.Head, "of "+w.called(of.Name))
	}
	for _, by := range w.config.Participants {
		row := cells(w.called(by.Name))
		for _, of := range w.config.Participants {
			switch n := counts[pair{by.Name, of.Name}]; {
			case by.Name == of.Name:
				row = append(row, cell{Text: "–"})
			case n == 0:
				row = append(row, cell{Text: "0"})
			default:
				row = append(row, cell{Text: count(n), Bar: true, Share: float64(n) / float64(most)})
			}
		}
		t.Rows = append(t.Rows, row)
	}
	s.Blocks = []block{{Table: t}}
	return s
}

// board shows what stands at the end, by agent: the solution is made from that. Its whole text stands with its round.
func (w *reporter) board(d *deliberation.Deliberation) *section {
	s := &section{ID: "board", Title: "Board", Note: "what stands, by agent"}
	t := &table{Head: []string{"Agent", "What stands", "It begins", "Round", "Critiques in it"}, Figures: 3}
	all := d.Contributions()
	for _, one := range d.Standing() {
		critics := 0
		for i := range all {
			if all[i].Kind == deliberation.KindCritique && all[i].Target == one.Agent && all[i].Round == one.Round {
				critics++
			}
		}
		t.Rows = append(t.Rows, cells(w.called(one.Agent), string(one.Kind), w.speeches.gist(one.Text, 90), count(one.Round), count(critics)))
	}
	if len(t.Rows) > 0 {
		s.Blocks = []block{{Table: t}}
	}
	return s
}
