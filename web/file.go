package web

import "cmp"

// rasters are the types of files that keep theirs, and that browsers show: pictures without scripts. All others are bytes, which they save.
//
//nolint:gochecknoglobals // read only
var rasters = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

// file sends a file of the conversation.
func (x *exchange) file() error {
	hash := x.request.PathValue("hash")
	data, err := x.handler.engine.File(x.request.Context(), x.info.ID, hash)
	if err != nil {
		return err
	}
	f, err := x.record()
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
	header := x.response.Header()
	header.Set("Content-Type", kind)
	header.Set("Content-Disposition", disposed(how, cmp.Or(name, hash)))
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'; frame-ancestors 'none'")
	header.Set("Cache-Control", "private, no-cache")
	x.write(x.operation.status, data, exportTime)
	return nil
}
