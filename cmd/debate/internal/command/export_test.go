package command

import "github.com/spf13/cobra"

// Tree returns the root of all commands.
func Tree() *cobra.Command { return (&program{}).tree() }
