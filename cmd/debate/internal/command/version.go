package command

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release says which program this is.
type release struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

// version prints the version of the program.
func (p *program) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of the program", Args: arguments(cobra.NoArgs),
		Example: `  debate version --json`,
		RunE: func(*cobra.Command, []string) error {
			r := release{Version: "(unknown)", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
			if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
				r.Version = info.Main.Version
			}
			if p.json {
				return p.printValue(r)
			}
			p.printf("debate %s, %s, %s\n", r.Version, r.Go, r.System)
			return nil
		},
	}
}
