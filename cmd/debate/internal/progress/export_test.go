package progress

// QuoteFor is Quote on another system.
func QuoteFor(word string, windows bool) string { return quote(word, windows) }
