package debate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/vote"
)

// seated returns the indices of the judges who are not recused. A judge of a panel is recused if both hold:
//   - its model is of the family of some of those it judges, but not of all
//   - another judge is not recused
//
// Unknown families conflict with none.
func (d *Debate) seated() []int {
	j := d.config.Judging
	if j == nil {
		return nil
	}
	var all, free []int
	for i := range j.Judges {
		all = append(all, i)
		if j.AllowSameFamily || !d.partial(j.Judges[i].Model) {
			free = append(free, i)
		}
	}
	if len(free) == 0 {
		return all
	}
	return free
}

// partial reports whether a judge's model shares its family with some of those it judges, but not with all.
func (d *Debate) partial(model string) bool {
	own := d.Family(model)
	if own == "" {
		return false
	}
	same, others := 0, 0
	for i := range d.config.Participants {
		p := &d.config.Participants[i]
		switch {
		case !d.format.Judged(p.Side):
		case d.Family(cmp.Or(p.Model, p.StandIn)) == own: // what a model says in a person's place is judged too
			same++
		default:
			others++
		}
	}
	return same > 0 && others > 0
}

// Recused returns the names of the judges who do not judge because of their models' family.
func (d *Debate) Recused() []string {
	if d.config == nil || d.config.Judging == nil {
		return nil
	}
	var names []string
	for i := range d.config.Judging.Judges {
		if !slices.Contains(d.bench, i) {
			names = append(names, d.config.Judging.Judges[i].Name)
		}
	}
	return names
}

// Judges returns the judges who judge: those who are neither recused nor dropped.
func (d *Debate) Judges() []JudgeConfig {
	var out []JudgeConfig
	for _, i := range d.bench {
		if judge := d.config.Judging.Judges[i]; len(d.Dropped()) == 0 || !d.IsDropped(judge.Name) {
			out = append(out, judge)
		}
	}
	return out
}

// seatOfJudge returns the index of a judge among all.
func (d *Debate) seatOfJudge(name string) int {
	if d.config == nil || d.config.Judging == nil {
		return -1
	}
	return slices.IndexFunc(d.config.Judging.Judges, func(j JudgeConfig) bool { return j.Name == name })
}

// quorum returns how many judges must have judged. It is never more than there are seated judges.
func (d *Debate) quorum() int {
	if d.config.Judging == nil {
		return 0
	}
	return min(d.config.Judging.Quorum, len(d.bench))
}

// panel sums up what the judges say of one round.
type panel struct {
	judges    int // who have assessed the round
	missed    int // who have missed it: they count as wishing to continue, and as having noticed nothing
	goOn      int // judges who wish to continue
	quality   float64
	converged int
	returns   int // judges who see diminishing returns
	drifting  int
	repeating int
}

// assessed returns the assessments of a round in the order of the judges, whatever the order in which they arrived.
// Sums of fractions depend on the order.
func (d *Debate) assessed(round int) []*Assessment {
	last := len(d.Assessments)
	for last > 0 && d.Assessments[last-1].Round > round {
		last--
	}
	first := last
	for first > 0 && d.Assessments[first-1].Round == round {
		first--
	}
	if last-first < 2 {
		return d.Assessments[first:last]
	}
	return d.ordered(d.Assessments[first:last])
}

// panelOf sums up the assessments of a round. If there are none, judges is 0.
func (d *Debate) panelOf(round int) panel {
	var p panel
	for _, a := range d.assessed(round) {
		noticed := d.counted(round, a.Flags)
		p.judges++
		p.quality += a.QualityScore
		p.goOn += oneIf(a.ShouldContinue)
		p.converged += oneIf(noticed.ConvergenceReached)
		p.returns += oneIf(noticed.DiminishingReturns)
		p.drifting += oneIf(noticed.Drifting)
		p.repeating += oneIf(noticed.Repetitive)
	}
	for i := range d.SkippedCalls {
		if s := &d.SkippedCalls[i]; s.Kind == KindAssessment && s.Round == round {
			p.missed++
		}
	}
	if p.judges > 0 {
		p.quality /= float64(p.judges)
	}
	return p
}

