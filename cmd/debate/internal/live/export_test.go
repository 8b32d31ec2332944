package live

// Size returns the columns and rows of the window.
func (m *Model) Size() (width, height int) { return m.width, m.height }
