package storetest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

type leasing = func(ctx context.Context, id, owner string, d time.Duration) error

func leaseDefects() []defect {
	leases := func(f func(s *spoiled) leasing) func(s *spoiled) { return func(s *spoiled) { s.onLease = f(s) } }
	return []defect{
		{"everybody gets a lease", []string{"lease/one owner*", "lease/another*", "lease/of many who ask one*", "random/*"}, "", leases(func(*spoiled) leasing {
			return func(context.Context, string, string, time.Duration) error { return nil }
		})},
		{"refuses in words only", []string{"lease/one owner*"}, "want flow.ErrLeased", leases(func(s *spoiled) leasing {
			return func(ctx context.Context, id, owner string, d time.Duration) error {
				if err := s.good.Lease(ctx, id, owner, d); err != nil {
					return errors.New(err.Error())
				}
				return nil
			}
		})},
		{"owners have no case", []string{"lease/one owner*", "lease/a stranger*"}, "want flow.ErrLeased", func(s *spoiled) {
			s.onLease = func(ctx context.Context, id, owner string, d time.Duration) error {
				return s.good.Lease(ctx, id, strings.ToLower(owner), d)
			}
			s.onRelease = func(ctx context.Context, id, owner string) error {
				return s.good.Release(ctx, id, strings.ToLower(owner))
			}
		}},
		{"there is one lease", []string{"lease/another*"}, "Lease of", func(s *spoiled) {
			s.onLease = func(ctx context.Context, _, owner string, d time.Duration) error {
				return s.good.Lease(ctx, "lease", owner, d)
			}
		}},
		{"knows no renewal", []string{"lease/its owner renews*", "lease/its owner comes*"}, "Lease of", func(s *spoiled) {
			n := 0
			s.onLease = func(ctx context.Context, id, owner string, d time.Duration) error {
				n++
				return s.good.Lease(ctx, id, fmt.Sprint(owner, s.handle, n), d)
			}
		}},
		{"a renewal changes no time", []string{"lease/its owner renews*", "lease/a renewal*"}, "", func(s *spoiled) {
			s.onLease = func(ctx context.Context, id, owner string, d time.Duration) error {
				s.mu.Lock()
				defer s.mu.Unlock()
				if end, ok := s.shared[id+" "+owner].(time.Time); ok && time.Until(end) > 0 {
					d = time.Until(end)
				}
				s.shared[id+" "+owner] = time.Now().Add(d)
				return s.good.Lease(ctx, id, owner, d)
			}
		}},
		{"a renewal never shortens", []string{"lease/a renewal*"}, "a lease ends that was shortened", func(s *spoiled) {
			s.onLease = func(ctx context.Context, id, owner string, d time.Duration) error {
				s.mu.Lock()
				defer s.mu.Unlock()
				longest, _ := s.shared[id+owner].(time.Duration)
				s.shared[id+owner] = max(d, longest)
				return s.good.Lease(ctx, id, owner, max(d, longest))
			}
		}},
		{"a lease never ends", []string{"lease/it ends*", "lease/it does not*", "lease/of many who ask for one*"}, "a lease ends", leases(func(s *spoiled) leasing {
			return func(ctx context.Context, id, owner string, _ time.Duration) error {
				return s.good.Lease(ctx, id, owner, time.Hour)
			}
		})},
		{"a lease ends early", []string{"lease/it does not*"}, "has ended after", leases(func(s *spoiled) leasing {
			return func(ctx context.Context, id, owner string, d time.Duration) error {
				return s.good.Lease(ctx, id, owner, d/2)
			}
		})},
		{"looks first and takes then", []string{"lease/of many who ask one*"}, "owners who ask at once", func(s *spoiled) {
			s.onLease = func(ctx context.Context, id, owner string, d time.Duration) error {
				s.mu.Lock()
				defer s.mu.Unlock()
				askers, _ := s.shared[id].(int)
				s.shared[id] = askers + 1
				if askers == 1 {
					return nil
				}
				return s.good.Lease(ctx, id, owner, d)
			}
		}},
		{"gives nothing back", []string{"lease/a release*", "lease/the list*", "list/by owner"}, "", func(s *spoiled) {
			s.onRelease = func(context.Context, string, string) error { return nil }
		}},
		{"what is given back unbegun is cleared away", []string{"crowd/leases*"}, "no such conversation", func(s *spoiled) {
			s.onRelease = func(ctx context.Context, id, owner string) error {
				if s.end(id) > 0 {
					return s.good.Release(ctx, id, owner)
				}
				<-time.NewTimer(time.Millisecond).C
				return s.good.Delete(ctx, id)
			}
		}},
		{"anybody gives back", []string{"lease/a stranger*"}, "want flow.ErrLeased", func(s *spoiled) {
			s.onRelease = func(ctx context.Context, id, owner string) error {
				for _, owner := range []string{owner, "me", "you"} {
					_ = s.good.Release(ctx, id, owner)
				}
				return nil
			}
		}},
		{"a stranger's release is an error", []string{"lease/a stranger*"}, "Release of", func(s *spoiled) {
			s.onRelease = func(ctx context.Context, id, owner string) error {
				if s.owner(id) != owner {
					return flow.ErrLeased
				}
				return s.good.Release(ctx, id, owner)
			}
		}},
		{"a lease begins a conversation", []string{"lease/a lease is no*"}, "", leases(func(s *spoiled) leasing {
			return func(ctx context.Context, id, owner string, d time.Duration) error {
				if s.end(id) == 0 {
					_ = s.good.Append(ctx, id, 0, "", []flow.Event{{Seq: 1, Body: &flow.RetriedNow{}}})
				}
				return s.good.Lease(ctx, id, owner, d)
			}
		})},
		{"a lease ends with an append", []string{"append/needs*", "lease/the list*"}, "", func(s *spoiled) {
			s.onAppend = func(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
				_ = s.good.Release(ctx, id, s.owner(id))
				return s.good.Append(ctx, id, after, writer, events)
			}
		}},
		{"the list remembers owners", []string{"lease/it ends*"}, "the list names no owner", func(s *spoiled) {
			s.tells(func(info *store.Info) { info.Owner = "me" })
		}},
		{"the list names no owners", []string{"lease/the list*", "id/upper*", "list/what is told of*", "random/*"}, "owner", func(s *spoiled) {
			s.tells(func(info *store.Info) { info.Owner = "" })
		}},
	}
}