// counted returns the flags of a round that count. Before the first round in which a flag is asked for, it counts for nothing.
func (d *Debate) counted(round int, noticed Flags) Flags {
	if round >= laterRounds && !d.asked.alone {
		return noticed
	}
	counts := noticed
	for i := range flags {
		if !d.asked.notices(&flags[i], round) {
			*flags[i].of(&counts) = false
		}
	}
	return counts
}

// all returns the number of judges who were asked about the round.
func (p *panel) all() int { return p.judges + p.missed }

// oneIf returns 1 for true and 0 for false.
func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// most reports whether n is more than half of the judges who were asked.
func (p *panel) most(n int) bool { return 2*n > p.all() }

// Outcome is the result of a debate so far. It is computed from the record alone: no model is asked for it.
type Outcome struct {
	Decision format.Decision `json:"decision"`
	// Winner is the participant who has won, and Side the winner's side. If sides win ([Debate.BySides]), and in a swing, there is a
	// side only. Both are empty if nobody has won.
	Winner string      `json:"winner,omitempty"`
	Side   format.Side `json:"side,omitempty"`
	// Tie reports that there were votes, but no winner. It is false if no judge names a winner although the scores differ: then
	// the judges have decided that nobody wins.
	Tie bool `json:"tie,omitempty"`
	// Votes are the judges' votes without abstentions, the largest count first. Their names are those of participants or, if sides win,
	// of sides.
	Votes []vote.Count `json:"votes,omitempty"`
	// Verdicts is how many judges have judged, and Judges how many were to judge.
	Verdicts int `json:"verdicts"`
	Judges   int `json:"judges"`
	// Dissent are the votes of judges for somebody other than the winner.
	Dissent []Dissent `json:"dissent,omitempty"`
	// Scores are the means of the judges' scores, from 0 to 100, rounded to two decimals. Those of participants who have
	// left are among them, but decide nothing unless Format.LeaverMayWin is set.
	Scores map[string]float64 `json:"scores,omitempty"`
	// Notes list contradictions between the winner and the scores, or between the swing and the verdicts, in one line each. A winner
	// who is less than 3 points ahead is one of them, since judges are told that then nobody is: by the means, and by the scores of a judge
	// who names the winner. The winner is what counts.
	Notes []string `json:"notes,omitempty"`
	// Swing is that of the audience; nil if there was none.
	Swing *Swing `json:"swing,omitempty"`
	// Unread lists the turns that a judge or a voter should have read but could not, because they did not fit the window of its
	// model. Degraded says the same in words.
	Unread []Unread `json:"unread,omitempty"`
	// Degraded names what the debate lacked of its config, in one line each. It is empty if nothing was missing. In the error
	// state it names what the debate still lacks. If somebody has ended the debate early, it names the rounds, speeches and
	// verdicts that are missing for that reason; see Record.EndedEarlyBy.
	Degraded []string `json:"degraded,omitempty"`
	// Cost is what the debate has cost so far, as far as it is known, and Unsettled what it may have cost beyond that. Duration is its
	// time from the start to the last event, pauses included; in JSON it is nanoseconds.
	Cost flow.Money `json:"cost"`
	flow.Unsettled
	Duration time.Duration `json:"duration"`
	// Failures is how many attempts have failed, and Retries how many attempts followed a failed one.
	Failures int `json:"failures"`
	Retries  int `json:"retries"`
}

// Dissent is a judge's vote that did not prevail.
type Dissent struct {
	Judge     string `json:"judge"`
	Winner    string `json:"winner,omitempty"` // a participant, or a side if sides win; "" if this judge sees a tie, or nobody ahead
	Reasoning string `json:"reasoning,omitempty"`
}

// winnerOf returns the winner of a debate, or the side that has won, for lists.
func winnerOf(r *flow.Record) string {
	o := of(r).Outcome()
	return cmp.Or(o.Winner, string(o.Side))
}

// opinion is one judge's view of the winner. Parties are participants or, if sides win, sides.
type opinion struct {
	judge   string
	winner  string // a party; "" for a tie, or for nobody ahead
	flipped bool   // whether the verdicts of the two orders disagree
	verdict *Verdict
	scores  map[string]float64 // of all who are judged
	ranking []string           // of the parties that can win; empty if flipped
}

