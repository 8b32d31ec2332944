// Package tool has ready-made tools for models: to list a folder, to read a file of it, and to search in what was
// said and in those files. All of them only read.
//
//	dir, err := tool.OpenDir("docs", tool.Limits{})
//	defer dir.Close() // after engine.Shutdown
//	tools, err := tool.Tools(dir)
//	engine := &debate.Engine{Tools: tools, …}
//	config.Tools = []string{tool.ListFilesName, tool.ReadFileName, tool.SearchName}
//
// [ListFiles], [ReadFile] and [Search] make them one by one, to be registered under other names. The nested module
// tool/mcp makes tools of those that an MCP server offers, and [debate.NewTool] makes one of a Go function.
//
// # What models can reach
//
// What is in the folder, and nothing else: a path that leads out of it is refused, be it absolute, climb with "..", or
// pass through a symbolic link, also one that is put there while the tool works. Everything in the folder can be
// read, files whose name begins with a dot too, and goes to the models' vendors: give no folder that holds secrets.
// What a hard link or a mount puts into the folder is in it. Devices, pipes and sockets are never opened.
//
// Models write paths with slashes, relative to the folder, in UTF-8. What tools answer, errors included, names files
// in this way alone, and never says where the folder is.
//
// # What they cost
//
// An answer has at most 30 KiB, whatever is asked for, since an engine cuts at 32 KiB; where something is left out, the
// answer says so. [Limits] bounds what is read of a file. One use looks at no more than 20,000 entries of folders, and
// a search reads no more than 16 MiB of files, those that turn out to be no text among them, and takes about a second
// at most. All of them stop soon after their context is done.
//
// What files and turns hold is hostile text. It is passed on as it is, apart from names that hold line breaks or other
// characters that do not print, which are quoted as in Go; the engine puts each answer into a fence.
package tool
