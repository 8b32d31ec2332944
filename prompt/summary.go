package prompt

// Summarizer is what the one who condenses a debate is told. Empty fields are left out of the text.
type Summarizer struct {
	Topic        string
	Participants []Person // in the order in which they are shown
	Fence        string   // the word of the markers around participants' words; "": "word" stands for it
}

// Summarizer yields the system prompt of a neutral minute-taker. It is constant over a debate, so
// that prompt caches hit. An error comes only from a replaced template.
func (s *Set) Summarizer(v Summarizer) (string, error) {
	v.Topic = block(v.Topic)
	v.Participants = people(v.Participants)
	v.Fence = fence(v.Fence)
	return s.render("summarizer", v)
}

// Summary is what the minute-taker is asked once the part to condense has been shown.
type Summary struct {
	Words  int  // the most, in words; 0: as few as it takes
	Former bool // the first message is the summary so far, which the new one replaces
}

// Summary yields the instruction to condense what was shown. The answer is free text. An error comes
// only from a replaced template.
func (s *Set) Summary(v Summary) (string, error) {
	return s.render("summary", v)
}