// opinions returns the opinions of the judges who have given all verdicts that they were asked for, in the order of
// the judges. Two verdicts of one judge that name different winners are a tie.
func (d *Debate) opinions() []opinion {
	var out []opinion
	if d.config == nil || d.config.Judging == nil {
		return nil
	}
	contest := d.decided()
	for i := range d.config.Judging.Judges {
		name := d.config.Judging.Judges[i].Name
		var own, swapped *Verdict
		for _, v := range d.Verdicts {
			switch {
			case v.Judge != name:
			case v.Swapped:
				swapped = v
			default:
				own = v
			}
		}
		if own == nil || d.config.Judging.BothOrders && swapped == nil {
			continue
		}
		o := opinion{judge: name, winner: contest.of(own.Winner), verdict: own, scores: own.Scores}
		if swapped != nil {
			if contest.of(swapped.Winner) != o.winner {
				o.winner, o.flipped = "", true
			}
			o.scores = make(map[string]float64, len(own.Scores))
			for who, score := range own.Scores {
				o.scores[who] = (score + swapped.Scores[who]) / 2
			}
		}
		if !d.canWin(contest, o.winner) {
			o.winner = ""
		}
		if !o.flipped {
			o.ranking = d.ranked(d.running(contest, o.scores))
		}
		out = append(out, o)
	}
	return out
}

// canWin reports whether a party can win. Whoever has left the debate wins only if the format says so. A side can win while one of its
// speakers is there.
func (d *Debate) canWin(c contest, party string) bool {
	switch {
	case d.format.LeaverMayWin || len(d.Dropped()) == 0:
		return true
	case c.sides != nil && party != "":
		return countSide(d.participants(), format.Side(party)) > 0
	default:
		return !d.IsDropped(party)
	}
}

// running returns the scores, by party, of those who can win.
func (d *Debate) running(c contest, scores map[string]float64) map[string]float64 {
	scores = c.means(scores)
	if len(d.Dropped()) == 0 || d.format.LeaverMayWin {
		return scores
	}
	out := maps.Clone(scores)
	maps.DeleteFunc(out, func(party string, _ float64) bool { return !d.canWin(c, party) })
	return out
}

// decide applies the panel's protocol. A judge who sees a tie, or nobody ahead, votes for nobody but counts among
// the judges of whom a majority is needed.
func decide(protocol Protocol, opinions []opinion) (winner string, votes []vote.Count) {
	choices := make([]string, len(opinions))
	rankings := make([][]string, len(opinions))
	for i, o := range opinions {
		choices[i], rankings[i] = o.winner, o.ranking
	}
	if protocol == Borda {
		result, _ := vote.Borda(rankings) // cannot fail: names are keys of a map, so none is empty or occurs twice
		return result.Winner, result.Tally
	}
	result := vote.Plurality(choices)
	if result.Winner == "" {
		return "", result.Tally
	}
	ahead, all, enough := result.Tally[0].Votes, len(opinions), true
	switch protocol {
	case Plurality:
	case Supermajority:
		enough = 3*ahead >= 2*all
	case Unanimity:
		enough = ahead == all
	default:
		enough = 2*ahead > all
	}
	if !enough {
		return "", result.Tally
	}
	return result.Winner, result.Tally
}

// ranked returns parties by falling score. A ranking has no ties, so names with the same score are left out, together with all below them.
// If the best two are not far enough apart, nobody is ahead, and the ranking is empty.
func (d *Debate) ranked(scores map[string]float64) []string {
	names := byScore(scores)
	for i := 1; i < len(names); i++ {
		if by := scores[names[i-1]] - scores[names[i]]; by == 0 || i == 1 && !apart(by) {
			return names[:i-1]
		}
	}
	return names
}

// opinion returns the verdict that speaks for the panel: the first that names the panel's winner or, if the panel has
// none, nobody. It returns nil if all name somebody else.
func (d *Debate) opinion() *Verdict {
	opinions := d.opinions()
	if len(opinions) == 0 {
		return nil
	}
	contest, winner := d.decided(), ""
	if len(opinions) >= d.quorum() && d.format.Decide != format.NoWinner {
		winner, _ = decide(d.config.Judging.Protocol, opinions)
	}
	for _, o := range opinions {
		if o.winner == winner && contest.of(o.verdict.Winner) == winner {
			return o.verdict
		}
	}
	return nil
}

