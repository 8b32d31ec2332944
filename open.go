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
	if s, err := l.claim(ctx, id); s != nil || err != nil {
		return s, err
	}
	return l.openClaimed(ctx, id)
}

// openClaimed opens a debate that the caller has claimed.
func (l *live) openClaimed(ctx context.Context, id string) (*Session, error) {
	core, err := l.load(ctx, id)
	if err != nil {
		_ = l.grant(id, nil)
		return nil, err
	}
	s := l.session(core)
	s.mu.Lock()
	s.claimed = true
	if err = s.begin(ctx); err == nil {
		err = s.unclaim(s)
	}
	if err != nil {
		s.drop(err)
		return nil, s.leave(ctx, err)
	}
	s.mu.Unlock()
	return s, nil
}

// leave unlocks a session that has been opened, or could not be. Whoever opens its debate next, here or
// elsewhere, then finds the lease given back, unless ctx is done before.
func (s *Session) leave(ctx context.Context, err error) error {
	closed := s.closed != nil
	s.mu.Unlock()
	if !closed {
		return err
	}
	select {
	case <-s.quiet:
	case <-ctx.Done():
	}
	return err
}

// begin goes on with the log, if there is something to go on with.
func (s *Session) begin(ctx context.Context) error {
	switch {
	case s.core.over():
		s.over.Store(true)
		return nil
	case !s.core.hasWork():
		s.listen()
		return nil
	}
	if err := s.assume(ctx); err != nil {
		return err
	}
	return s.wake(context.WithoutCancel(ctx))
}
