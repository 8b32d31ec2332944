package format

// Stance is how a speaker stands to what is argued: whether it may change its mind, and for what reason.
type Stance string

// The stances.
const (
	Advocate Stance = "advocate" // makes the best honest case for a side; the stance if none is given
	Open     Stance = "open"     // looks for the right answer, and changes its own for a reason that can be checked
	Shared   Stance = "shared"   // wants to understand the views of the others, and may leave with another view
	Examined Stance = "examined" // answers for its own view, and mends it or gives it up where an answer does not hold
	Proposer Stance = "proposal" // defends a proposal, and changes it where the criticism is right
	Critic   Stance = "critic"   // tests what others propose, and proposes nothing; somebody else has to propose
)

// Aim is what the judges judge.
type Aim string

// The aims.
const (
	ByArgument      Aim = "argument"      // who argued better, whoever is right; the aim if none is given
	ByTruth         Aim = "truth"         // which answer is best supported by what was said
	ByUnderstanding Aim = "understanding" // how far the talk got
)

// Aim returns what judges judge where all speakers have this stance, and nothing else says it: a stance that lets speakers give up a view
// must not cost them the debate.
func (s Stance) Aim() Aim {
	switch s {
	case Open, Proposer, Critic:
		return ByTruth
	case Shared, Examined:
		return ByUnderstanding
	case Advocate:
	}
	return ByArgument
}

// StanceOf returns the stance of the speakers on a side: that of its seats, that of the format, or [Advocate]. A config may replace it.
func (f *Format) StanceOf(side Side) Stance {
	if seats := f.seatsOf(side); seats != nil && seats.Stance != "" {
		return seats.Stance
	}
	if f.Stance != "" {
		return f.Stance
	}
	return Advocate
}

// CheckStance reports an unknown stance, as an error about this field of a config. An empty stance is valid: the format says it.
func CheckStance(field string, stance Stance) []error {
	if stance == "" {
		return nil
	}
	c := &check{}
	c.stance(field, stance)
	return c.Findings
}

// CheckAim reports an unknown aim, as an error about this field of a config. An empty aim is valid: the format says it.
func CheckAim(field string, aim Aim) []error {
	if aim == "" {
		return nil
	}
	c := &check{}
	c.aim(field, aim)
	return c.Findings
}

func (c *check) stance(field string, stance Stance) {
	oneOf(c, field, "stance", stance, "", Advocate, Open, Shared, Examined, Proposer, Critic)
}

func (c *check) aim(field string, aim Aim) {
	oneOf(c, field, "aim", aim, "", ByArgument, ByTruth, ByUnderstanding)
}
