package web

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/agonist-dev/debate/internal/look"
)

// pageFiles are what browsers get: nothing builds them. Their addresses are relative, so that the page works under any prefix.
//
//go:embed page
var pageFiles embed.FS

// pagePolicy lets the page load what is beside it, and nothing else. No text can become markup or a script: browsers refuse that where
// trusted types are required and there are none.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// page holds the files of the page by their paths. That of the page itself is "".
type page map[string]asset

// asset is a file of the page.
type asset struct {
	media         string
	tag           string // of the bytes
	plain, packed []byte
}

// newPage reads the files of the page. own is a style sheet that follows those of the page.
func newPage(own []byte) (page, error) {
	comment := regexp.MustCompile(`(?m)^[ \t]*//.*$`) // of a script: browsers get none, and the same lines
	files := make(map[string][]byte)
	err := fs.WalkDir(pageFiles, "page", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := pageFiles.ReadFile(name)
		if path.Ext(name) == ".js" {
			data = comment.ReplaceAll(data, nil)
		}
		files[strings.TrimPrefix(name, "page/")] = data
		return err
	})
	if err != nil {
		return nil, err
	}
	files["icon.svg"] = []byte(look.Icon)
	files["style.css"] = bytes.Join([][]byte{[]byte(look.Tokens), files["style.css"], files["forms.css"], own}, []byte("\n"))
	delete(files, "forms.css")
	out := make(page, len(files))
	for name, data := range files {
		var packed bytes.Buffer
		pack, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err == nil {
			_, err = pack.Write(data)
		}
		if err == nil {
			err = pack.Close()
		}
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		out[strings.TrimSuffix(name, "index.html")] = asset{
			media: mediaOf(name), tag: base64.RawURLEncoding.EncodeToString(sum[:18]), plain: data, packed: packed.Bytes(),
		}
	}
	return out, nil
}

// mediaOf returns the media type of a file of the page.
func mediaOf(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js", ".mjs":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	default: // licences
		return "text/plain; charset=utf-8"
	}
}

// serve answers with a file of the page. It returns false, and answers nothing, if the request asks for none.
func (p page) serve(w http.ResponseWriter, r *http.Request) bool {
	file, ok := p[strings.TrimPrefix(r.URL.Path, "/")]
	if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	header := w.Header()
	header.Set("Content-Security-Policy", pagePolicy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-cache") // a browser asks each time, and gets what has changed
	header.Set("Vary", "Accept-Encoding")
	header.Set("Content-Type", file.media)
	data, tag := file.plain, file.tag
	if unpacks(r.Header.Get("Accept-Encoding")) {
		data, tag = file.packed, file.tag+"-gzip"
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	return true
}

// unpacks reports whether a client accepts gzip.
func unpacks(accepted string) bool {
	for one := range strings.SplitSeq(accepted, ",") {
		name, weight, _ := strings.Cut(one, ";")
		if strings.TrimSpace(name) == "gzip" {
			return weight == "" || strings.Trim(weight, " q=0.") != ""
		}
	}
	return false
}

// toPage redirects from a prefix without a slash at its end: the addresses of the page are relative to the one with it.
func toPage(w http.ResponseWriter, r *http.Request) {
	last := "."
	if asked, err := url.ParseRequestURI(r.RequestURI); err == nil {
		last = cmp.Or(strings.Trim(path.Base(asked.EscapedPath()), "/"), last)
	}
	w.Header().Set("Location", "./"+last+"/") // http.Redirect would make it absolute without the prefix
	w.WriteHeader(http.StatusPermanentRedirect)
}
