package engine

import (
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// learnAccounts asks registered providers for their accounts, if there are several. It asks no vendor.
func (l *Engine) learnAccounts(ctx context.Context, hosts []string) {
	if len(hosts) < 2 {
		return
	}
	for _, host := range hosts {
		if a, ok := provider.As[provider.Accounted](l.providers[host]); ok {
			l.memories.own(host, a.Account(ctx))
		}
	}
}

// hostsOf returns the registered names of the providers of models, each once, sorted.
func hostsOf(names iter.Seq[string]) []string {
	var hosts []string
	for name := range names {
		host, _, _ := flow.SplitModel(name)
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// hostsIn returns the registered names of a config's providers, sorted.
func hostsIn(config flow.Config) []string {
	return hostsOf(func(yield func(string) bool) {
		for _, name := range models(config) {
			if !yield(name) {
				return
			}
		}
	})
}

// accounts returns, for providers that have the account of one before them, the first of that account.
func (l *Engine) accounts(hosts []string) map[string]string {
	var out map[string]string
	first := make(map[string]string) // by account
	for _, host := range hosts {
		account := l.memories.account(host)
		if account == "" {
			continue
		}
		if first[account] == "" {
			first[account] = host
			continue
		}
		if out == nil {
			out = make(map[string]string)
		}
		out[host] = first[account]
	}
	return out
}

// joining returns the accounts of providers that a conversation did not have, as an event holds them.
func (l *Engine) joining(ctx context.Context, record *flow.Record, names []string) map[string]string {
	known := hostsOf(slices.Values(record.ModelNames()))
	fresh := slices.DeleteFunc(hostsOf(slices.Values(names)), func(host string) bool { return slices.Contains(known, host) })
	if len(fresh) == 0 {
		return nil
	}
	all := slices.Concat(known, fresh)
	l.learnAccounts(ctx, all)
	out := l.accounts(all)
	maps.DeleteFunc(out, func(host, _ string) bool { return !slices.Contains(fresh, host) })
	if len(out) == 0 {
		return nil
	}
	return out
}

// own remembers the account of a provider.
func (m *memories) own(host, account string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.owned == nil {
		m.owned = make(map[string]string)
	}
	m.owned[host] = account
}

func (m *memories) account(host string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.owned[host]
}
