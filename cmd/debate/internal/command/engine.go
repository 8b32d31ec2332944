package command

import (
	"cmp"
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

// windows is the name of an operating system that names folders, and starts programs, in ways of its own.
const windows = "windows"

// engine returns an engine with every flow of the library and the providers whose keys are set. Its store is in memory.
func (p *program) engine() *debate.Engine {
	return &debate.Engine{
		Logger:        slog.New(slog.DiscardHandler), // the program shows warnings in its own words
		Providers:     env.From(p.Lookup),
		Models:        p.usual.Models,
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
	closeTools, err := p.tools.equip(ctx, engine, p.keyless(), p.asidef)
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

// place returns where conversations are kept; "": that is not known, for the environment names no folder of the user.
func (p *program) place() string { return cmp.Or(p.store, p.usualPlace()) }

// usualPlace returns where conversations are kept if nobody says where.
func (p *program) usualPlace() string {
	if folder := p.own("LOCALAPPDATA", "Local", "Application Support", "XDG_DATA_HOME", ".local/share"); folder != "" {
		return filepath.Join(folder, "debates.db")
	}
	return ""
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

// own returns the program's own folder for a kind of files, by the conventions of the system; "": the environment names none. On Windows a
// variable names the folder of all programs, or it is in AppData; on macOS it is in Library; elsewhere another variable names it, or it is
// within the user's own.
func (p *program) own(onWindows, inAppData, inLibrary, variable, within string) string {
	folder := p.ofUser(variable, within)
	switch runtime.GOOS {
	case windows:
		folder = p.ofUser(onWindows, "AppData", inAppData)
	case "darwin":
		folder = p.ofUser("", "Library", inLibrary)
	}
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, "debate")
}

// ofUser returns the folder that a variable names, or else one within the user's own; "": there is neither. A relative path in the variable
// is to be ignored, by the specification of base directories of freedesktop.org.
func (p *program) ofUser(variable string, within ...string) string {
	if named := p.get(variable); filepath.IsAbs(named) {
		return named
	}
	if home := p.home(); home != "" {
		return filepath.Join(append([]string{home}, within...)...)
	}
	return ""
}

// home returns the user's own folder; "": the environment does not name it. A relative path would be another folder in each place.
func (p *program) home() string {
	if home := p.get(homeVariable()); filepath.IsAbs(home) {
		return home
	}
	return ""
}

// homeVariable is the variable that names it.
func homeVariable() string {
	if runtime.GOOS == windows {
		return "USERPROFILE"
	}
	return "HOME"
}

// folder reports whether a place is a folder, or is meant to be one.
func folder(place string) bool {
	if strings.HasSuffix(place, "/") || strings.HasSuffix(place, string(filepath.Separator)) {
		return true
	}
	info, err := os.Stat(place)
	return err == nil && info.IsDir()
}
