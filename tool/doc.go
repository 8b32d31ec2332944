// Package tool provides tools for models: listing a folder, reading its files, searching in the
// conversation and in those files, writing files, and running programs.
//
//	dir, err := tool.OpenDir("docs", tool.Limits{})
//	defer dir.Close() // after engine.Shutdown
//	tools, err := tool.Tools(dir)
//	engine := &debate.Engine{Tools: tools, …}
//	config.Tools = []string{tool.ListFilesName, tool.ReadFileName, tool.SearchName}
//
// [ListFiles], [ReadFile] and [Search] make single tools, which can be registered under other names. The
// nested module tool/mcp makes tools from those of an MCP server, and [flow.NewTool] makes one from a
// Go function.
//
// # Tools that write
//
// [Tools] makes only tools that read. The host program makes the others one by one, and the config names them like
// any tool:
//
//	tools[tool.WriteFileName], err = tool.WriteFile(dir, tool.Writing{Only: []string{"docs"}})
//	tools[tool.EditFileName], err = tool.EditFile(dir, tool.Writing{Only: []string{"docs"}})
//
// A person must approve each use, unless [Writing.Unasked] is set. To replace or edit a file, a model gives the hash that
// [ReadFile] has named. If the file has changed since then, the write is refused, and the model is told to read again. So
// agents that work at once do not overwrite each other.
//
//   - A file is replaced as a whole: a reader finds the old text or the new one, also after a crash. A process that is
//     killed may leave a file whose name begins with ".debate-unfinished-". The next write in that
//     folder removes it.
//   - No other use of a tool comes between the check of the hash and the replacement, not even one of another
//     process, if the file system has locks. A program that ignores these locks may write in the last few
//     microseconds before the replacement, and what it wrote is lost.
//   - The new file has the permissions of the old one and, if possible, its owner, but neither its hard links nor its
//     extended attributes.
//   - A path that passes through a symbolic link is not written, not even one that stays in the folder. Neither are
//     hidden files, unless [Writing.Hidden] is set. [Writing.Only] and [Writing.Except] exclude others.
//
// # Programs
//
// [RunCommand] makes a tool that runs programs of a list, in the folder. It is no sandbox: a program can do all that its
// user may do, which includes the network and files outside of the folder. A program that obeys files of the folder, as
// go, make and git do, does what models have written there. Models may replace a program that is in the folder. A program
// that changes its user, as sudo does, cannot be stopped. Run the process in a container if models are not
// trusted with that.
//
//	tools[tool.RunCommandName], err = tool.RunCommand(dir, tool.Commands{
//		Programs: []tool.Program{{Name: "go", Check: func(_ string, arguments []string) error {
//			if !slices.Equal(arguments, []string{"test", "./..."}) {
//				return errors.New("only go test ./... may be run")
//			}
//			return nil
//		}}},
//		Inherit: []string{"PATH", "HOME"},
//	})
//
// What holds for each use:
//
//   - A person must approve it, unless [Commands.Unasked] is set.
//   - Names were looked up once, when the tool was made. There is no shell, no input and no terminal.
//   - A program gets the variables that are named, and no others. Names and values that look like those of a secret are
//     refused. Files with keys, such as those below HOME, can still be read.
//   - The answer has the exit code, and the beginning and the end of what is printed. It is passed on as it is, and may
//     say where the folder is.
//   - After [Commands.Timeout], or when the context is done, the whole process group ends.
//
// # What models can reach
//
// Models can reach what is in the folder, and nothing else. A path that leads out of it is refused: an
// absolute path, one that climbs with "..", or one that passes through a symbolic link, even a link that
// is created while the tool works. Everything in the folder can be read, including files whose name
// begins with a dot, and is sent to the models' vendors: do not use a folder that holds secrets. What a
// hard link or a mount puts into the folder is in it. Devices, pipes and sockets are never opened.
//
// Models write paths with slashes, relative to the folder, in UTF-8. Answers and errors name files in
// this form, and never reveal where the folder is.
//
// # Cost
//
// An answer has at most 30 KiB, because an engine cuts at 32 KiB. If something is left out, the answer
// says so. [Limits] bounds what is read of a file. One use looks at no more than 20,000 entries of
// folders. A search reads no more than 16 MiB of files, including those that turn out not to be text, and
// takes about a second at most. All tools stop soon after their context is done.
//
// Files and turns hold hostile text. It is passed on unchanged, except names with line breaks or other
// characters that do not print, which are quoted as in Go. The engine puts each answer into a fence.
//
// On Windows this package is not tested.
package tool
