package command

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/deliberation/evaluation"
	"github.com/agonist-dev/debate/provider/env"
	"github.com/agonist-dev/debate/store"
)

// engine returns an engine with every flow of the library and the providers whose keys are set. Its store is in memory.
func (p *program) engine() *debate.Engine {
	return &debate.Engine{
		Logger:        slog.New(slog.DiscardHandler), // the program shows warnings in its own words
		Providers:     env.From(p.Lookup),
		Flows:         ownFlows(),
		ChunkInterval: 50 * time.Millisecond,
	}
}

// open returns an engine with the store, which is not created, and the tools. The returned function closes all; calls in flight
// are aborted.
func (p *program) open(ctx context.Context) (*debate.Engine, func(), error) {
	engine := p.engine()
	closing, err := p.equip(ctx, engine, p.openStore)
	if err != nil {
		return nil, nil, err
	}
	return engine, closing, nil
}

// opener opens a store. The returned function closes it.
type opener func(ctx context.Context) (store.Store, func(), error)

// equip gives an engine that was not used yet its store and its tools. The returned function shuts the engine down, and
// closes both.
func (p *program) equip(ctx context.Context, engine *debate.Engine, open opener) (closing func(), err error) {
	kept, closeStore, err := open(ctx)
	if err != nil {
		return nil, err
	}
	engine.Store = kept
	closeTools, err := p.tools.equip(ctx, engine, p.asidef)
	if err != nil {
		closeStore()
		return nil, err
	}
	return func() {
		over, cancel := context.WithCancel(context.WithoutCancel(ctx))
		cancel()
		_ = engine.Shutdown(over) // at once: what is still said is broken off
		closeTools()
		closeStore()
	}, nil
}

// ownFlows returns the flows of the library, beside that of debates, which every engine has.
func ownFlows() map[string]*debate.Flow {
	return map[string]*debate.Flow{
		deliberation.FlowName: deliberation.Flow(), evaluation.FlowName: evaluation.Flow(),
		arbiter.FlowName: arbiter.Flow(),
	}
}

// place returns where conversations are kept.
func (p *program) place() string {
	if p.store != "" {
		return p.store
	}
	return filepath.Join(p.dataFolder(), "debate", "debates.db")
}

// shown returns a place without the password that a URL may have.
func shown(place string) string {
	if !strings.Contains(place, "://") {
		return place
	}
	address, err := url.Parse(place)
	if err != nil {
		return "a database" // what cannot be read cannot be shown in part
	}
	if address.Query().Has("password") {
		address.RawQuery = ""
	}
	return address.Redacted()
}

// dataFolder returns the folder in which programs keep the user's data, by the conventions of the system.
func (p *program) dataFolder() string {
	home := p.get("HOME")
	switch runtime.GOOS {
	case "windows":
		if data := p.get("LOCALAPPDATA"); data != "" {
			return data
		}
		return filepath.Join(p.get("USERPROFILE"), "AppData", "Local")
	case "darwin":
		return filepath.Join(home, "Library", "Application Support")
	}
	// A relative path in this variable is to be ignored, by the specification of base directories of freedesktop.org.
	if data := p.get("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return data
	}
	return filepath.Join(home, ".local", "share")
}

// folder reports whether a place is a folder, or is meant to be one.
func folder(place string) bool {
	if strings.HasSuffix(place, "/") || strings.HasSuffix(place, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(place)
	return err == nil && info.IsDir()
}
