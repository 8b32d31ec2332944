package web

import (
	"cmp"
	"slices"

	"github.com/agonist-dev/debate/flow"
)

// rasters are the types of files that keep theirs, and that browsers show: pictures without scripts. All others are bytes, which they save.
//
//nolint:gochecknoglobals // read only
var rasters = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// file sends a file of the conversation, to whoever may inspect that, or is asked something now for which they read the file. Others
// could learn by it whether they have guessed its bytes.
func (x *exchange) file() error {
	hash := x.request.PathValue("hash")
	f, err := x.record()
	if err != nil {
		return err
	}
	if !x.asksAbout(f.Record, hash) {
		if _, err := x.handler.who(x.request, Access{Action: Inspect, ID: x.info.ID}); err != nil {
			return err
		}
	}
	data, err := x.handler.engine.File(x.request.Context(), x.info.ID, hash)
	if err != nil {
		return err
	}
	name, kind := "", ""
	for _, one := range f.Files() {
		if one.Hash == hash {
			name, kind = one.Name, one.Type
		}
	}
	how := "inline"
	if !rasters[kind] {
		how, kind = "attachment", "application/octet-stream"
	}
	release, err := x.handler.exports.take(x.caller, int64(len(data)))
	if err != nil {
		return err
	}
	defer release()
	header := x.response.Header()
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'; frame-ancestors 'none'")
	if x.has(hash) {
		return nil
	}
	header.Set("Content-Type", kind)
	header.Set("Content-Disposition", disposed(how, cmp.Or(name, hash)))
	x.write(x.operation.status, data, exportTime)
	return nil
}

// asksAbout reports whether the caller is asked something for which they read a file.
func (x *exchange) asksAbout(r *flow.Record, hash string) bool {
	is := func(f flow.File) bool { return f.Hash == hash }
	for _, q := range x.questions(r) {
		if slices.ContainsFunc(flow.DocumentFiles(q.Documents), is) {
			return true
		}
		for _, read := range q.Reads {
			if read.Turn >= 0 && read.Turn < len(r.Turns) && slices.ContainsFunc(r.Turns[read.Turn].Attachments, is) {
				return true
			}
		}
	}
	return false
}
