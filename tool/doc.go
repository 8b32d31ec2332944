// Package tool provides tools for models: listing a folder, reading its files, and searching in the
// conversation and in those files. All of them only read.
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
package tool
