package command

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version prints the version of the program.
func (p *program) version() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of the program", Args: arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			version := "(unknown)"
			if info, ok := debug.ReadBuildInfo(); ok {
				version = info.Main.Version
			}
			_, err := fmt.Fprintf(p.Out, "debate %s, %s, %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
