// Package refuse holds checks that the configs of deliberations and of evaluations share.
package refuse

import (
	"errors"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// MostText bounds a text of a config that is material, such as the problem, in bytes.
const MostText = 1 << 20

// Prompt checks words of somebody's own, and the file that holds them. Those of a file have been put in its place, if it could be read;
// unread is why it could not.
func Prompt(f *flow.Findings, at, file, text string, unread error) {
	switch {
	case file != "" && text != "":
		f.Addf(at+".prompt", "cannot be set together with promptFile")
	case unread != nil:
		f.Addf(at+".promptFile", "%.200q: %w", file, Cause(unread))
	case file != "":
		f.Addf(at+".promptFile", "%.200q is still to be read: a normalized config names no file", file)
	case text != "":
		f.Text(at+".prompt", text, MostText)
		if strings.TrimSpace(text) == "" {
			f.Addf(at+".prompt", "is blank")
		}
	}
}

// Cause returns what is behind an error of this module's: its place is told anew.
func Cause(err error) error {
	if failure, ok := errors.AsType[*flow.Error](err); ok && failure.Err != nil {
		return failure.Err
	}
	return err
}
