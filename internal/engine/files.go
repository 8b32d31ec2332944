package engine

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// files are the bytes of files, by hash.
type files map[string][]byte

// takeFiles takes the bytes out of the files of a normalized config, and describes each file by what its bytes are, also a file
// that only refers to the bytes of another one. It fetches the files that have a URL alone.
func (l *Engine) takeFiles(ctx context.Context, config flow.Config) (out files, found flow.Findings) {
	var mentions []mention
	out = make(files)
	size, count := 0, 0
	for field, f := range flow.Files(config) {
		if count++; size > flow.MaxFiles || len(found) > flow.MaxProblems {
			break // the check of the settings says so
		}
		data, err := l.bytesOf(ctx, f)
		if err == nil && data != nil {
			*f, err = f.Described(data)
			out[f.Hash] = data
			size += len(data)
		} else if err == nil {
			mentions = append(mentions, mention{field, f})
		}
		f.URL = located(f.URL)
		if err != nil {
			found.Addf(field, "%w", err)
		}
	}
	found = append(found, out.describe(mentions, size)...)
	if count > 0 && !l.absent {
		if _, ok := l.host.Store.(store.Blobs); !ok {
			found.Addf("documents", "Engine.Store keeps no files: it is no store.Blobs")
		}
	}
	return out, found
}

// mention is a file of a config that refers to bytes by their hash.
type mention struct {
	field string
	file  *flow.File
}

// describe describes the mentions of these bytes by what the bytes are. size is the number of bytes that requests carry
// without them.
func (b files) describe(all []mention, size int) (found flow.Findings) {
	for _, m := range all {
		data, ok := b[m.file.Hash]
		if !ok {
			continue // the store has them
		}
		if size += len(data); size > flow.MaxFiles || len(found) > flow.MaxProblems {
			break // the check of the settings says so
		}
		var err error
		if *m.file, err = m.file.Described(data); err != nil {
			found.Addf(m.field, "%w", err)
		}
	}
	return found
}

// bytesOf returns the bytes of a file that are to be stored, or nil if the store has them.
func (l *Engine) bytesOf(ctx context.Context, f *flow.File) ([]byte, error) {
	switch {
	case f.Data != nil:
		return f.Data, nil
	case f.Hash != "":
		return nil, nil
	case f.URL == "":
		return nil, errors.New("the file has no data, url or hash")
	case l.fetch == nil:
		return nil, errors.New("the file has a url, and the engine has no function to fetch it: set Engine.Fetch")
	default:
		data, media, err := l.fetched(ctx, f.URL)
		if f.Type == "" && err == nil {
			f.Type = media
		}
		return data, err
	}
}

// located returns a URL without its user, query and fragment, which may hold secrets; "": it is no URL with a host.
func located(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// File returns the bytes of a file of a stored conversation; see debate.Engine.
func (l *Engine) File(ctx context.Context, id, hash string) ([]byte, error) {
	record, err := l.host.Record(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, f := range record.Files() {
		if f.Hash == hash {
			return l.host.File(ctx, id, &f)
		}
	}
	err = fmt.Errorf("%w: the debate refers to no file of this hash", flow.ErrNoFile)
	return nil, &flow.Error{Kind: provider.KindValidation, Op: "read file", Field: "hash", Err: err}
}

// carried returns the bytes of the files to which a conversation refers: those that were given, and the rest from the
// conversation that it continues. It stores nothing.
func (l *Engine) carried(ctx context.Context, from string, wanted []flow.File, given files) (files, error) {
	all := make(files)
	for _, f := range wanted {
		data, ok := given[f.Hash]
		if !ok {
			var err error
			if data, err = l.host.File(ctx, from, &f); err != nil {
				return nil, err
			}
		}
		all[f.Hash] = data
	}
	return all, nil
}

// storeAnswer takes the bytes out of the files of an answer and stores them: before the commit that refers to them. What the
// log would refuse is refused first, so that nothing is fetched or stored for it.
func (l *Engine) storeAnswer(ctx context.Context, id string, a flow.Answer) (flow.Answer, error) {
	if len(a.Attachments) == 0 {
		return a, nil
	}
	events, err := l.host.Read(ctx, id)
	if err != nil {
		return a, err
	}
	if _, err := l.host.Now(ctx, "answer"); err != nil {
		return a, err
	}
	bare := a
	bare.Attachments = nil
	if err := l.tried(id, events, bare); err != nil {
		return a, err
	}
	a.Attachments = slices.Clone(a.Attachments)
	given, broken := l.takeFiles(ctx, answered{attachments: a.Attachments})
	if len(broken) > 0 {
		return a, errors.Join(flow.Within("answer", "", broken...)...)
	}
	if err := l.tried(id, events, a); err != nil {
		return a, err
	}
	for i := range a.Attachments {
		if _, ok := given[a.Attachments[i].Hash]; !ok {
			if _, err := l.host.File(ctx, id, &a.Attachments[i]); err != nil {
				return a, err
			}
		}
	}
	return a, l.host.PutFiles(ctx, id, given)
}

// tried steps a control on a core of its own. Nothing is saved. The error is why the control is refused.
func (l *Engine) tried(id string, events []flow.Event, signal flow.Signal) error {
	core, err := l.NewCore(id, events)
	if err != nil {
		return err
	}
	_, err = core.StepRemote(l.host.Input(signal))
	return err
}

// answered is the files of an answer as a config has them.
type answered struct {
	flow.Config

	attachments []flow.File
}

// Files implements [flow.Filed].
func (a answered) Files() iter.Seq2[string, *flow.File] { return flow.EachFile(a.attachments, nil) }

// snapshotFiles reads the files that a log refers to.
func (l *Engine) snapshotFiles(ctx context.Context, id string, events []flow.Event) ([]blob, error) {
	var out []blob
	for _, f := range flow.LogFiles(events) {
		if slices.ContainsFunc(out, func(b blob) bool { return b.Hash == f.Hash }) {
			continue
		}
		data, err := l.host.File(ctx, id, &f)
		if err != nil {
			return nil, err
		}
		out = append(out, blob{f.Hash, data})
	}
	return out, nil
}

// blob is a file in a snapshot.
type blob struct {
	Hash string `json:"hash"`
	Data []byte `json:"data"`
}

// inspectFiles checks that a snapshot has the files that its log refers to, and no others. It returns them by hash.
func inspectFiles(wanted []flow.File, blobs []blob) (files, error) {
	given := make(files, len(blobs))
	for i := range blobs {
		at := fmt.Sprintf("blobs[%d]", i)
		if err := store.CheckBlob(blobs[i].Hash, blobs[i].Data); err != nil {
			return nil, restoreError(at+".hash", errors.Unwrap(err))
		}
		if _, twice := given[blobs[i].Hash]; twice {
			return nil, restoreError(at+".hash", errors.New("is a duplicate"))
		}
		given[blobs[i].Hash] = blobs[i].Data
	}
	unused := maps.Clone(given)
	for _, f := range wanted {
		data, ok := given[f.Hash]
		if !ok {
			return nil, restoreError("blobs", fmt.Errorf("%w: %s is not there", flow.ErrNoFile, text.OneLine(f.String(), 200)))
		}
		if _, err := f.Described(data); err != nil {
			return nil, restoreError("blobs", fmt.Errorf("%s: %w", text.OneLine(f.String(), 200), err))
		}
		delete(unused, f.Hash)
	}
	if len(unused) > 0 {
		return nil, restoreError("blobs", errors.New("holds a file that the log does not refer to"))
	}
	return given, nil
}
