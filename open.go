package debate

import "context"

// same says how the config of another session differs from this one's.
func (s *Session) same(other *Session) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sameConfig(s.core.record.config, other.core.record.config)
}

// adopt goes on with a stored debate of the same config.
func (s *Session) adopt(ctx context.Context, stored *Core) error {
	if err := sameConfig(stored.record.config, s.core.record.config); err != nil {
		return err
	}
	s.core = stored
	s.stand()
	return s.wake(context.WithoutCancel(ctx))
}

// open is Engine.Open.
func (l *live) open(ctx context.Context, id string) (*Session, error) {
	if s := l.held(id); s != nil {
		return s, nil
	}
	core, err := l.load(ctx, id)
	if err != nil {
		return nil, err
	}
	s := l.session(core)
	s.mu.Lock()
	defer s.mu.Unlock()
	if core.record.Final() && core.record.InFlight() == 0 {
		s.over.Store(true)
		return s, nil
	}
	if err := l.enter(s); err != nil {
		if held := l.held(id); held != nil {
			return held, nil // somebody was faster
		}
		return nil, err
	}
	if !s.attends() {
		s.listen()
		return s, nil
	}
	err = s.assume(ctx)
	if err == nil {
		err = s.wake(context.WithoutCancel(ctx))
	}
	if err != nil {
		s.drop(err)
		return nil, err
	}
	return s, nil
}
