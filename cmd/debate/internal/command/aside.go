package command

import (
	"fmt"
	"sync"
)

// asides are what is to be said from beside a conversation, such as that a server has ended.
type asides struct {
	sync.Mutex

	holding bool
	kept    []string
}

// asidef says something from beside the conversation. While the live view draws, it is kept for later. It is safe for concurrent
// use.
func (p *program) asidef(format string, args ...any) {
	p.asides.Lock()
	defer p.asides.Unlock()
	if p.asides.holding {
		p.asides.kept = append(p.asides.kept, fmt.Sprintf(format, args...))
		return
	}
	p.warnf(format, args...)
}

// hold begins or ends the time in which only the live view writes. When it ends, what was kept is said.
func (p *program) hold(holding bool) {
	p.asides.Lock()
	defer p.asides.Unlock()
	p.asides.holding = holding
	for _, text := range p.asides.kept {
		p.warnf("%s", text)
	}
	p.asides.kept = nil
}