// Outcome computes the result of the debate so far.
func (d *Debate) Outcome() Outcome {
	o := Outcome{Scores: make(map[string]float64), Unread: d.unread(), Degraded: d.degraded()}
	if d.config == nil || d.format == nil {
		return o
	}
	o.Cost, o.Unsettled, o.Duration = d.Spent().Cost, d.Spent().Unsettled, d.Duration()
	o.Failures, o.Retries = d.Tries()
	o.Decision = d.format.Decide
	o.Decision = cmp.Or(o.Decision, format.ByJudges)
	opinions := d.opinions()
	o.Verdicts, o.Judges = len(opinions), len(d.bench)
	for _, each := range opinions {
		for name, score := range each.scores {
			o.Scores[name] += score / float64(len(opinions))
		}
	}
	for name, mean := range o.Scores {
		o.Scores[name] = hundredths(mean)
	}
	if d.config.Audience != nil {
		o.Swing = new(d.Swing())
	}
	switch {
	case o.Decision == format.NoWinner:
	case o.Decision == format.BySwing:
		if o.Swing != nil {
			o.Side, o.Tie = o.Swing.Winner, o.Swing.Voters > 0 && o.Swing.Winner == ""
			o.Notes = d.against(o.Swing, opinions)
		}
	case len(opinions) >= max(1, d.quorum()):
		d.tally(&o, opinions)
	}
	return o
}

// tally finds the winner of the judges' votes.
func (d *Debate) tally(o *Outcome, opinions []opinion) {
	contest := d.decided()
	var winner string
	winner, o.Votes = decide(d.config.Judging.Protocol, opinions)
	scores := d.running(contest, o.Scores)
	o.Tie = winner == "" && !d.undecided(scores, opinions)
	if !o.Tie {
		o.Notes = d.contradictions(contest, winner, scores, opinions)
	}
	if contest.sides != nil {
		o.Side = format.Side(winner)
	} else if o.Winner = winner; d.Seat(winner) >= 0 {
		o.Side = d.config.Participants[d.Seat(winner)].Side
	}
	for _, each := range opinions {
		if each.winner == winner {
			continue
		}
		d := Dissent{Judge: each.judge, Winner: each.winner, Reasoning: each.verdict.Summary}
		if w := each.verdict.Winner; w != nil {
			d.Reasoning = w.Reasoning
		}
		o.Dissent = append(o.Dissent, d)
	}
}

// undecided reports whether all judges name nobody although somebody is ahead by the scores. A judge whose verdicts in the two orders
// differ sees a tie.
func (d *Debate) undecided(scores map[string]float64, opinions []opinion) bool {
	named := func(each opinion) bool { return each.winner != "" || each.flipped }
	_, by := ahead(scores)
	return !slices.ContainsFunc(opinions, named) && apart(by)
}

// apart reports whether a party that is ahead by so much is the winner by the scores.
func apart(by float64) bool { return hundredths(by) >= tieBelow }

// contradictions returns where the winner is not the party with the highest score, or is not far enough ahead, among those who can win.
// Means of a panel may be level although each judge has kept to the rule for ties: that is no contradiction.
func (d *Debate) contradictions(c contest, winner string, scores map[string]float64, opinions []opinion) []string {
	if len(scores) == 0 {
		return nil
	}
	best, by := ahead(scores)
	highest, own, what := hundredths(scores[best]), hundredths(scores[winner]), "score"
	if c.sides != nil {
		what = "mean score"
	}
	careless := func(o opinion) bool { return o.winner == winner && d.level(c, &o) }
	switch {
	case winner == "" && apart(by):
		return []string{fmt.Sprintf("nobody has won, although %s has the highest %s: %g", c.called(best), what, highest)}
	case winner != "" && own < highest:
		return []string{fmt.Sprintf("%s has won with a lower %s than %s: %g against %g", c.called(winner), what, c.called(best), own, highest)}
	case winner != "" && !apart(by) && slices.ContainsFunc(opinions, careless):
		return []string{fmt.Sprintf("%s has won, although %s", c.called(winner), tie(c.sides))}
	default:
		return nil
	}
}

// level reports whether nobody is ahead by a judge's own scores.
func (d *Debate) level(c contest, o *opinion) bool {
	_, by := ahead(d.running(c, o.scores))
	return !apart(by)
}

// hundredths rounds to two decimals.
func hundredths(x float64) float64 { return math.Round(x*100) / 100 }
