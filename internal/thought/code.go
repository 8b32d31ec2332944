package thought

// code follows where code begins and ends in a text that is said, as Markdown marks it: between runs of backticks within a
// line, and between fences of three and more backticks or tildes that begin a line. Three backticks elsewhere begin code of
// their line only: models mention a fence in the middle of a sentence.
type code struct {
	words bool // more of this line has come than may stand before a fence
	run   int  // marks that have just come
	mark  byte // of which kind

	open int  // marks that have begun code; 0: it is none
	kind byte // of which kind
	many bool // it has many lines
}

// within reports whether the text is code.
func (c *code) within() bool { return c.open > 0 }

// note notes the next byte.
func (c *code) note(next byte) {
	if c.run > 0 && next != c.mark {
		c.turn()
		c.run = 0
	}
	switch next {
	case '`', '~':
		c.mark = next
		c.run++
	case '\n':
		c.words = false
		if !c.many { // code within a line
			c.open = 0
		}
	case ' ', '\t', '\r', '>', '-', '*', '+', '.', ')', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9': // of quotations and lists
	default:
		c.words = true
	}
}

// turn begins or ends code with a run of marks.
func (c *code) turn() {
	fence := c.run >= 3 && !c.words
	switch {
	case c.open == 0:
		if fence || c.mark == '`' {
			c.open, c.kind, c.many = c.run, c.mark, fence
		}
	case c.mark != c.kind:
	case c.run == c.open, c.many && c.run > c.open:
		c.open, c.many = 0, false
	}
}
