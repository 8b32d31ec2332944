package prompt

// Summarizer holds the values of the summarizer's system prompt. Empty fields leave no trace in the text.
type Summarizer struct {
	Topic        string
	Participants []Person // in the order in which they are shown
	Language     string   // in which the summarizer writes; "": that of the topic
	Fence        string   // the fence word around participants' texts; "": "word" stands for it
}

// Summarizer returns the system prompt of the summarizer, who takes no side. It is constant over a debate, so that
// prompt caches hit. It fails only if a replaced template fails.
func (s *Set) Summarizer(v Summarizer) (string, error) {
	v.Topic = quoted(v.Topic)
	v.Participants = people(v.Participants)
	v.Language = entry(v.Language)
	v.Fence = fence(v.Fence)
	return s.render("summarizer", v)
}

// Summary holds the values of the instruction after the part to be summarised.
type Summary struct {
	Words  string // limit of the summary in words, as it is to be written; "": as few as possible
	Former bool   // the first message is the former summary, which the new one replaces
}

// Summary returns the instruction to summarise what was shown. The answer is free text. It fails only if
// a replaced template fails.
func (s *Set) Summary(v Summary) (string, error) {
	v.Words = entry(v.Words)
	return s.render("summary", v)
}
