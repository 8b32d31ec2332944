package command

import (
	"fmt"
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

// thisRelease returns which program this is.
func thisRelease() release {
	r := release{Version: "(unknown)", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		r.Version = info.Main.Version
	}
	return r
}

func (r release) String() string { return fmt.Sprintf("debate %s, %s, %s", r.Version, r.Go, r.System) }

// version prints the version of the program.
func (p *program) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of the program", Args: arguments(cobra.NoArgs),
		Example: `  debate version --json`,
		RunE: func(*cobra.Command, []string) error {
			r := thisRelease()
			if p.json {
				return p.printValue(r)
			}
			p.printf("%s\n", r)
			return nil
		},
	}
}
