package token

// Whole counts text in one piece, as the vocabulary's own library does.
func Whole(model, text string) int {
	return len(ForModel(model).(*vocabulary).load().EncodeOrdinary(text))
}

// Broken is a Counter whose vocabulary cannot be loaded.
func Broken() Counter { return lazy("no_such", o200kPattern) }

// Unreadable is a Counter whose pattern is not one.
func Unreadable() Counter { return lazy("r50k_base", "(") }

// Stretches divides text at every border.
func Stretches(text string) []string {
	var all []string
	for text != "" {
		next := nextBorder(text, 0)
		all = append(all, text[:next])
		text = text[next:]
	}
	return all
}
