package command

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

// completeFlag lets a shell complete the values of a flag. Those that begin as what was typed are offered.
func completeFlag(c *cobra.Command, name string, values func() []string) {
	_ = c.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return beginning(values(), begun), cobra.ShellCompDirectiveNoFileComp
	}) // which fails only for a flag that is not there, or is completed already
}

// completeListFlag does that for a flag that takes several values with commas between them.
func completeListFlag(c *cobra.Command, name string, values func() []string) {
	_ = c.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		at := strings.LastIndexByte(begun, ',') + 1
		said := strings.Split(begun[:at], ",")
		out := slices.DeleteFunc(beginning(values(), begun[at:]), func(value string) bool { return slices.Contains(said, value) })
		for i := range out {
			out[i] = begun[:at] + out[i]
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

// beginning returns the values that begin so, and that a shell can show and a person type.
func beginning(values []string, begun string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(value string) bool {
		return !strings.HasPrefix(value, begun) || progress.Line(value) != value
	})
}

// modelNames returns the names of the models that are built in, in their order. No vendor is asked.
func modelNames() []string {
	return slices.Sorted(maps.Keys(maps.Collect(flow.KnownModels())))
}

// formatNames returns the names of the formats of debates that are built in.
func formatNames() []string {
	var out []string
	for _, f := range format.Builtin() {
		out = append(out, f.Name)
	}
	return out
}

// complete lets a shell complete the values of the flags.
func (f *configFlags) complete(c *cobra.Command) {
	completeFlag(c, "flow", settings.Flows)
	completeFlag(c, "format", formatNames)
	completeFlag(c, "judge", modelNames)
	completeFlag(c, "model", modelNames)
	completeListFlag(c, "agents", func() []string {
		source, err := settings.Open(f.config)
		if err != nil {
			return nil
		}
		return source.Names(f.wish.Flow)
	})
}
